#include "ops/call.hpp"

#include <algorithm>

#include "ops/dimensions.hpp"

namespace polychron::ops {

std::string Call::name(std::size_t index) const {
  if (!row_.call.variadic() && index >= row_.operands().size())
    return "operand number " + std::to_string(index);
  std::string name = "operand '";
  name += rule(index).name;
  if (row_.call.variadic()) name.append("[").append(std::to_string(index)).append("]");
  return name.append("'");
}

void Call::fail(const std::string& what) const {
  std::string text = label_.empty() ? "" : "[" + std::string(label_) + "] ";
  throw Error(ErrorKind::type_error, text + std::string(row_.name) + ": " + what);
}

void Call::expect_shape(std::size_t index, const Shape& expected) const {
  if (differ(shape(index), expected))
    fail(name(index) + " has shape " + to_string(shape(index)) + ", expected " +
         to_string(expected));
}

void Call::expect_axis(std::uint32_t axis, std::size_t rank) const {
  if (axis >= rank)
    fail("axis is " + std::to_string(axis) + ", expected less than the rank, " +
         std::to_string(rank));
}

void Call::expect_axes(std::span<const std::uint32_t> axes, std::size_t rank,
                       std::string_view option) const {
  if (!valid_axes(axes, rank))
    fail(std::string(option) + " is " + to_string(Shape(axes.begin(), axes.end())) +
         ", expected different numbers less than the rank, " + std::to_string(rank));
}

void Call::expect_length(std::span<const std::uint32_t> list, std::size_t length,
                         std::string_view option) const {
  if (list.size() != length)
    fail(std::string(option) + " has " + std::to_string(list.size()) + " entries, expected " +
         std::to_string(length));
}

void Call::expect_positive(std::span<const std::uint32_t> list, std::string_view option) const {
  if (std::ranges::find(list, 0U) != list.end())
    fail(std::string(option) + " has a 0, expected numbers above 0");
}

std::uint32_t Call::expect_dimension(std::uint64_t size, std::string_view what) const {
  if (!valid_dimension(size))
    fail(std::string(what) + " would be " + std::to_string(size) + ", expected 1 to 2147483647");
  return static_cast<std::uint32_t>(size);
}

}  // namespace polychron::ops
