#include "errors.hpp"

#include "process.hpp"

namespace binding {

using polychron::Error;

namespace {

/// Never freed: exceptions may be made until the interpreter is gone.
struct Exceptions {
  nb::dict by_kind;
  nb::object unusual;
};
Exceptions* known = nullptr;

void translate(const std::exception_ptr& thrown, void* /*unused*/) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    // A daemon thread that goes on during the end would print this: it stays in here instead.
    if (ending()) const Released for_ever;
    const auto exception = exception_of(error);
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  } catch (const Unusual&) {
    PyErr_SetNone(known->unusual.ptr());
  }
}

}  // namespace

void set_exceptions(nb::dict by_kind, nb::object unusual) {
  known = new Exceptions{std::move(by_kind), std::move(unusual)};
}

// No Python code runs in here: a thread that the end of the interpreter stops must not have C++
// frames below it.
nb::object exception_of(const Error& error) {
  const auto text = [](std::string_view value) { return nb::str(value.data(), value.size()); };
  const auto kind = text(to_string(error.kind()));
  nb::object made = known->by_kind[kind](text(error.what()));
  made.attr("kind") = kind;
  made.attr("message") = text(error.message());
  made.attr("operation") = text(error.operation());
  made.attr("label") = text(error.label());
  made.attr("object") = text(error.object());
  made.attr("ticket") = error.ticket();
  made.attr("ran") = error.ran();
  if (error.cause() != nullptr)
    PyException_SetCause(made.ptr(), exception_of(*error.cause()).release().ptr());
  return made;
}

void translate_errors() { nb::register_exception_translator(translate); }

void refuse(const std::string& message) { throw Error(polychron::ErrorKind::type_error, message); }

}  // namespace binding
