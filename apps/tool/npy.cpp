#include "apps/tool/npy.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/tool/input_file.hpp"
#include "apps/tool/npy_header.hpp"
#include "apps/tool/program.hpp"

namespace tool {
namespace {

static_assert(std::endian::native == std::endian::little, ".npy files are read in place");

using polychron::DataType;

constexpr std::size_t max_header = 64 * 1024;  // NumPy's own headers are some 100 bytes
constexpr std::array<std::pair<std::string_view, DataType>, 8> types{{{"f4", DataType::float32},
                                                                      {"f2", DataType::float16},
                                                                      {"i4", DataType::int32},
                                                                      {"u4", DataType::uint32},
                                                                      {"i8", DataType::int64},
                                                                      {"u8", DataType::uint64},
                                                                      {"i1", DataType::int8},
                                                                      {"u1", DataType::uint8}}};

/// Types that operands carry in another: as NumPy spells and names them, as ONNX names them.
struct Carried {
  std::string_view descr, name, onnx;
  DataType operand;
  std::size_t bytes;
};
constexpr std::array<Carried, 4> carried_types{{{"|b1", "bool", "bool", DataType::uint8, 1},
                                                {"<f8", "float64", "double", DataType::float32, 8},
                                                {"<i2", "int16", "int16", DataType::int32, 2},
                                                {"<u2", "uint16", "uint16", DataType::int32, 2}}};

UserError refusal(const std::string& name, const std::string& why) {
  return UserError("array '" + name + "': " + why);
}

std::size_t little_endian(std::span<const std::byte> bytes) {
  std::size_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;)
    value = value << 8 | std::to_integer<std::size_t>(bytes[i]);
  return value;
}

/// The text of the header; `file` is then what comes after it.
std::string_view take_header(std::span<const std::byte>& file, const std::string& name) {
  const auto text = std::string_view(reinterpret_cast<const char*>(file.data()), file.size());
  if (!text.starts_with(npy_magic)) throw refusal(name, "is no .npy file");
  const auto truncated = refusal(name, "is truncated: its header is incomplete");
  if (file.size() < 12) throw truncated;
  const auto major = std::to_integer<int>(file[6]);
  if (major < 1 || major > 3)
    throw refusal(name, "is a .npy file of version " + std::to_string(major) + ", expected 1 to 3");
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  const std::size_t start = npy_magic.size() + 2 + length_bytes;
  const auto length = little_endian(file.subspan(npy_magic.size() + 2, length_bytes));
  if (length > max_header) throw refusal(name, "has a header of more than 64 KiB");
  if (file.size() - start < length) throw truncated;
  file = file.subspan(start + length);
  return text.substr(start, length);
}

/// The NumPy conversion of elements that tensors do not have; empty if there is none.
std::string conversion_of(std::string_view descr) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> conversions{
      {{"f8", "<f8"}, {"f16", "float32"}, {"g", "float32"}, {"i2", "<i2"}, {"u2", "<u2"}}};
  for (const auto& [from, to] : conversions)
    if (!descr.empty() && descr.substr(1) == from)
      return "; convert it with numpy.save(NEW, numpy.load(OLD).astype('" + std::string(to) + "'))";
  return {};
}

/// Converts elements of `size` bytes from Fortran order (first dimension fastest) to C order.
polychron::Buffer from_fortran_order(std::span<const std::byte> elements,
                                     const polychron::Shape& shape, std::size_t size) {
  auto result = polychron::Buffer::uninitialized(elements.size());
  std::vector<std::size_t> index(shape.size(), 0), strides(shape.size(), size);
  for (std::size_t k = 1; k < shape.size(); ++k) strides[k] = strides[k - 1] * shape[k - 1];
  std::size_t from = 0;
  for (std::size_t to = 0; to < elements.size(); to += size) {
    std::memcpy(result.data() + to, elements.data() + from, size);
    // Advance to the next index in C order, and to its position.
    for (std::size_t k = shape.size(); k-- > 0;) {
      from += strides[k];
      if (++index[k] < shape[k]) break;
      from -= strides[k] * shape[k];
      index[k] = 0;
    }
  }
  return result;
}

DataType data_type_of(const NpyHeader& header, const std::string& name) {
  const std::string_view descr = header.descr;
  const auto type = std::find_if(types.begin(), types.end(), [&](const auto& entry) {
    return descr.size() == 3 && descr.substr(1) == entry.first;
  });
  const char order = descr.empty() ? '?' : descr.front();
  if (type != types.end() && order == '>')
    throw refusal(name, "is big-endian ('" + header.descr +
                            "'), expected little-endian; convert it with numpy.save(NEW, "
                            "numpy.load(OLD).astype('<" +
                            std::string(type->first) + "'))");
  const bool one_byte = type != types.end() && polychron::byte_size(type->second) == 1;
  if (type == types.end() || !(order == '<' || (order == '|' && one_byte)))
    throw refusal(name, "has elements of type '" + header.descr +
                            "', expected float32, float16, float64, int16, uint16, int32, uint32, "
                            "int64, uint64, int8, uint8 or bool" +
                            conversion_of(descr));
  return type->second;
}

}  // namespace

NpyArray parse_npy(std::span<const std::byte> file, const std::string& name) {
  const auto header = parse_npy_header(take_header(file, name));
  if (!header) throw refusal(name, "has a malformed .npy header");
  NpyArray array;
  const auto carried = std::ranges::find(carried_types, header->descr, &Carried::descr);
  const bool is_carried = carried != carried_types.end();
  array.descriptor = {is_carried ? carried->operand : data_type_of(*header, name), header->shape};
  if (is_carried) array.carried = carried->onnx;
  if (header->shape.size() > polychron::max_rank)
    throw refusal(name, "has " + std::to_string(header->shape.size()) +
                            " dimensions, expected at most " + std::to_string(polychron::max_rank));
  const auto element =
      is_carried ? carried->bytes : polychron::byte_size(array.descriptor.data_type);
  const auto elements = polychron::element_count(header->shape);
  const bool countable = elements && *elements <= polychron::max_tensor_byte_length / element;
  if (!countable || *elements * element != file.size())
    throw refusal(name, "has " + std::to_string(file.size()) + " bytes of elements, expected " +
                            (countable ? std::to_string(*elements * element) : "more than exist") +
                            " for " + to_string(array));
  array.bytes = header->fortran_order ? from_fortran_order(file, header->shape, element)
                                      : polychron::Buffer::copy_of(file);
  return array;
}

std::string to_string(const NpyArray& array) {
  const auto carried = std::ranges::find(carried_types, array.carried, &Carried::onnx);
  if (carried == carried_types.end()) return polychron::to_string(array.descriptor);
  return std::string(carried->name) + ' ' + polychron::to_string(array.descriptor.shape);
}

polychron::onnx::TensorValue to_value(NpyArray&& array) {
  auto value = polychron::onnx::make_value(array.descriptor, std::move(array.bytes));
  if (!array.carried.empty()) value.type = array.carried;
  return value;
}

NpyArray read_npy(const std::string& path) {
  return parse_npy(read_file(path, "array", max_npy_bytes), path);
}

std::string npy_header(const polychron::OperandDescriptor& descriptor, bool is_bool) {
  const auto type = std::find_if(types.begin(), types.end(), [&](const auto& entry) {
    return entry.second == descriptor.data_type;
  });
  if (type == types.end())
    throw UserError(to_string(descriptor) + " cannot be written: .npy files have no elements of " +
                    "4 bits");
  std::string text = "{'descr': '";
  text += polychron::byte_size(descriptor.data_type) == 1 ? '|' : '<';
  text += is_bool ? "b1" : type->first;
  text += "', 'fortran_order': False, 'shape': (";
  for (const auto dimension : descriptor.shape) text += std::to_string(dimension) + ",";
  text += "), }";
  const std::size_t start = npy_magic.size() + 4;
  text.append(63 - (start + text.size()) % 64, ' ');
  text += '\n';
  std::string header(npy_magic);
  header +=
      {'\x01', '\x00', static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8)};
  return header + text;
}

}  // namespace tool
