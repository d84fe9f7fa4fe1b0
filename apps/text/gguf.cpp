#include "apps/text/gguf.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <fstream>
#include <limits>
#include <optional>
#include <system_error>
#include <type_traits>
#include <utility>

#include "apps/text/problem.hpp"

namespace polychron::text::detail {

namespace {

constexpr std::uint32_t oldest_version = 2, newest_version = 3;
constexpr std::size_t longest_name = 65535, most_rank = 4;
constexpr std::uint64_t most_alignment = 1U << 20U;

/// GGUF's numbers of the metadata's types.
enum MetaType : std::uint32_t {
  u8_type,
  i8_type,
  u16_type,
  i16_type,
  u32_type,
  i32_type,
  f32_type,
  bool_type,
  string_type,
  array_type,
  u64_type,
  i64_type,
  f64_type
};

/// Reads the header from one end to the other, and never past its end.
class Cursor {
 public:
  Cursor(std::span<const std::byte> bytes, bool whole) : bytes_(bytes), whole_(whole) {}

  std::uint64_t at() const noexcept { return at_; }
  std::size_t left() const noexcept { return bytes_.size() - at_; }

  std::span<const std::byte> take(std::uint64_t count) {
    if (count > left()) {
      if (whole_) malformed("the file ends within its header");
      unsupported("a header of more than " + describe_bytes(Gguf::most_header_bytes));
    }
    const auto taken = bytes_.subspan(at_, static_cast<std::size_t>(count));
    at_ += taken.size();
    return taken;
  }
  template <class T>
  T number() {
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }
  std::string string(std::uint64_t longest = Gguf::most_header_bytes) {
    const auto length = number<std::uint64_t>();
    if (length > longest) malformed("a name of " + std::to_string(length) + " bytes");
    const auto bytes = take(length);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  /// A count of things that take at least `bytes` each.
  std::size_t count(std::uint64_t bytes) {
    const auto count = number<std::uint64_t>();
    if (count > left() / bytes) take(std::numeric_limits<std::uint64_t>::max());
    return static_cast<std::size_t>(count);
  }

 private:
  std::span<const std::byte> bytes_;
  bool whole_;  ///< the bytes are the whole file
  std::size_t at_ = 0;
};

/// Calls f(T{}) for the number type, or throws.
template <class F>
auto with_number(std::uint32_t type, F&& f) {
  switch (type) {
    case u8_type:
      return f(std::uint8_t{});
    case i8_type:
      return f(std::int8_t{});
    case u16_type:
      return f(std::uint16_t{});
    case i16_type:
      return f(std::int16_t{});
    case u32_type:
      return f(std::uint32_t{});
    case i32_type:
      return f(std::int32_t{});
    case f32_type:
      return f(float{});
    case bool_type:
      return f(std::uint8_t{});
    case u64_type:
      return f(std::uint64_t{});
    case i64_type:
      return f(std::int64_t{});
    case f64_type:
      return f(double{});
    default:
      malformed("a value of type " + std::to_string(type));
  }
}

MetaValue read_number(Cursor& in, std::uint32_t type) {
  if (type == bool_type) return in.number<std::uint8_t>() != 0;
  return with_number(type, [&](auto like) -> MetaValue {
    const auto value = in.number<decltype(like)>();
    if constexpr (std::is_floating_point_v<decltype(like)>) {
      return static_cast<double>(value);
    } else {
      if (!std::in_range<std::int64_t>(value)) unsupported("an integer above 2^63");
      return static_cast<std::int64_t>(value);
    }
  });
}

MetaValue read_array(Cursor& in) {
  const auto type = in.number<std::uint32_t>();
  if (type == array_type) unsupported("an array of arrays");
  if (type == string_type) {
    std::vector<std::string> values(in.count(sizeof(std::uint64_t)));
    for (auto& value : values) value = in.string();
    return values;
  }
  return with_number(type, [&](auto like) -> MetaValue {
    std::vector<double> values(in.count(sizeof(like)));
    for (auto& value : values) value = static_cast<double>(in.number<decltype(like)>());
    return values;
  });
}

MetaValue read_value(Cursor& in) {
  const auto type = in.number<std::uint32_t>();
  if (type == string_type) return in.string();
  return type == array_type ? read_array(in) : read_number(in, type);
}

/// Bytes of the tensor; nullopt if they do not fit 63 bits.
std::optional<std::uint64_t> bytes_of(const GgufTensor& tensor) {
  std::uint64_t blocks = tensor.dimensions.front() / tensor.type->weights;
  for (std::size_t i = 1; i < tensor.dimensions.size(); ++i) {
    if (blocks > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
    blocks *= tensor.dimensions[i];
  }
  if (blocks > (std::uint64_t{1} << 63U) / tensor.type->bytes) return std::nullopt;
  return blocks * tensor.type->bytes;
}

/// The offset is that behind the header.
GgufTensor read_tensor(Cursor& in) {
  GgufTensor tensor;
  const auto rank = in.number<std::uint32_t>();
  if (rank == 0 || rank > most_rank) malformed(std::to_string(rank) + " dimensions");
  for (std::uint32_t i = 0; i < rank; ++i) {
    const auto size = in.number<std::uint64_t>();
    if (size == 0 || size > std::numeric_limits<std::uint32_t>::max())
      malformed("a dimension of " + std::to_string(size));
    tensor.dimensions.push_back(static_cast<std::uint32_t>(size));
  }
  const auto type = in.number<std::uint32_t>();
  tensor.type = block_type(type);
  if (tensor.type == nullptr) unsupported("weights of type " + std::to_string(type));
  if (tensor.dimensions.front() % tensor.type->weights != 0)
    malformed("rows of " + std::to_string(tensor.dimensions.front()) + " weights in blocks of " +
              std::to_string(tensor.type->weights));
  const auto bytes = bytes_of(tensor);
  if (!bytes) malformed("a size above 2^63 bytes");
  tensor.bytes = *bytes;
  tensor.offset = in.number<std::uint64_t>();
  return tensor;
}

std::uint64_t alignment_of(const Gguf& gguf) {
  const auto* const given = gguf.find<std::int64_t>("general.alignment");
  if (given == nullptr) return 32;
  if (*given <= 0 || !std::has_single_bit(static_cast<std::uint64_t>(*given)) ||
      static_cast<std::uint64_t>(*given) > most_alignment)
    malformed("an alignment of " + std::to_string(*given));
  return static_cast<std::uint64_t>(*given);
}

/// Moves the tensors behind the header, and checks that they are in the file, each alone.
void place(Gguf& gguf, std::uint64_t header_bytes, std::uint64_t file_bytes) {
  const auto alignment = alignment_of(gguf);
  const auto begin = (header_bytes + alignment - 1) / alignment * alignment;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
  for (auto& [name, tensor] : gguf.tensors) {
    if (tensor.offset % alignment != 0)
      malformed("tensor " + quote(name) + " is at " + std::to_string(tensor.offset) +
                ", which is not aligned to " + std::to_string(alignment));
    if (begin > file_bytes || tensor.offset > file_bytes - begin ||
        tensor.bytes > file_bytes - begin - tensor.offset)
      malformed("tensor " + quote(name) + " ends behind the end of the file");
    tensor.offset += begin;
    ranges.emplace_back(tensor.offset, tensor.offset + tensor.bytes);
  }
  std::ranges::sort(ranges);
  for (std::size_t i = 1; i < ranges.size(); ++i)
    if (ranges[i].first < ranges[i - 1].second) malformed("tensors overlap");
}

}  // namespace

Gguf Gguf::parse(std::span<const std::byte> bytes, std::uint64_t file_bytes) {
  Cursor in(bytes, bytes.size() == file_bytes);
  constexpr std::string_view magic = "GGUF";
  if (std::memcmp(in.take(magic.size()).data(), magic.data(), magic.size()) != 0)
    malformed("not a GGUF file");
  const auto version = in.number<std::uint32_t>();
  if (version < oldest_version || version > newest_version)
    unsupported("GGUF version " + std::to_string(version));
  constexpr std::uint64_t least_tensor = 32, least_value = 13;
  const auto tensors = in.count(least_tensor);
  const auto values = in.count(least_value);
  Gguf gguf;
  for (std::size_t i = 0; i < values; ++i) {
    auto key = in.string(longest_name);
    auto value = read_value(in);
    if (const auto added = gguf.metadata.emplace(std::move(key), std::move(value)); !added.second)
      malformed("the key " + quote(added.first->first) + " is there twice");
  }
  for (std::size_t i = 0; i < tensors; ++i) {
    auto name = in.string(longest_name);
    const auto shown = "tensor " + quote(name);
    try {
      if (!gguf.tensors.emplace(std::move(name), read_tensor(in)).second)
        malformed("the name is there twice");
    } catch (const Error& error) {
      throw Error(error.kind(), shown + ": " + error.message());
    }
  }
  place(gguf, in.at(), file_bytes);
  return gguf;
}

const GgufTensor& Gguf::tensor(std::string_view name) const {
  const auto at = tensors.find(name);
  if (at == tensors.end()) malformed("there is no tensor " + quote(name));
  return at->second;
}

std::uint32_t Gguf::count(std::string_view key, std::uint32_t most) const {
  const auto value = get<std::int64_t>(key);
  if (value < 1 || value > std::int64_t{most})
    malformed(quote(key) + " is " + std::to_string(value) + ": expected 1 to " +
              std::to_string(most));
  return static_cast<std::uint32_t>(value);
}

void Gguf::wrong_type(std::string_view key) { malformed(quote(key) + " has another type"); }
void Gguf::missing(std::string_view key) { malformed("there is no " + quote(key)); }

GgufFile::GgufFile(std::filesystem::path path) : path_(std::move(path)) {
  std::error_code failure;
  const auto size = std::filesystem::file_size(path_, failure);
  std::ifstream in(path_, std::ios::binary);
  if (failure || !in) malformed("the file cannot be read");
  const auto length = std::min<std::uint64_t>(size, Gguf::most_header_bytes);
  auto bytes = Buffer::uninitialized(static_cast<std::size_t>(length));
  in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(length));
  if (!in) malformed("the file cannot be read");
  header_ = Gguf::parse(bytes.bytes(), size);
}

Buffer GgufFile::read(const GgufTensor& tensor) const {
  std::ifstream in(path_, std::ios::binary);
  auto bytes = Buffer::uninitialized(static_cast<std::size_t>(tensor.bytes));
  in.seekg(static_cast<std::streamoff>(tensor.offset));
  in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(tensor.bytes));
  if (!in) malformed("the file has become shorter");
  return bytes;
}

}  // namespace polychron::text::detail
