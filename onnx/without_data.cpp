#include "onnx/without_data.hpp"

#include <google/protobuf/io/coded_stream.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "onnx/proto.hpp"

namespace polychron::onnx::detail {

namespace {

namespace io = google::protobuf::io;

// How protobuf writes a field (its guide "Encoding").
enum WireType : std::uint32_t { varint, fixed_64, delimited, group, end_of_group, fixed_32 };

constexpr std::uint32_t tag_of(int field) {
  return static_cast<std::uint32_t>(field) << 3U | delimited;
}

/// From a model to the raw data of an initializer.
constexpr std::array path{tag_of(proto::ModelProto::kGraphFieldNumber),
                          tag_of(proto::GraphProto::kInitializerFieldNumber),
                          tag_of(proto::TensorProto::kRawDataFieldNumber)};
constexpr std::size_t initializer_level = 1, data_level = 2;

/// A length that is written before what it counts is known, in as many bytes as any may take.
constexpr std::size_t length_bytes = 5;

/// Writes to strings by itself: protobuf's output streams allocate in their destructors, which ends
/// the process where there is no memory.
class Reader {
 public:
  Reader(io::CodedInputStream& in, std::map<int, Buffer>& data) : in_(in), data_(data) {}

  /// The rest of the message at this level of the path.
  bool read(std::size_t level, std::string& to) {
    while (const auto tag = in_.ReadTag()) {
      if (!(tag == path[level] ? enter(level, to) : copy(tag, to))) return false;
    }
    return in_.ConsumedEntireMessage() && in_.BytesUntilLimit() == 0;
  }

 private:
  bool read_length(int& length) {
    return in_.ReadVarintSizeAsInt(&length) && length <= in_.BytesUntilLimit();
  }

  static void append_varint(std::uint64_t number, std::string& to) {
    std::array<std::uint8_t, 10> bytes;
    const auto* const end = io::CodedOutputStream::WriteVarint64ToArray(number, bytes.data());
    std::for_each(static_cast<const std::uint8_t*>(bytes.data()), end,
                  [&](std::uint8_t byte) { to.push_back(static_cast<char>(byte)); });
  }

  bool append(int length, std::string& to) {
    const auto at = to.size();
    to.resize(at + static_cast<std::size_t>(length));
    return in_.ReadRaw(to.data() + at, length);
  }

  bool enter(std::size_t level, std::string& to) {
    int length = 0;
    if (!read_length(length)) return false;
    if (level == initializer_level) ++initializer_;
    append_varint(path[level], to);
    if (level == data_level) {
      append_varint(0, to);
      return take(length);
    }
    const auto begin = to.size() + length_bytes;
    to.resize(begin);
    const auto limit = in_.PushLimit(length);
    if (!read(level + 1, to)) return false;
    in_.PopLimit(limit);
    auto rest = to.size() - begin;
    for (std::size_t i = 0; i < length_bytes; ++i, rest >>= 7U) {
      const std::size_t more = i + 1 < length_bytes ? 0x80 : 0;
      to[begin - length_bytes + i] = static_cast<char>((rest & 0x7fU) | more);
    }
    return true;
  }

  /// Of a field that occurs again the last one counts.
  bool take(int length) {
    auto bytes = Buffer::uninitialized(static_cast<std::size_t>(length));
    if (length != 0 && !in_.ReadRaw(bytes.data(), length)) return false;
    data_.insert_or_assign(initializer_, std::move(bytes));
    return true;
  }

  /// A field as it is.
  bool copy(std::uint32_t tag, std::string& to) {
    append_varint(tag, to);
    std::uint64_t number = 0;
    int length = 0;
    switch (tag & 7U) {
      case varint:
        if (!in_.ReadVarint64(&number)) return false;
        append_varint(number, to);
        return true;
      case fixed_64:
        return append(8, to);
      case fixed_32:
        return append(4, to);
      case delimited:
        if (!read_length(length)) return false;
        append_varint(static_cast<std::uint64_t>(length), to);
        return append(length, to);
      case group:
        return copy_group((tag & ~7U) | end_of_group, to);
      default:
        return false;
    }
  }

  /// ONNX has none; a later ONNX might.
  bool copy_group(std::uint32_t end, std::string& to) {
    if (!in_.IncrementRecursionDepth()) return false;
    for (;;) {
      const auto inner = in_.ReadTag();
      if (inner == end) break;
      if (inner == 0 || !copy(inner, to)) return false;
    }
    append_varint(end, to);
    in_.DecrementRecursionDepth();
    return true;
  }

  io::CodedInputStream& in_;
  std::map<int, Buffer>& data_;
  int initializer_ = -1;
};

}  // namespace

std::optional<WithoutData> read_without_data(io::ZeroCopyInputStream& stream, int size) {
  io::CodedInputStream in(&stream);
  in.PushLimit(size);
  WithoutData model;
  if (!Reader(in, model.data).read(0, model.message)) return std::nullopt;
  return model;
}

}  // namespace polychron::onnx::detail
