// polychron generate: continues a prompt by a language model, and prints the text as it comes.
#include <algorithm>
#include <chrono>
#include <iomanip>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apps/tool/arguments.hpp"
#include "apps/tool/commands/commands.hpp"
#include "apps/tool/printable.hpp"
#include "apps/tool/progress.hpp"
#include "polychron/runtime.hpp"
#include "polychron/text.hpp"

namespace tool {
namespace {

using Clock = std::chrono::steady_clock;

struct TextOptions {
  std::string model, prompt, cache;
  bool raw = false, time = false;
  int cores = 0;
  polychron::text::LoadOptions load;
  polychron::text::GenerateOptions generate;
};

constexpr const char* generate_footer =
    R"(MODEL is a GGUF file, or a folder with an ONNX export and its tokenizer.json (docs/text.md).
If it has a chat template that is known, PROMPT is a user's message, else the beginning of the text.
Without --temperature the most probable token comes each time. Control characters in the text are
printed as \x1b.

Examples:
  polychron generate SmolLM2-135M-Instruct.Q4_1.gguf "What is an actor?"
  polychron generate Qwen2.5-0.5B-Instruct "What is an actor?"
  polychron generate model.gguf "Once upon a time" --raw --temperature 0.8 --top-p 0.9 --seed 7)";

/// Line breaks and tabs stay.
void print_text(std::string_view piece) {
  while (!piece.empty()) {
    const auto end = std::min(piece.find_first_of("\n\t"), piece.size());
    std::cout << printable(piece.substr(0, end));
    if (end < piece.size()) std::cout << piece[end];
    piece.remove_prefix(std::min(end + 1, piece.size()));
  }
  std::cout << std::flush;
}

double seconds_from(Clock::time_point begin, Clock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
}

void generate_text(TextOptions options, bool force_progress) {
  Progress progress(force_progress);
  progress.show("loading the model");
  polychron::Runtime runtime;
  const auto context = runtime.create_context({.cores = options.cores}).get();
  options.load.chats = 1;
  if (!options.cache.empty())
    options.load.cache_type =
        options.cache == "float16" ? polychron::DataType::float16 : polychron::DataType::float32;
  const auto model = polychron::text::Model::load(context, options.model, options.load);
  progress.clear();
  const auto begin = Clock::now();
  auto first = begin;
  options.generate.on_text = [&](std::string_view piece) {
    if (first == begin) first = Clock::now();
    print_text(piece);
  };
  const auto begun = [&] {
    if (!model.has_chat() || options.raw) return model.generate(options.prompt, options.generate);
    const std::vector<polychron::text::Message> chat{{"user", options.prompt}};
    return model.generate(chat, options.generate);
  };
  const auto generated = begun().get();
  std::cout << std::endl;
  if (!options.time) return;
  const auto rest = seconds_from(first, Clock::now());
  const auto tokens = generated.tokens.size();
  std::cerr << std::fixed << std::setprecision(2) << generated.prompt_tokens
            << " tokens of the prompt, first text after " << seconds_from(begin, first) << " s; "
            << tokens << " tokens of the text, "
            << (tokens > 1 ? static_cast<double>(tokens - 1) / rest : 0) << " per second\n";
}

void add_sampling_options(CLI::App& command, polychron::text::GenerateOptions& options) {
  command.add_option("--max-tokens", options.max_tokens, "The most tokens of the text")
      ->check(whole_number(1, 1U << 20U))
      ->type_name("N")
      ->capture_default_str();
  command.add_option("--temperature", options.temperature, "Choose tokens at random; 0: do not")
      ->check(between(0, 100))
      ->type_name("T")
      ->capture_default_str();
  command.add_option("--top-k", options.top_k, "Choose among the N most probable; 0: all")
      ->check(whole_number(0, 1U << 20U))
      ->type_name("N")
      ->capture_default_str();
  command.add_option("--top-p", options.top_p, "Choose among those with this probability together")
      ->check(between(1e-9, 1))
      ->type_name("P")
      ->capture_default_str();
  command.add_option("--seed", options.seed, "The same seed gives the same text")
      ->check(whole_number())
      ->type_name("N")
      ->capture_default_str();
  command.add_option("--stop", options.stop, "End in front of this text; may be repeated")
      ->check(not_empty("a text"))
      ->type_name("TEXT");
}

}  // namespace

void add_generate(CLI::App& app, const Globals& globals) {
  const auto options = std::make_shared<TextOptions>();
  auto* command = app.add_subcommand("generate", "Continue a prompt by a language model");
  command->footer(generate_footer);
  command->add_option("MODEL", options->model, "GGUF file, or folder of an ONNX model")
      ->required()
      ->check(not_empty("a file"));
  command->add_option("PROMPT", options->prompt, "Text to answer or to continue")
      ->required()
      ->check(not_empty("a text"));
  command->add_flag("--raw", options->raw,
                    "Continue PROMPT itself, not a chat that begins with it");
  add_sampling_options(*command, options->generate);
  command
      ->add_option("--context-length", options->load.context_length,
                   "Tokens of prompt and text together, at most")
      ->check(whole_number(2, 1U << 20U))
      ->type_name("N")
      ->capture_default_str();
  command
      ->add_option("--cache", options->cache, "Keys and values between steps: float32 or float16")
      ->check(one_of({"float32", "float16"}))
      ->type_name("TYPE");
  command->add_option("--cores", options->cores, "Cores that work together; 0: all")
      ->check(whole_number(0, 1024))
      ->type_name("N")
      ->capture_default_str();
  command->add_flag("--time", options->time, "Print tokens per second to standard error");
  command->callback([options, &globals] { generate_text(*options, globals.progress); });
}

}  // namespace tool
