#include "apps/tool/random_input.hpp"

#include <cstdint>

namespace tool {

using polychron::Buffer;
using polychron::DataType;

namespace {

template <class T, class Next>
void fill(Buffer& buffer, Next next) {
  for (auto& value : buffer.as<T>()) value = next();
}

/// The binary16 value k / 1024 for k below 1024, which is exact.
polychron::float16 fraction(unsigned k) {
  return polychron::float16(static_cast<float>(k) / 1024.0F);
}

}  // namespace

Buffer random_input(const polychron::OperandDescriptor& descriptor, std::mt19937_64& random) {
  auto buffer = Buffer::uninitialized(polychron::byte_length(descriptor).value());
  // Not std::uniform_*_distribution, whose results differ from library to library.
  const auto bit = [&] { return random() >> 63; };
  switch (descriptor.data_type) {
    case DataType::float32:
      fill<float>(buffer, [&] { return static_cast<float>(random() >> 40) / (1 << 24); });
      break;
    case DataType::float16:
      fill<polychron::float16>(buffer,
                               [&] { return fraction(static_cast<unsigned>(random() >> 54)); });
      break;
    case DataType::int32:
    case DataType::uint32:
      fill<std::uint32_t>(buffer, [&] { return static_cast<std::uint32_t>(bit()); });
      break;
    case DataType::int64:
    case DataType::uint64:
      fill<std::uint64_t>(buffer, bit);
      break;
    case DataType::int8:
    case DataType::uint8:
      fill<std::uint8_t>(buffer, [&] { return static_cast<std::uint8_t>(bit()); });
      break;
    case DataType::int4:
    case DataType::uint4:
      fill<std::uint8_t>(buffer, [&] { return static_cast<std::uint8_t>(bit() | bit() << 4); });
      break;
  }
  return buffer;
}

polychron::NamedBuffers random_inputs(const polychron::onnx::Session& session,
                                      std::mt19937_64& random) {
  polychron::NamedBuffers inputs;
  for (const auto& [name, descriptor] : session.inputs())
    inputs.emplace_back(name, random_input(descriptor, random));
  return inputs;
}

polychron::NamedBuffers copies_of(const polychron::NamedBuffers& inputs) {
  polychron::NamedBuffers copies;
  for (const auto& [name, bytes] : inputs)
    copies.emplace_back(name, polychron::Buffer::copy_of(bytes.bytes()));
  return copies;
}

}  // namespace tool
