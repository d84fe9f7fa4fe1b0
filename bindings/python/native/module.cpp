// The module polychron._native: handles, as the Python files beside it use them.
#include "array.hpp"
#include "errors.hpp"
#include "modules.hpp"

NB_MODULE(_native, module) {
  // One runtime and one set of exceptions are a process's.
  if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0)
    throw nanobind::import_error("polychron does not support subinterpreters: use processes");
  // Handles that are alive at the end of the interpreter are no fault.
  nanobind::set_leak_warnings(false);
  binding::translate_errors();
  module.def("set_exceptions", &binding::set_exceptions);
  module.def("close", &binding::close);
  module.def("start_recording", [](bool steps, const std::string& calls, std::size_t max_bytes) {
    using polychron::TraceCalls;
    auto kept = TraceCalls::sizes;
    if (calls == "none")
      kept = TraceCalls::none;
    else if (calls == "payloads")
      kept = TraceCalls::payloads;
    else if (calls != "sizes")
      binding::refuse("record: calls: expected 'none', 'sizes' or 'payloads', got '" + calls + "'");
    binding::start_recording({max_bytes, steps, kept});
  });
  module.def("save_recording", &binding::save_recording);
  binding::bind_replies(module);
  binding::bind_arrays(module);
  binding::bind_webnn(module);
  binding::bind_sessions(module);
}
