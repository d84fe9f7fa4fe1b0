// What the files of this folder add to the module, and what they share.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "reply.hpp"

namespace binding {

/// Throws type_error, with `what` in front.
polychron::OperandDescriptor descriptor_of(const std::string& type, const nb::object& shape,
                                           const std::string& what);
nb::tuple shape_of(const polychron::Shape& shape);
std::string object_text(const polychron::Tensor& tensor);
/// `timeout` seconds from now. Throws type_error below 0.
std::optional<std::chrono::steady_clock::time_point> deadline(std::optional<double> timeout);

void bind_webnn(nb::module_& module);
void bind_sessions(nb::module_& module);

}  // namespace binding
