// The module polychron._native: handles, as the Python files beside it use them.
#include "array.hpp"
#include "errors.hpp"
#include "modules.hpp"

NB_MODULE(_native, module) {
  // Handles that are alive at the end of the interpreter are no fault.
  nanobind::set_leak_warnings(false);
  binding::translate_errors();
  module.def("set_exceptions", &binding::set_exceptions);
  module.def("close", &binding::close);
  binding::bind_replies(module);
  binding::bind_arrays(module);
  binding::bind_webnn(module);
  binding::bind_sessions(module);
}
