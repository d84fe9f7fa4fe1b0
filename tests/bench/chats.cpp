// Generations of a language model at once: a line of JSON for each count, for bench-text.sh.
// Usage: bench_chats MODEL.gguf CORES COUNT...
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "polychron/runtime.hpp"
#include "polychron/text.hpp"

namespace {

using Clock = std::chrono::steady_clock;

double milliseconds(Clock::duration time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

void measure(const polychron::text::Model& model, std::size_t count) {
  std::vector<std::vector<Clock::time_point>> texts(count);
  std::vector<polychron::Future<polychron::text::Generated>> all;
  const auto start = Clock::now();
  for (std::size_t i = 0; i < count; ++i)
    all.push_back(model.generate(
        "The history of computing machines number " + std::to_string(i) + " begins with",
        {.max_tokens = 64,
         .on_text = [&text = texts[i]](std::string_view) { text.push_back(Clock::now()); }}));
  std::size_t tokens = 0;
  for (auto& each : all) tokens += each.get().tokens.size();
  const auto took = milliseconds(Clock::now() - start);
  std::vector<double> gaps{0};
  for (const auto& text : texts)
    for (std::size_t i = 1; i < text.size(); ++i)
      gaps.push_back(milliseconds(text[i] - text[i - 1]));
  std::ranges::sort(gaps);
  std::cout << "{\"chats\": " << count
            << ", \"tokens_per_second\": " << static_cast<double>(tokens) * 1000 / took
            << ", \"median_ms\": " << gaps[gaps.size() / 2]
            << ", \"p99_ms\": " << gaps[gaps.size() * 99 / 100] << "}" << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  polychron::Runtime runtime;
  const auto context = runtime.create_context({.cores = std::atoi(argv[2])}).get();
  const auto model = polychron::text::Model::load(context, argv[1]);
  model.generate("A", {.max_tokens = 1}).get();  // brings the weights into memory
  for (int i = 3; i < argc; ++i) measure(model, static_cast<std::size_t>(std::atoi(argv[i])));
}
