#include "onnx/parse.hpp"

#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/stubs/logging.h>

#include <cstring>
#include <fstream>
#include <limits>
#include <string>
#include <system_error>

#include "onnx/problem.hpp"

namespace polychron::onnx::detail {

namespace {

/// protobuf's own limit for a message.
constexpr auto largest_model = static_cast<std::uintmax_t>(std::numeric_limits<int>::max());

void check_size(std::uintmax_t size) {
  if (size == 0) malformed("it is empty");
  if (size > largest_model)
    malformed("it has " + std::to_string(size) +
              " bytes: beyond 2 GiB a model's weights must be external data");
}

template <class Message>
std::unique_ptr<Message> parse(google::protobuf::io::ZeroCopyInputStream& stream,
                               const std::string& what) {
  const google::protobuf::LogSilencer silence;
  auto message = std::make_unique<Message>();
  if (!message->ParseFromZeroCopyStream(&stream))
    malformed("not an ONNX " + what + ", or a truncated or damaged one");
  return message;
}

template <class Message>
std::unique_ptr<Message> parse_from(const std::filesystem::path& path, const std::string& what) {
  std::error_code error;
  if (const auto why = reason_not_a_file(path); !why.empty()) malformed(why);
  const auto size = std::filesystem::file_size(path, error);
  if (error) malformed(error.message());
  check_size(size);
  std::ifstream file(path, std::ios::binary);
  if (!file) malformed(std::strerror(errno));
  google::protobuf::io::IstreamInputStream stream(&file, 1 << 20);
  auto message = parse<Message>(stream, what);
  if (file.bad()) malformed("it cannot be read to its end");
  return message;
}

}  // namespace

std::string reason_not_a_file(const std::filesystem::path& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (error) return error.message();
  return std::filesystem::is_regular_file(status) ? "" : "it is not a regular file";
}

std::unique_ptr<proto::ModelProto> parse_file(const std::filesystem::path& path) {
  return parse_from<proto::ModelProto>(path, "model");
}

std::unique_ptr<proto::TensorProto> parse_tensor_file(const std::filesystem::path& path) {
  return parse_from<proto::TensorProto>(path, "tensor");
}

std::unique_ptr<proto::ModelProto> parse_bytes(std::span<const std::byte> bytes) {
  check_size(bytes.size());
  google::protobuf::io::ArrayInputStream stream(bytes.data(), static_cast<int>(bytes.size()));
  return parse<proto::ModelProto>(stream, "model");
}

}  // namespace polychron::onnx::detail
