#include "polychron/descriptor.hpp"

namespace polychron {

namespace {
std::optional<std::uint64_t> multiply(std::uint64_t a, std::uint64_t b) noexcept {
  std::uint64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}
}  // namespace

std::optional<std::uint64_t> element_count(const Shape& shape) noexcept {
  std::optional<std::uint64_t> count = 1;
  for (const auto dimension : shape) {
    count = multiply(*count, dimension);
    if (!count) break;
  }
  return count;
}

std::optional<std::uint64_t> byte_length(const OperandDescriptor& descriptor) noexcept {
  const auto count = element_count(descriptor.shape);
  if (!count) return std::nullopt;
  if (is_packed(descriptor.data_type)) return *count / 2 + *count % 2;
  return multiply(*count, byte_size(descriptor.data_type));
}

std::string to_string(const Shape& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

std::string to_string(const OperandDescriptor& descriptor) {
  return std::string(to_string(descriptor.data_type)) + " " + to_string(descriptor.shape);
}

}  // namespace polychron
