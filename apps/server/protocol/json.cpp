#include "protocol/json.hpp"

#include <algorithm>
#include <boost/json/monotonic_resource.hpp>
#include <boost/json/serialize.hpp>
#include <limits>
#include <utility>

#include "protocol/document.hpp"
#include "protocol/elements.hpp"

namespace polychron::server {

namespace {

namespace json = boost::json;

std::string_view view(const json::string& text) { return {text.data(), text.size()}; }

/// The member `name` of `object`, or null.
const json::value* member(const json::object& object, std::string_view name) {
  return object.if_contains(json::string_view(name.data(), name.size()));
}

const json::object& object_of(const json::value& value, const std::string& what) {
  if (const auto* object = value.if_object()) return *object;
  bad_request(what + ": expected an object");
}

std::string_view text_of(const json::object& object, std::string_view name,
                         const std::string& what) {
  const auto* value = member(object, name);
  const auto* text = value ? value->if_string() : nullptr;
  if (!text) bad_request(what + ": expected a string '" + std::string(name) + "'");
  return view(*text);
}

const json::object* parameters_of(const json::object& object, const std::string& what) {
  const auto* value = member(object, "parameters");
  if (!value || value->is_null()) return nullptr;
  return &object_of(*value, what + ": parameters");
}

/// A parameter that is a whole number, also as a string.
std::optional<std::uint64_t> number(const json::object* parameters, std::string_view name,
                                    const std::string& what) {
  const auto* value = parameters ? member(*parameters, name) : nullptr;
  if (!value) return std::nullopt;
  if (const auto* given = value->if_int64(); given && *given >= 0)
    return static_cast<std::uint64_t>(*given);
  if (const auto* given = value->if_uint64()) return *given;
  bad_request(what + ": parameter '" + std::string(name) + "' is " +
              printable(json::serialize(*value), 40) + ", expected a whole number");
}

bool flag(const json::object* parameters, std::string_view name, bool absent,
          const std::string& what) {
  const auto* value = parameters ? member(*parameters, name) : nullptr;
  if (!value) return absent;
  if (const auto* given = value->if_bool()) return *given;
  bad_request(what + ": parameter '" + std::string(name) + "' is " +
              printable(json::serialize(*value), 40) + ", expected true or false");
}

void refuse_unsupported(const json::object* parameters, const std::string& what) {
  for (const auto name : unsupported_parameters) {
    const auto* value = parameters ? member(*parameters, name) : nullptr;
    if (!value || *value == 0 || *value == "") continue;
    throw Refusal(Status::unsupported,
                  what + ": parameter '" + std::string(name) + "' is not supported");
  }
}

Shape shape_of(const json::object& object, const std::string& what) {
  const auto* value = member(object, "shape");
  const auto* list = value ? value->if_array() : nullptr;
  if (!list) bad_request(what + ": expected an array 'shape'");
  if (list->size() > max_rank)
    bad_request(what + ": rank " + std::to_string(list->size()) + ", at most " +
                std::to_string(max_rank));
  Shape shape;
  for (const auto& each : *list) {
    const auto* size = each.if_int64();
    if (!size || !std::in_range<std::uint32_t>(*size))
      bad_request(what + ": dimension " + printable(json::serialize(each), 40) +
                  ", expected a whole number below 2^32");
    shape.push_back(static_cast<std::uint32_t>(*size));
  }
  return shape;
}

/// The bytes behind the JSON that no input has taken yet.
struct UnreadBytes {
  std::shared_ptr<void> block;
  std::span<std::byte> bytes;

  Buffer take(std::size_t size) {
    auto buffer = Buffer::adopt(bytes.data(), size, [keep = block](std::byte*, std::size_t) {});
    bytes = bytes.subspan(size);
    return buffer;
  }
};

WireTensor parse_input(const Document& document, const json::value& value, std::size_t at,
                       UnreadBytes& rest) {
  const auto& object = object_of(value, "input " + std::to_string(at));
  WireTensor tensor;
  tensor.name = text_of(object, "name", "input " + std::to_string(at));
  const auto what = "input '" + printable(tensor.name) + "'";
  const auto type_name = text_of(object, "datatype", what);
  const auto type = wire_type_from(type_name);
  if (!type) bad_request(what + ": unknown datatype '" + printable(type_name, 40) + "'");
  tensor.type = *type;
  tensor.shape = shape_of(object, what);
  const auto* parameters = parameters_of(object, what);
  refuse_unsupported(parameters, what);
  const auto size = number(parameters, "binary_data_size", what);
  const auto* data = member(object, "data");
  if (size && data) bad_request(what + ": has 'data' and binary_data_size; give one");
  if (data) {
    if (!data->is_int64()) bad_request(what + ": expected an array 'data'");
    read_elements(tensor, document.data_at(static_cast<std::size_t>(data->get_int64())));
    return tensor;
  }
  if (!size) bad_request(what + ": expected 'data' or the parameter binary_data_size");
  if (*size > rest.bytes.size())
    bad_request(what + ": binary_data_size is " + std::to_string(*size) + ", but only " +
                std::to_string(rest.bytes.size()) + " bytes follow");
  const auto expected = tensor.type == WireType::bytes ? *size : wire_size(tensor);
  if (*size != expected)
    bad_request(what + ": " + describe(tensor.type, tensor.shape) + " has " +
                std::to_string(expected) + " bytes, binary_data_size is " + std::to_string(*size));
  tensor.bytes = rest.take(*size);
  return tensor;
}

WantedOutput parse_output(const json::value& value, std::size_t at, bool binary) {
  const auto& object = object_of(value, "output " + std::to_string(at));
  WantedOutput output;
  output.name = text_of(object, "name", "output " + std::to_string(at));
  const auto what = "output '" + printable(output.name) + "'";
  const auto* parameters = parameters_of(object, what);
  refuse_unsupported(parameters, what);
  output.binary = flag(parameters, "binary_data", binary, what);
  return output;
}

const json::array* list_of(const json::object& object, std::string_view name) {
  const auto* value = member(object, name);
  if (!value || value->is_null()) return nullptr;
  if (const auto* list = value->if_array()) return list;
  bad_request("'" + std::string(name) + "': expected an array");
}

void parse_parameters(const json::object& root, InferRequest& request) {
  const auto* parameters = parameters_of(root, "request");
  refuse_unsupported(parameters, "request");
  request.binary_outputs = flag(parameters, "binary_data_output", false, "request");
  if (const auto timeout = number(parameters, "timeout", "request"); timeout && *timeout > 0) {
    constexpr std::uint64_t day_us = 86'400'000'000;
    request.timeout = std::chrono::microseconds(std::min(*timeout, day_us));
  }
}

std::string_view json_of(const Body& body, std::optional<std::size_t> json_length) {
  const auto* text = reinterpret_cast<const char*>(body.bytes.data());
  return {text, std::min(json_length.value_or(body.bytes.size()), body.bytes.size())};
}

}  // namespace

std::uint64_t bytes_to_parse(const Body& body, std::optional<std::size_t> json_length) {
  return bytes_to_parse(json_of(body, json_length));
}

std::uint64_t bytes_apart(const InferRequest& request, const Body& body) {
  std::uint64_t bytes = request.id.size();
  for (const auto& input : request.inputs) {
    const auto* begin = input.bytes.data();
    const bool is_part =
        begin >= body.bytes.data() && begin < body.bytes.data() + body.bytes.size();
    if (!is_part) bytes += input.bytes.size();
  }
  return bytes;
}

InferRequest parse_infer(const Body& body, std::optional<std::size_t> json_length) {
  if (json_length && *json_length > body.bytes.size())
    bad_request("Inference-Header-Content-Length is " + std::to_string(*json_length) +
                ", but the body has " + std::to_string(body.bytes.size()) + " bytes");
  const auto text = json_of(body, json_length);
  json::monotonic_resource memory;
  const auto document = parse_document(text, &memory);
  const auto& root = object_of(document.root, "request");
  InferRequest request;
  if (member(root, "id")) request.id = text_of(root, "id", "request");
  parse_parameters(root, request);
  const auto* inputs = list_of(root, "inputs");
  if (!inputs) bad_request("request: expected an array 'inputs'");
  UnreadBytes rest{body.block, body.bytes.subspan(text.size())};
  for (const auto& each : *inputs)
    request.inputs.push_back(parse_input(document, each, request.inputs.size(), rest));
  if (!rest.bytes.empty())
    bad_request(std::to_string(rest.bytes.size()) +
                " bytes follow the JSON that no input asks for");
  if (const auto* outputs = list_of(root, "outputs"))
    for (const auto& each : *outputs)
      request.outputs.push_back(parse_output(each, request.outputs.size(), request.binary_outputs));
  return request;
}

bool wants_binary(const InferRequest& request, std::string_view name) {
  for (const auto& each : request.outputs)
    if (each.name == name) return each.binary;
  return request.binary_outputs;
}

namespace {

void append_output(EncodedAnswer& encoded, WireTensor&& output, bool binary) {
  auto& text = encoded.json;
  text += R"({"name":)" + json_text(output.name) + R"(,"datatype":")";
  text += to_string(output.type);
  text += R"(","shape":[)";
  for (std::size_t i = 0; i < output.shape.size(); ++i)
    text += (i > 0 ? "," : "") + std::to_string(output.shape[i]);
  if (binary) {
    text += R"(],"parameters":{"binary_data_size":)" + std::to_string(output.bytes.size()) + "}}";
    encoded.binary.push_back(std::move(output.bytes));
    return;
  }
  text += R"(],"data":)";
  write_elements(text, output);
  text += '}';
}

}  // namespace

EncodedAnswer encode_answer(InferAnswer&& answer, const InferRequest& request) {
  EncodedAnswer encoded;
  auto& text = encoded.json;
  text = R"({"model_name":)" + json_text(answer.model) + R"(,"model_version":)" +
         json_text(answer.version);
  if (!answer.id.empty()) text += R"(,"id":)" + json_text(answer.id);
  text += R"(,"outputs":[)";
  for (auto& output : answer.outputs) {
    if (&output != &answer.outputs.front()) text += ',';
    const bool binary = wants_binary(request, output.name);
    append_output(encoded, std::move(output), binary);
  }
  text += "]}";
  return encoded;
}

std::string encode_error(std::string_view message) {
  return R"({"error":)" + json_text(message) + "}";
}

std::string json_text(std::string_view text) {
  const std::string clean = printable(text, std::numeric_limits<std::size_t>::max());
  return json::serialize(json::string_view(clean));
}

}  // namespace polychron::server
