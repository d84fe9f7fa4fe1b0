// The protocol's HTTP form: JSON, with binary tensors behind it if a client wants.
// Source: kserve/open-inference-protocol, and Triton's extension binary_tensor_data.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/message.hpp"

namespace polychron::server {

/// Parses a body of which the first `json_length` bytes are JSON; the rest are the inputs with the
/// parameter binary_data_size, in their order. Absent: all is JSON. Binary inputs keep the body's
/// block and are not copied. Throws Refusal.
InferRequest parse_infer(const Body& body, std::optional<std::size_t> json_length);

/// The memory that parse_infer() takes at most, apart from strings and the tensors that it makes.
std::uint64_t bytes_to_parse(const Body& body, std::optional<std::size_t> json_length);

/// The bytes of the request that are not parts of its body.
std::uint64_t bytes_apart(const InferRequest& request, const Body& body);

/// True if the output is to be bytes behind the JSON.
bool wants_binary(const InferRequest& request, std::string_view name);

/// An answer's body: JSON, and the outputs that follow it as bytes.
struct EncodedAnswer {
  std::string json;
  std::vector<Buffer> binary;
};

/// Takes over the bytes of the binary outputs. Throws Refusal (bad_request): a string that is to be
/// JSON and is not UTF-8. JSON has no NaN and no infinity: as Triton does, it writes NaN,
/// Infinity and -Infinity.
EncodedAnswer encode_answer(InferAnswer&& answer, const InferRequest& request);

/// {"error": "..."}
std::string encode_error(std::string_view message);

/// `text` as a JSON string, with its quotes.
std::string json_text(std::string_view text);

}  // namespace polychron::server
