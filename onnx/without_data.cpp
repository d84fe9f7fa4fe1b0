#include "onnx/without_data.hpp"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

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

class Reader {
 public:
  Reader(io::CodedInputStream& in, std::map<int, Buffer>& data) : in_(in), data_(data) {}

  /// The rest of the message at this level of the path.
  bool read(std::size_t level, std::string& to) {
    io::StringOutputStream stream(&to);
    io::CodedOutputStream out(&stream);
    while (const auto tag = in_.ReadTag()) {
      if (!(tag == path[level] ? enter(level, out) : copy(tag, out))) return false;
    }
    return in_.ConsumedEntireMessage() && in_.BytesUntilLimit() == 0;
  }

 private:
  bool read_length(int& length) {
    return in_.ReadVarintSizeAsInt(&length) && length <= in_.BytesUntilLimit();
  }

  bool enter(std::size_t level, io::CodedOutputStream& out) {
    int length = 0;
    if (!read_length(length)) return false;
    if (level == initializer_level) ++initializer_;
    std::string inner;
    if (level == data_level) {
      if (!take(length)) return false;
    } else {
      const auto limit = in_.PushLimit(length);
      if (!read(level + 1, inner)) return false;
      in_.PopLimit(limit);
    }
    write(path[level], inner, out);
    return true;
  }

  /// Of a field that occurs again the last one counts.
  bool take(int length) {
    auto bytes = Buffer::uninitialized(static_cast<std::size_t>(length));
    if (length != 0 && !in_.ReadRaw(bytes.data(), length)) return false;
    data_.insert_or_assign(initializer_, std::move(bytes));
    return true;
  }

  static void write(std::uint32_t tag, const std::string& bytes, io::CodedOutputStream& out) {
    out.WriteTag(tag);
    out.WriteVarint32(static_cast<std::uint32_t>(bytes.size()));
    out.WriteString(bytes);
  }

  /// A field as it is.
  bool copy(std::uint32_t tag, io::CodedOutputStream& out) {
    const auto value = [&](auto number, auto read_it, auto write_it) {
      if (!(in_.*read_it)(&number)) return false;
      out.WriteTag(tag);
      (out.*write_it)(number);
      return true;
    };
    switch (tag & 7U) {
      case varint:
        return value(std::uint64_t{}, &io::CodedInputStream::ReadVarint64,
                     &io::CodedOutputStream::WriteVarint64);
      case fixed_64:
        return value(std::uint64_t{}, &io::CodedInputStream::ReadLittleEndian64,
                     &io::CodedOutputStream::WriteLittleEndian64);
      case fixed_32:
        return value(std::uint32_t{}, &io::CodedInputStream::ReadLittleEndian32,
                     &io::CodedOutputStream::WriteLittleEndian32);
      case delimited: {
        int length = 0;
        std::string bytes;
        if (!read_length(length) || !in_.ReadString(&bytes, length)) return false;
        write(tag, bytes, out);
        return true;
      }
      case group:
        return copy_group(tag, out);
      default:
        return false;
    }
  }

  /// ONNX has none; a later ONNX might.
  bool copy_group(std::uint32_t tag, io::CodedOutputStream& out) {
    if (!in_.IncrementRecursionDepth()) return false;
    out.WriteTag(tag);
    const auto end = (tag & ~7U) | end_of_group;
    for (;;) {
      const auto inner = in_.ReadTag();
      if (inner == end) break;
      if (inner == 0 || !copy(inner, out)) return false;
    }
    out.WriteTag(end);
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
