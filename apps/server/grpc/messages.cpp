#include "grpc/messages.hpp"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/wire_format_lite.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "protocol/strings.hpp"

namespace polychron::server {

namespace {

using Input = inference::ModelInferRequest::InferInputTensor;

/// protobuf would print a line for each string that is not UTF-8.
[[maybe_unused]] auto* const printer = google::protobuf::SetLogHandler(nullptr);

/// Elements of a narrower type than the field that carries them.
template <class T, class Field>
Buffer narrowed(const Field& values, const std::string& what) {
  auto buffer = Buffer::uninitialized(static_cast<std::size_t>(values.size()) * sizeof(T));
  std::size_t at = 0;
  for (const auto value : values) {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<std::decay_t<decltype(value)>, bool>)
      if (!std::in_range<T>(value))
        bad_request(what + ": element " + std::to_string(at) + " is " + std::to_string(value) +
                    ", out of range");
    const auto element = static_cast<T>(value);
    std::memcpy(buffer.data() + at++ * sizeof(T), &element, sizeof(T));
  }
  return buffer;
}

Buffer joined(const inference::InferTensorContents& contents) {
  std::string bytes;
  for (const auto& each : contents.bytes_contents()) append_string(bytes, each);
  return Buffer::copy_of(std::as_bytes(std::span(bytes)));
}

Buffer contents_of(WireType type, const inference::InferTensorContents& contents,
                   const std::string& what) {
  switch (type) {
    case WireType::boolean:
      return narrowed<std::uint8_t>(contents.bool_contents(), what);
    case WireType::uint8:
      return narrowed<std::uint8_t>(contents.uint_contents(), what);
    case WireType::uint16:
      return narrowed<std::uint16_t>(contents.uint_contents(), what);
    case WireType::uint32:
      return narrowed<std::uint32_t>(contents.uint_contents(), what);
    case WireType::uint64:
      return narrowed<std::uint64_t>(contents.uint64_contents(), what);
    case WireType::int8:
      return narrowed<std::int8_t>(contents.int_contents(), what);
    case WireType::int16:
      return narrowed<std::int16_t>(contents.int_contents(), what);
    case WireType::int32:
      return narrowed<std::int32_t>(contents.int_contents(), what);
    case WireType::int64:
      return narrowed<std::int64_t>(contents.int64_contents(), what);
    case WireType::fp32:
      return narrowed<float>(contents.fp32_contents(), what);
    case WireType::fp64:
      return narrowed<double>(contents.fp64_contents(), what);
    case WireType::bytes:
      return joined(contents);
    case WireType::fp16:
    case WireType::bf16:
      break;
  }
  bad_request(what + ": " + std::string(to_string(type)) +
              " is accepted in raw_input_contents only");
}

template <class Parameters>
void refuse_unsupported(const Parameters& parameters, const std::string& what) {
  for (const auto name : unsupported_parameters) {
    const auto found = parameters.find(std::string(name));
    if (found == parameters.end()) continue;
    const inference::InferParameter& value = found->second;
    const bool is_number = value.has_int64_param() || value.has_uint64_param();
    const bool is_zero = is_number ? value.int64_param() == 0 && value.uint64_param() == 0
                                   : value.has_string_param() && value.string_param().empty();
    if (!is_zero)
      throw Refusal(Status::unsupported,
                    what + ": parameter '" + std::string(name) + "' is not supported");
  }
}

WireTensor parse_input(const inference::ModelInferRequest& message, int at) {
  const auto& input = message.inputs(at);
  const auto what = "input '" + printable(input.name()) + "'";
  const auto type = wire_type_from(input.datatype());
  if (!type) bad_request(what + ": unknown datatype '" + printable(input.datatype(), 40) + "'");
  refuse_unsupported(input.parameters(), what);
  if (input.shape_size() > static_cast<int>(max_rank))
    bad_request(what + ": rank " + std::to_string(input.shape_size()) + ", at most " +
                std::to_string(max_rank));
  WireTensor tensor{input.name(), *type, {}, {}};
  for (const auto size : input.shape()) {
    if (!std::in_range<std::uint32_t>(size))
      bad_request(what + ": dimension " + std::to_string(size) +
                  ", expected a whole number below 2^32");
    tensor.shape.push_back(static_cast<std::uint32_t>(size));
  }
  const bool is_raw = message.raw_input_contents_size() > 0;
  if (is_raw && input.has_contents())
    bad_request(what + ": has contents and raw_input_contents; give one");
  if (is_raw)
    tensor.bytes = Buffer::copy_of(std::as_bytes(std::span(message.raw_input_contents(at))));
  else
    tensor.bytes = contents_of(*type, input.contents(), what);
  const auto expected = *type == WireType::bytes ? tensor.bytes.size() : wire_size(tensor);
  if (tensor.bytes.size() != expected)
    bad_request(what + ": " + describe(tensor.type, tensor.shape) + " has " +
                std::to_string(expected) + " bytes, got " + std::to_string(tensor.bytes.size()));
  return tensor;
}

template <class Tensors>
void add_tensors(const std::vector<SignatureTensor>& from, Tensors* to) {
  for (const auto& each : from) {
    auto* tensor = to->Add();
    tensor->set_name(each.name);
    tensor->set_datatype(std::string(to_string(each.type)));
    for (const auto& dimension : each.dimensions)
      tensor->add_shape(dimension.value ? static_cast<std::int64_t>(*dimension.value) : -1);
  }
}

template <class Tensors>
void add_configs(const std::vector<SignatureTensor>& from, Tensors* to) {
  for (const auto& each : from) {
    auto* tensor = to->Add();
    tensor->set_name(each.name);
    tensor->set_data_type(static_cast<int>(each.type) + 1);
    for (const auto& dimension : each.dimensions)
      tensor->add_dims(dimension.value ? static_cast<std::int64_t>(*dimension.value) : -1);
  }
}

void fill_duration(const Duration& duration, inference::StatisticDuration* message) {
  message->set_count(duration.count);
  message->set_ns(duration.ns);
}

}  // namespace

int grpc_status_of(Status status) {
  enum : int {
    ok = 0,
    cancelled = 1,
    invalid_argument = 3,
    deadline_exceeded = 4,
    not_found = 5,
    permission_denied = 7,
    resource_exhausted = 8,
    unimplemented = 12,
    internal = 13,
    unavailable = 14,
    unauthenticated = 16
  };
  switch (status) {
    case Status::ok:
      return ok;
    case Status::bad_request:
    case Status::bad_encoding:
      return invalid_argument;
    case Status::unauthorized:
      return unauthenticated;
    case Status::forbidden:
      return permission_denied;
    case Status::not_found:
      return not_found;
    case Status::too_large:
    case Status::headers:
    case Status::too_many:
      return resource_exhausted;
    case Status::cancelled:
      return cancelled;
    case Status::not_allowed:
    case Status::unsupported:
      return unimplemented;
    case Status::unavailable:
      return unavailable;
    case Status::too_slow:
    case Status::deadline:
      return deadline_exceeded;
    case Status::internal:
      break;
  }
  return internal;
}

namespace {

// What fields take at most, with the allocator's part and with arrays that double: a number; a
// string beside its characters; a message with its strings and its place in a map. Measured with
// protobuf 3.21 (tests/grpc_limits.cpp).
constexpr std::uint64_t number_bytes = 48, string_bytes = 128, message_bytes = 512;

/// Numbers behind each other: of a known size, or each ends in a byte below 128.
std::uint64_t packed_bytes(const google::protobuf::FieldDescriptor& field,
                           google::protobuf::io::CodedInputStream& input, std::uint32_t length) {
  using Field = google::protobuf::FieldDescriptor;
  if (field.cpp_type() == Field::CPPTYPE_FLOAT || field.cpp_type() == Field::CPPTYPE_DOUBLE)
    return length;
  const void* data = nullptr;
  int size = 0;
  if (!input.GetDirectBufferPointer(&data, &size)) return 0;
  const std::span bytes(static_cast<const std::byte*>(data), length);
  const auto count = std::count_if(bytes.begin(), bytes.end(),
                                   [](std::byte each) { return each < std::byte{128}; });
  return 3 * sizeof(std::int64_t) * static_cast<std::uint64_t>(count);
}

std::uint64_t fields_bytes(const google::protobuf::Descriptor& type,
                           google::protobuf::io::CodedInputStream& input, int end) {
  using Field = google::protobuf::FieldDescriptor;
  using Lite = google::protobuf::internal::WireFormatLite;
  std::uint64_t bytes = message_bytes;
  while (input.CurrentPosition() < end) {
    const auto tag = input.ReadTag();
    std::uint32_t length = 0;
    if (tag == 0) break;  // damaged: the parser says so
    if (Lite::GetTagWireType(tag) == Lite::WIRETYPE_START_GROUP)
      bad_request("the message has a group, which protobuf 3 does not have");
    if (Lite::GetTagWireType(tag) != Lite::WIRETYPE_LENGTH_DELIMITED) {
      bytes += number_bytes;
      if (!Lite::SkipField(&input, tag)) break;
      continue;
    }
    if (!input.ReadVarint32(&length) ||
        length > static_cast<std::uint32_t>(std::max(end - input.CurrentPosition(), 0)))
      break;
    const auto* field = type.FindFieldByNumber(Lite::GetTagFieldNumber(tag));
    const auto last = input.CurrentPosition() + static_cast<int>(length);
    if (field && field->cpp_type() == Field::CPPTYPE_MESSAGE) {
      bytes += fields_bytes(*field->message_type(), input, last);
    } else {
      bytes += string_bytes + length;  // also where numbers are expected, and none are packed
      if (field && field->is_packable()) bytes += packed_bytes(*field, input, length);
    }
    if (input.CurrentPosition() > last) break;
    input.Skip(last - input.CurrentPosition());
  }
  return bytes;
}

}  // namespace

std::uint64_t parsed_bytes(const google::protobuf::Descriptor& type,
                           std::span<const std::byte> bytes) {
  google::protobuf::io::CodedInputStream input(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                               static_cast<int>(bytes.size()));
  return fields_bytes(type, input, static_cast<int>(bytes.size()));
}

InferRequest parse_infer(const inference::ModelInferRequest& message) {
  InferRequest request;
  request.id = message.id();
  refuse_unsupported(message.parameters(), "request");
  if (message.raw_input_contents_size() > 0 &&
      message.raw_input_contents_size() != message.inputs_size())
    bad_request("request: " + std::to_string(message.inputs_size()) + " inputs, but " +
                std::to_string(message.raw_input_contents_size()) + " raw_input_contents");
  for (int i = 0; i < message.inputs_size(); ++i) request.inputs.push_back(parse_input(message, i));
  for (const auto& output : message.outputs()) {
    refuse_unsupported(output.parameters(), "output '" + printable(output.name()) + "'");
    request.outputs.push_back({output.name(), true});
  }
  const auto timeout = message.parameters().find("timeout");
  if (timeout != message.parameters().end() && timeout->second.int64_param() > 0) {
    constexpr std::int64_t day_us = 86'400'000'000;
    request.timeout =
        std::chrono::microseconds(std::min<std::int64_t>(timeout->second.int64_param(), day_us));
  }
  return request;
}

void append_answer(std::string& text, InferAnswer&& answer) {
  inference::ModelInferResponse message;
  message.set_model_name(answer.model);
  message.set_model_version(answer.version);
  message.set_id(answer.id);
  std::size_t size = 0;
  for (const auto& each : answer.outputs) {
    auto* output = message.add_outputs();
    output->set_name(each.name);
    output->set_datatype(std::string(to_string(each.type)));
    for (const auto dimension : each.shape) output->add_shape(dimension);
    size += 16 + each.bytes.size();
  }
  message.AppendToString(&text);
  text.reserve(text.size() + size);
  // The bytes of the tensors are copied once, into their field behind the others.
  google::protobuf::io::StringOutputStream stream(&text);
  google::protobuf::io::CodedOutputStream output(&stream);
  for (const auto& each : answer.outputs) {
    constexpr int length_delimited = 2;
    output.WriteTag(inference::ModelInferResponse::kRawOutputContentsFieldNumber << 3 |
                    length_delimited);
    output.WriteVarint32(static_cast<std::uint32_t>(each.bytes.size()));
    output.WriteRaw(each.bytes.data(), static_cast<int>(each.bytes.size()));
  }
}

void fill_metadata(const Service& service, const Model& model,
                   inference::ModelMetadataResponse& message) {
  message.set_name(model.name());
  for (const auto& each : service.repository.versions(model.name())) message.add_versions(each);
  message.set_platform(model.engine().platform());
  add_tensors(model.signature().inputs, message.mutable_inputs());
  add_tensors(model.signature().outputs, message.mutable_outputs());
}

void fill_config(const Model& model, inference::ModelConfig& message) {
  message.set_name(model.name());
  message.set_platform(model.config().code.empty() ? "onnxruntime_onnx" : "code");
  message.set_backend("polychron");
  add_configs(model.signature().inputs, message.mutable_input());
  add_configs(model.signature().outputs, message.mutable_output());
}

void fill_statistics(const Model& model, inference::ModelStatistics& message) {
  const auto& metrics = *model.metrics();
  message.set_name(model.name());
  message.set_version(std::to_string(model.version()));
  message.set_last_inference(metrics.last_ms);
  message.set_inference_count(metrics.success.count);
  message.set_execution_count(metrics.runs());
  auto* stats = message.mutable_inference_stats();
  fill_duration(metrics.success, stats->mutable_success());
  fill_duration(metrics.failure, stats->mutable_fail());
  fill_duration(metrics.queued, stats->mutable_queue());
  fill_duration(metrics.computed, stats->mutable_compute_infer());
}

}  // namespace polychron::server
