#include "apps/text/chat.hpp"

#include <string>

#include "polychron/invariant.hpp"

namespace polychron::text::detail {

namespace {

std::vector<Segment> chatml(const std::vector<Message>& chat) {
  std::vector<Segment> prompt;
  for (const auto& message : chat) {
    prompt.push_back({"<|im_start|>", true});
    prompt.push_back({message.role});
    prompt.push_back({"\n"});
    prompt.push_back({message.content});
    prompt.push_back({"<|im_end|>\n", true});
  }
  prompt.push_back({"<|im_start|>assistant\n", true});
  return prompt;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view space = " \t\r\n";
  const auto begin = text.find_first_not_of(space);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(space) + 1 - begin);
}

/// There is no turn of the system: its words go in front of the next user's.
std::vector<Segment> gemma(const std::vector<Message>& chat) {
  std::vector<Segment> prompt, system;
  for (const auto& message : chat) {
    if (message.role == "system") {
      system.push_back({trimmed(message.content)});
      system.push_back({"\n\n"});
      continue;
    }
    prompt.push_back({"<start_of_turn>", true});
    prompt.push_back({message.role == "assistant" ? "model" : std::string_view(message.role)});
    prompt.push_back({"\n"});
    if (message.role != "assistant") {
      prompt.insert(prompt.end(), system.begin(), system.end());
      system.clear();
    }
    prompt.push_back({trimmed(message.content)});
    prompt.push_back({"<end_of_turn>\n", true});
  }
  prompt.push_back({"<start_of_turn>model\n", true});
  return prompt;
}

}  // namespace

ChatTemplate chat_template(const Gguf& gguf, const Tokenizer& tokenizer) {
  const auto* const written = gguf.find<std::string>("tokenizer.chat_template");
  const auto has = [&](std::string_view begin, std::string_view end) {
    return written != nullptr && written->find(begin) != std::string::npos &&
           tokenizer.find(begin) && tokenizer.find(end);
  };
  if (has("<|im_start|>", "<|im_end|>")) return ChatTemplate::chatml;
  return has("<start_of_turn>", "<end_of_turn>") ? ChatTemplate::gemma : ChatTemplate::none;
}

std::vector<Segment> chat_prompt(ChatTemplate kind, const std::vector<Message>& chat) {
  check_invariant(kind != ChatTemplate::none, "a prompt of a chat has a template");
  return kind == ChatTemplate::chatml ? chatml(chat) : gemma(chat);
}

}  // namespace polychron::text::detail
