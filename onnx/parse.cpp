#include "onnx/parse.hpp"

#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/stubs/logging.h>

#include <cstring>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "onnx/model_reader.hpp"
#include "onnx/problem.hpp"

namespace polychron::onnx::detail {

namespace {

namespace io = google::protobuf::io;

/// protobuf's own limit for a message, less one byte: its streams treat the limit itself as no
/// limit.
constexpr auto largest_model = static_cast<std::uintmax_t>(std::numeric_limits<int>::max()) - 1;

void check_size(std::uintmax_t size) {
  if (size == 0) malformed("it is empty");
  if (size > largest_model)
    malformed("it has " + std::to_string(size) +
              " bytes: beyond 2 GiB a model's weights must be external data");
}

[[noreturn]] void damaged(const std::string& what) {
  malformed("not an ONNX " + what + ", or a truncated or damaged one");
}

std::unique_ptr<proto::TensorProto> parse_tensor(io::ZeroCopyInputStream& stream, int) {
  const google::protobuf::LogSilencer silence;
  auto message = std::make_unique<proto::TensorProto>();
  if (!message->ParseFromZeroCopyStream(&stream)) damaged("tensor");
  return message;
}

ParsedModel parse_model(io::ZeroCopyInputStream& stream, int size,
                        const std::shared_ptr<const DataFile>& file = nullptr) {
  const google::protobuf::LogSilencer silence;
  ParsedModel model{std::make_unique<proto::ModelProto>(), {}};
  if (!read_model(stream, size, model, file)) damaged("model");
  return model;
}

/// Empty if the file cannot be mapped.
std::optional<ParsedModel> parse_mapped(const std::filesystem::path& path) {
  std::error_code error;
  const auto whole = std::filesystem::absolute(path, error);  // a forked child may map it later
  const auto state = state_of(whole);
  if (error || !state || state->size > largest_model) return std::nullopt;
  const auto file = std::make_shared<const DataFile>("file " + quote(path.string()), whole, *state);
  const auto mapping = file->mapping();
  if (mapping == nullptr || !mapping->populate(mapping->bytes())) return std::nullopt;
  const auto bytes = mapping->bytes();
  io::ArrayInputStream stream(bytes.data(), static_cast<int>(bytes.size()));
  auto model = parse_model(stream, static_cast<int>(bytes.size()), file);
  mapping->release(bytes);
  return model;
}

/// Calls parse(stream, size) on the content of the file.
template <class F>
auto parse_from(const std::filesystem::path& path, F&& parse) {
  std::error_code error;
  if (const auto why = reason_not_a_file(path); !why.empty()) malformed(why);
  const auto size = std::filesystem::file_size(path, error);
  if (error) malformed(error.message());
  check_size(size);
  std::ifstream file(path, std::ios::binary);
  if (!file) malformed(std::strerror(errno));
  // A block that stays in a core's cache until it is copied.
  io::IstreamInputStream stream(&file, 1 << 18);
  auto message = parse(stream, static_cast<int>(size));
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

ParsedModel parse_file(const std::filesystem::path& path) {
  if (auto mapped = parse_mapped(path)) return std::move(*mapped);
  return parse_from(path, [](auto& stream, int size) { return parse_model(stream, size); });
}

std::unique_ptr<proto::TensorProto> parse_tensor_file(const std::filesystem::path& path) {
  return parse_from(path, parse_tensor);
}

ParsedModel parse_bytes(std::span<const std::byte> bytes) {
  check_size(bytes.size());
  const auto size = static_cast<int>(bytes.size());
  io::ArrayInputStream stream(bytes.data(), size);
  return parse_model(stream, size);
}

}  // namespace polychron::onnx::detail
