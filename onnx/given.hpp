// The values that a session's caller gives: names, and the known properties of their bytes.
#pragma once

#include <boost/container/small_vector.hpp>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "polychron/session.hpp"

namespace polychron::onnx::detail {

enum class Side : std::uint8_t { input, output };

/// "input", "output".
std::string_view to_string(Side side) noexcept;

/// The checked properties of a named value.
struct Given {
  std::string_view name;
  std::optional<std::size_t> bytes{};             ///< of a buffer or a view
  std::optional<DataType> view{};                 ///< of a view
  std::optional<std::string_view> why{};          ///< the reason why it cannot be used
  const OperandDescriptor* descriptor = nullptr;  ///< if it tells its type and shape
};

/// Few values in each run: no allocation.
using GivenValues = boost::container::small_vector<Given, 4>;

/// The values of a braced list.
struct GivenInputs {
  static GivenValues look(std::initializer_list<Input> inputs);
  /// Copies views, then takes buffers. If it throws, it has taken no buffer.
  static NamedBuffers take(std::initializer_list<Input> inputs);
  /// Gives the buffers back that take() took.
  static void give_back(std::initializer_list<Input> inputs, NamedBuffers& buffers) noexcept;
};

Given look(const NamedValue& value);
GivenValues look(const NamedBuffers& buffers);
GivenValues look(const NamedTensors& tensors);
GivenValues look(const std::vector<std::string>& names);

/// Throws type_error unless each of `given` is one of `declared`, given once, usable, and of its
/// type and length.
void check_given(Side side, const NamedDescriptors& declared, const GivenValues& given);
/// Throws type_error unless each of `declared` is among `given`.
void check_complete(Side side, const NamedDescriptors& declared, const GivenValues& given);

/// The index of `name` in the declaration; nullopt if it is not declared.
std::optional<std::size_t> find(const NamedDescriptors& declared, std::string_view name) noexcept;

}  // namespace polychron::onnx::detail
