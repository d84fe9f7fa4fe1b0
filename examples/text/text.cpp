// A chat with a language model: prints the answer to a question as it comes. docs/text.md quotes
// it. Usage: polychron_text_example MODEL.gguf QUESTION
#include <cstdio>
#include <polychron/polychron.hpp>
#include <polychron/text.hpp>
#include <string_view>
#include <vector>

using namespace polychron;

int main(int argc, char** argv) try {
  if (argc != 3)
    return std::fputs("usage: polychron_text_example MODEL.gguf QUESTION\n", stderr), 2;
  Runtime runtime;
  const auto context = runtime.create_context().get();
  const auto print = [](std::string_view piece) {
    std::fwrite(piece.data(), 1, piece.size(), stdout);
    std::fflush(stdout);
  };
  const auto model = text::Model::load(context, argv[1]);
  const std::vector<text::Message> chat{{"user", argv[2]}};
  const auto answer = model.generate(chat, {.max_tokens = 100, .on_text = print}).get();
  std::printf("\n%u + %zu tokens\n", answer.prompt_tokens, answer.tokens.size());
} catch (const polychron::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
