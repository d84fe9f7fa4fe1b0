// Attributes of operators from dictionaries, whose keys are the names of WebNN's IDL.
#pragma once

#include <string>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <polychron/attributes.hpp>

namespace binding {

namespace nb = nanobind;

/// An MLNumber: an int of 64 bits, or a float.
polychron::Number number(nb::handle value);

/// The attributes of the operator that WebNN calls `operation`. Absent keys keep WebNN's default.
/// Throws type_error for a value of another type.
polychron::Attributes attributes(const std::string& operation, const nb::dict& given);

}  // namespace binding
