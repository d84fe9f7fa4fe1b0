#include "grpc/messages.hpp"

#include <cstring>
#include <utility>

#include "protocol/strings.hpp"

namespace polychron::server {

namespace {

using Input = inference::ModelInferRequest::InferInputTensor;

[[noreturn]] void bad(const std::string& message) { throw Refusal(Status::bad_request, message); }

grpc::StatusCode code_of(Status status) {
  switch (status) {
    case Status::ok:
      return grpc::StatusCode::OK;
    case Status::bad_request:
    case Status::bad_encoding:
    case Status::headers:
      return grpc::StatusCode::INVALID_ARGUMENT;
    case Status::unauthorized:
      return grpc::StatusCode::UNAUTHENTICATED;
    case Status::forbidden:
      return grpc::StatusCode::PERMISSION_DENIED;
    case Status::not_found:
      return grpc::StatusCode::NOT_FOUND;
    case Status::too_large:
    case Status::too_many:
      return grpc::StatusCode::RESOURCE_EXHAUSTED;
    case Status::cancelled:
      return grpc::StatusCode::CANCELLED;
    case Status::not_allowed:
    case Status::unsupported:
      return grpc::StatusCode::UNIMPLEMENTED;
    case Status::unavailable:
      return grpc::StatusCode::UNAVAILABLE;
    case Status::too_slow:
    case Status::deadline:
      return grpc::StatusCode::DEADLINE_EXCEEDED;
    case Status::internal:
      break;
  }
  return grpc::StatusCode::INTERNAL;
}

/// Elements of a narrower type than the field that carries them.
template <class T, class Field>
Buffer narrowed(const Field& values, const std::string& what) {
  auto buffer = Buffer::uninitialized(static_cast<std::size_t>(values.size()) * sizeof(T));
  std::size_t at = 0;
  for (const auto value : values) {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<std::decay_t<decltype(value)>, bool>)
      if (!std::in_range<T>(value))
        bad(what + ": element " + std::to_string(at) + " is " + std::to_string(value) +
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
  bad(what + ": " + std::string(to_string(type)) + " is accepted in raw_input_contents only");
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
  if (!type) bad(what + ": unknown datatype '" + printable(input.datatype(), 40) + "'");
  refuse_unsupported(input.parameters(), what);
  if (input.shape_size() > static_cast<int>(max_rank))
    bad(what + ": rank " + std::to_string(input.shape_size()) + ", at most " +
        std::to_string(max_rank));
  WireTensor tensor{input.name(), *type, {}, {}};
  for (const auto size : input.shape()) {
    if (!std::in_range<std::uint32_t>(size))
      bad(what + ": dimension " + std::to_string(size) + ", expected a whole number below 2^32");
    tensor.shape.push_back(static_cast<std::uint32_t>(size));
  }
  const bool is_raw = message.raw_input_contents_size() > 0;
  if (is_raw && input.has_contents()) bad(what + ": has contents and raw_input_contents; give one");
  if (is_raw)
    tensor.bytes = Buffer::copy_of(std::as_bytes(std::span(message.raw_input_contents(at))));
  else
    tensor.bytes = contents_of(*type, input.contents(), what);
  const auto expected = *type == WireType::bytes ? tensor.bytes.size() : wire_size(tensor);
  if (tensor.bytes.size() != expected)
    bad(what + ": " + describe(tensor.type, tensor.shape) + " has " + std::to_string(expected) +
        " bytes, got " + std::to_string(tensor.bytes.size()));
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

grpc::Status status_of(const Refusal& refusal) {
  return {code_of(refusal.status()), printable(refusal.message(), 4000)};
}

InferRequest parse_infer(const inference::ModelInferRequest& message) {
  InferRequest request;
  request.id = message.id();
  refuse_unsupported(message.parameters(), "request");
  if (message.raw_input_contents_size() > 0 &&
      message.raw_input_contents_size() != message.inputs_size())
    bad("request: " + std::to_string(message.inputs_size()) + " inputs, but " +
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

void encode_answer(InferAnswer&& answer, inference::ModelInferResponse& message) {
  message.set_model_name(answer.model);
  message.set_model_version(answer.version);
  message.set_id(answer.id);
  for (const auto& each : answer.outputs) {
    auto* output = message.add_outputs();
    output->set_name(each.name);
    output->set_datatype(std::string(to_string(each.type)));
    for (const auto size : each.shape) output->add_shape(size);
    message.add_raw_output_contents()->assign(reinterpret_cast<const char*>(each.bytes.data()),
                                              each.bytes.size());
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
