#include "apps/text/chat.hpp"

namespace polychron::text::detail {

bool has_chatml(const Gguf& gguf, const Tokenizer& tokenizer) {
  const auto* const written = gguf.find<std::string>("tokenizer.chat_template");
  return written != nullptr && written->find("<|im_start|>") != std::string::npos &&
         tokenizer.find("<|im_start|>") && tokenizer.find("<|im_end|>");
}

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

}  // namespace polychron::text::detail
