#include "protocol/message.hpp"

#include <algorithm>
#include <polychron/limits.hpp>

namespace polychron::server {

std::string describe(WireType type, const Shape& shape) {
  return std::string(to_string(type)) + " " + polychron::to_string(shape);
}

std::size_t wire_size(const WireTensor& tensor) {
  const auto count = element_count(tensor.shape);
  const auto size = byte_size(tensor.type);
  if (!count || *count > max_tensor_byte_length / std::max<std::size_t>(size, 1))
    throw Refusal(Status::bad_request, "tensor '" + printable(tensor.name) + "': " +
                                           describe(tensor.type, tensor.shape) + " is too large");
  return *count * size;
}

}  // namespace polychron::server
