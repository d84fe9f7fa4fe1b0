#include "onnx/model_reader.hpp"

#include <google/protobuf/io/coded_stream.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <utility>

#include "onnx/element_type.hpp"

namespace polychron::onnx::detail {

namespace {

namespace io = google::protobuf::io;

// The wire types of protobuf's fields (its guide "Encoding").
enum WireType : std::uint32_t { varint, fixed_64, delimited, group, end_of_group, fixed_32 };

constexpr std::uint32_t tag_of(int field) {
  return static_cast<std::uint32_t>(field) << 3U | delimited;
}

constexpr auto graph_tag = tag_of(proto::ModelProto::kGraphFieldNumber);
constexpr auto initializer_tag = tag_of(proto::GraphProto::kInitializerFieldNumber);
constexpr auto data_tag = tag_of(proto::TensorProto::kRawDataFieldNumber);

/// Own encoder, as protobuf's output streams allocate in their destructors, which ends the process
/// if memory runs out.
void append_varint(std::uint64_t number, std::string& to) {
  std::array<std::uint8_t, 10> bytes;
  const std::uint8_t* const begin = bytes.data();
  const auto* const end = io::CodedOutputStream::WriteVarint64ToArray(number, bytes.data());
  std::for_each(begin, end, [&](std::uint8_t byte) { to.push_back(static_cast<char>(byte)); });
}

/// Room before bytes that become a field of a field: two tags and two lengths of at most 5 bytes.
constexpr std::size_t room = 20;

/// Wraps the bytes after the room into a field of the first of `tags`, that into a field of the
/// next, and so on.
void put_within(std::initializer_list<std::uint32_t> tags, std::string& bytes) {
  std::string front;
  for (const std::uint32_t tag : tags) {
    std::string own;
    append_varint(tag, own);
    append_varint(front.size() + bytes.size() - room, own);
    front.insert(0, own);
  }
  bytes.replace(0, room, front);
}

class Reader {
 public:
  Reader(io::CodedInputStream& in, ParsedModel& model, const std::shared_ptr<const DataFile>& file)
      : in_(in), model_(model), file_(file) {}

  bool read() {
    return each_field([&](std::uint32_t tag) {
      if (tag == graph_tag) return message([&] { return read_graph(); });
      return merge(tag, {});
    });
  }

 private:
  bool read_graph() {
    model_.message->mutable_graph();
    return each_field([&](std::uint32_t tag) {
      if (tag == initializer_tag) return message([&] { return read_initializer(); });
      return merge(tag, {graph_tag});  // at its real depth, which protobuf limits
    });
  }

  /// Parses a field. All fields pass through the same memory: allocating anew for each large one,
  /// such as weights in Constant nodes, takes longer than copying.
  bool merge(std::uint32_t tag, std::initializer_list<std::uint32_t> tags) {
    field_.assign(room, '\0');
    if (!copy(tag, field_)) return false;
    put_within(tags, field_);
    return model_.message->MergeFromString(field_);
  }

  bool read_initializer() {
    std::string rest(room, '\0');
    Buffer data;
    std::shared_ptr<const FileRange> range;
    bool has_data = false;
    const bool whole = each_field([&](std::uint32_t tag) {
      if (tag != data_tag) return copy(tag, rest);
      has_data = true;  // the last one counts if a field is repeated
      return take(rest, data, range);
    });
    if (has_data) {  // the field exists, but is empty
      append_varint(data_tag, rest);
      append_varint(0, rest);
    }
    put_within({initializer_tag, graph_tag}, rest);
    if (!whole || !model_.message->MergeFromString(rest)) return false;
    const auto& tensor = *model_.message->graph().initializer().rbegin();
    if (range != nullptr)
      model_.ranges.emplace(&tensor, std::move(range));
    else if (has_data)
      model_.data.emplace(&tensor, std::move(data));
    return true;
  }

  /// Calls f(tag) for each field up to the limit. False if a field is malformed.
  template <class F>
  bool each_field(F&& f) {
    std::uint32_t tag = 0;
    while (read_tag(tag))
      if (!f(tag)) return false;
    return tag == 0 && in_.ConsumedEntireMessage() && in_.BytesUntilLimit() == 0;
  }

  template <class F>
  bool message(F&& f) {
    int length = 0;
    if (!read_length(length)) return false;
    const auto limit = in_.PushLimit(length);
    if (!f()) return false;
    in_.PopLimit(limit);
    return true;
  }

  // protobuf's parser accepts tags and lengths of at most 5 bytes, and lengths somewhat below its
  // maximum; its streams are less strict.
  static constexpr int most_bytes = 5;

  /// False at the end, with `tag` 0, and if there is no valid tag.
  bool read_tag(std::uint32_t& tag) {
    const int begin = in_.CurrentPosition();
    tag = in_.ReadTag();
    return tag != 0 && in_.CurrentPosition() - begin <= most_bytes;
  }
  bool read_length(int& length) {
    constexpr int most = std::numeric_limits<int>::max() - 16;
    const int begin = in_.CurrentPosition();
    return in_.ReadVarintSizeAsInt(&length) && in_.CurrentPosition() - begin <= most_bytes &&
           length <= std::min(in_.BytesUntilLimit(), most);
  }

  /// The alignment of the tensor's elements; 0 if the fields so far do not tell it. Only the data
  /// of a usual tensor is long.
  static std::size_t alignment_in(const std::string& fields) {
    constexpr std::size_t most = 1U << 12;
    proto::TensorProto tensor;
    if (fields.size() > room + most ||
        !tensor.ParsePartialFromArray(fields.data() + room, static_cast<int>(fields.size() - room)))
      return 0;
    const auto type = static_cast<ElementType>(tensor.data_type());
    return is_packed(type) ? 1 : element_size(type);
  }

  /// Reads raw data, or finds it in the mapped file. The other result is empty then.
  bool take(const std::string& fields, Buffer& data, std::shared_ptr<const FileRange>& range) {
    int length = 0;
    if (!read_length(length)) return false;
    range = nullptr;
    const auto at = static_cast<std::uint64_t>(in_.CurrentPosition());
    const auto bytes = static_cast<std::uint64_t>(length);
    const auto alignment =
        file_ != nullptr && bytes >= FileRange::least_in_place ? alignment_in(fields) : 0;
    if (alignment != 0 && at % alignment == 0) {
      data = Buffer();
      range = std::make_shared<const FileRange>(file_, at, bytes, alignment);
      return in_.Skip(length);
    }
    data = Buffer::uninitialized(static_cast<std::size_t>(length));
    return length == 0 || in_.ReadRaw(data.data(), length);
  }

  bool append(int length, std::string& to) {
    const auto at = to.size();
    to.resize(at + static_cast<std::size_t>(length));
    return in_.ReadRaw(to.data() + at, length);
  }

  /// Copies the rest of a field, after its tag.
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

  /// ONNX has no groups yet; a later version might.
  bool copy_group(std::uint32_t end, std::string& to) {
    if (!in_.IncrementRecursionDepth()) return false;
    std::uint32_t tag = 0;
    while (read_tag(tag) && tag != end)
      if (!copy(tag, to)) return false;
    if (tag != end) return false;
    append_varint(end, to);
    in_.DecrementRecursionDepth();
    return true;
  }

  io::CodedInputStream& in_;
  ParsedModel& model_;
  const std::shared_ptr<const DataFile>& file_;
  std::string field_;
};

}  // namespace

bool read_model(io::ZeroCopyInputStream& stream, int size, ParsedModel& model,
                const std::shared_ptr<const DataFile>& file) {
  io::CodedInputStream in(&stream);
  in.PushLimit(size);
  return Reader(in, model, file).read();
}

}  // namespace polychron::onnx::detail
