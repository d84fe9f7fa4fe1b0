#include "ops/dimensions.hpp"

#include <algorithm>

namespace polychron::ops {

std::optional<std::string> descriptor_problem(const OperandDescriptor& descriptor, bool strict) {
  const Shape& shape = descriptor.shape;
  const auto text = [&] { return to_string(descriptor); };
  if (static_cast<std::size_t>(descriptor.data_type) >= all_data_types.size())
    return "not a data type";
  if (strict && is_packed(descriptor.data_type))
    return text() + " is of a type that the specification does not have, and the context is " +
           "strict: expected float32, float16, or an integer of 8 bits or more";
  for (const auto size : shape)
    if (!valid_dimension(size))
      return text() + " has a dimension of " + std::to_string(size) + ", expected 1 to 2147483647";
  if (shape.size() > max_rank)
    return text() + " has rank " + std::to_string(shape.size()) + ", expected at most " +
           std::to_string(max_rank);
  const auto count = element_count(shape);
  if (!count || !valid_dimension(*count))
    return text() + " has too many elements, expected at most 2147483647";
  if (byte_length(descriptor) > max_tensor_byte_length)
    return text() + " has too many bytes, expected at most " +
           std::to_string(max_tensor_byte_length);
  return std::nullopt;
}

bool has_symbols(const Shape& shape) { return std::ranges::any_of(shape, is_symbol); }

Shape least(Shape shape) {
  std::ranges::replace_if(shape, is_symbol, 1U);
  return shape;
}

bool differ(const Shape& a, const Shape& b) {
  return !std::ranges::equal(a, b, [](auto one, auto other) { return !differ(one, other); });
}

bool counts_differ(const Shape& a, const Shape& b) {
  // Equal symbols on both sides cancel each other.
  Shape rest = b;
  Shape only_a;
  for (const auto dimension : a) {
    const auto same = is_symbol(dimension) ? std::ranges::find(rest, dimension) : rest.end();
    if (same == rest.end())
      only_a.push_back(dimension);
    else
      rest.erase(same);
  }
  return !has_symbols(only_a) && !has_symbols(rest) && element_count(only_a) != element_count(rest);
}

namespace {

/// The size of the result where `a` meets `b`, which do not differ unless one is 1.
std::uint32_t broadcast_size(std::uint32_t a, std::uint32_t b) {
  if (a == b || b == 1) return a;
  if (a == 1) return b;
  // A size other than 1 is the result's, whatever the symbol stands for.
  if (!is_symbol(a)) return a;
  return is_symbol(b) ? derived : b;
}

}  // namespace

std::optional<Shape> broadcast(const Shape& a, const Shape& b) {
  if (a.size() < b.size()) return broadcast(b, a);
  Shape result = a;
  const auto offset = a.size() - b.size();
  for (std::size_t i = 0; i < b.size(); ++i) {
    auto& size = result[offset + i];
    if (differ(size, b[i]) && size != 1 && b[i] != 1) return std::nullopt;
    size = broadcast_size(size, b[i]);
  }
  return result;
}

bool broadcastable(const Shape& from, const Shape& to) {
  if (from.size() > to.size()) return false;
  return std::equal(from.rbegin(), from.rend(), to.rbegin(),
                    [](auto size, auto target) { return size == 1 || !differ(size, target); });
}

bool blockwise_broadcastable(const Shape& from, const Shape& to) {
  return std::equal(from.begin(), from.end(), to.begin(), to.end(), [](auto size, auto target) {
    if (is_symbol(size) || is_symbol(target)) return true;
    return size != 0 && target % size == 0;
  });
}

bool valid_axes(std::span<const std::uint32_t> axes, std::size_t rank) {
  std::uint64_t seen = 0;
  for (const auto axis : axes) {
    if (axis >= rank || (seen >> axis & 1U) != 0) return false;
    seen |= std::uint64_t{1} << axis;
  }
  return true;
}

}  // namespace polychron::ops
