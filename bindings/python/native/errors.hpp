// Errors of the library as Python's exceptions.
#pragma once

#include <string>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <polychron/error.hpp>

namespace binding {

namespace nb = nanobind;

/// An array whose elements cannot be taken as they are. polychron/_arrays.py makes plain ones.
struct Unusual {};

/// The classes by kind ("type_error": ArgumentError), and the exception of Unusual.
void set_exceptions(nb::dict by_kind, nb::object unusual);
/// The exception of `error`, with those of its causes.
nb::object exception_of(const polychron::Error& error);
/// Makes every bound function throw these exceptions.
void translate_errors();

/// Throws type_error.
[[noreturn]] void refuse(const std::string& message);

}  // namespace binding
