// A target of libFuzzer: everything that reads bytes of clients, without a socket, and a folder's
// tokenizer.json. The first byte chooses. An exception other than a refusal is a finding.
#include <cstdint>
#include <string>

#include "models/config.hpp"
#include "models/word_piece.hpp"
#include "protocol/compression.hpp"
#include "protocol/json.hpp"
#include "protocol/openai.hpp"
#include "protocol/repository_call.hpp"
#include "protocol/target.hpp"

using namespace polychron;
using namespace polychron::server;

namespace {

/// An accepted request is answered with its own inputs, in both forms.
void infer(std::string text, std::optional<std::size_t> json_length) {
  auto block = std::make_shared<std::string>(std::move(text));
  const Body body{block, std::as_writable_bytes(std::span(block->data(), block->size()))};
  auto request = parse_infer(body, json_length);
  InferAnswer answer{"m", "1", request.id, {}};
  for (auto& input : request.inputs) {
    auto operand = to_operand(input.type, std::move(input.bytes));
    answer.outputs.push_back(
        {input.name, input.type, input.shape, from_operand(input.type, std::move(operand))});
  }
  encode_answer(std::move(answer), request);
}

/// At most 1 MiB.
void unpack(const std::string& text) {
  std::vector<std::byte> space(1000);
  decompress(std::as_bytes(std::span(text)), [&, all = std::size_t{0}](std::size_t used) mutable {
    if ((all += used) > 1 << 20) throw too_large("the text", all, 1 << 20);
    return std::span(space);
  });
}

/// The file's own words in a text, with characters of every kind.
void cut(const std::string& text) {
  constexpr std::size_t most = 64;
  const WordPiece tokenizer(text);
  const auto words = printable(text, 200);
  for (const auto& each : {words, std::string("Hello [MASK] na\u00efve \u4e2d\u6587 \ufffd\t!")}) {
    const auto tokens = tokenizer.encode(each, most);
    if (tokens.size() > most) __builtin_trap();
    for (const auto token : tokens)
      if (token >= tokenizer.size()) __builtin_trap();
  }
}

void run(std::uint8_t choice, const std::string& text) {
  switch (choice % 8) {
    case 0:
      return infer(text, std::nullopt);
    case 1:
      return infer(text, text.size() / 2 + choice / 8U);
    case 2:
      return static_cast<void>(parse_target(text));
    case 3:
      return unpack(text);
    case 5:
      return check_repository_body(text);
    case 6:
      return static_cast<void>(parse_completion(text, choice & 128U, 1));
    case 7:
      return cut(text);
    default:
      parse_config(text, {}, "'fuzz'");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  try {
    run(data[0], std::string(reinterpret_cast<const char*>(data) + 1, size - 1));
  } catch (const Refusal& refusal) {
    if (refusal.message().find('\n') != std::string::npos) __builtin_trap();
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::internal) __builtin_trap();
  }
  return 0;
}
