// A server with the tiny language model of tests/text, and requests of it.
#pragma once

#include <boost/json/parse.hpp>

#include "../../../tests/text/tiny_model.hpp"
#include "../../../tests/text/tiny_onnx.hpp"
#include "rig.hpp"

namespace polychron::server::tests {

inline const std::string chat_path = "/v1/chat/completions", prompt_path = "/v1/completions";

/// The bytes of a model whose most probable text never ends by itself.
inline std::string endless_model() {
  text_tests::TinyModel tiny;
  auto& table = tiny.weights.at("token_embd.weight");
  std::fill(table.end() - 2 * text_tests::TinyModel::width, table.end(), 0.0F);
  auto file = tiny.file();
  file.value("llama.context_length") =
      text_tests::Bytes{}.number(std::uint32_t{text_tests::u32}).number(std::uint32_t{1} << 20U);
  return file.bytes();
}

struct TextRig : Rig {
  explicit TextRig(const std::string& config = {},
                   const std::function<void(ServerOptions&)>& change = {})
      : Rig({"simple"}, change) {
    folder.write("tiny.gguf", endless_model());
    if (!config.empty()) folder.write("tiny.json", config);
    look();
  }
  TextMetrics& counts() const { return model("tiny")->metrics()->text(); }
  /// The text that the library gives for the request.
  text::Generated expected(const std::string& prompt, std::uint32_t tokens) const {
    return model("tiny")->engine().language_model()->generate(prompt, {.max_tokens = tokens}).get();
  }
  double answered(const std::string& status) const {
    const auto metrics = app->service().metrics.text();
    const auto line = "polychron_requests_total{model=\"tiny\",status=\"" + status + "\"} ";
    const auto at = metrics.find(line);
    return at == std::string::npos ? 0 : std::stod(metrics.substr(at + line.size()));
  }
};

/// So many tokens that the test ends the generation.
inline const std::string long_context = R"({"context_length":16384,"in_flight":2,"chats":1})";
inline const std::string endless_tokens = R"(,"max_tokens":16000)";

inline std::string prompt_request(const std::string& more) {
  return R"({"model":"tiny","prompt":"hello","temperature":0)" + more + "}";
}
inline std::string chat_request(const std::string& more) {
  return R"({"model":"tiny","messages":[{"role":"user","content":"hello"}],"temperature":0)" +
         more + "}";
}

inline boost::json::value json_in(const Response& response) {
  return boost::json::parse(response.body);
}

inline std::string string_of(const boost::json::value& value) {
  return {value.as_string().data(), value.as_string().size()};
}

}  // namespace polychron::server::tests
