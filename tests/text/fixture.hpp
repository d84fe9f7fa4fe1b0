// The tiny model, loaded, and prompts.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>

#include "polychron/runtime.hpp"
#include "polychron/text.hpp"
#include "tests/text/tiny_model.hpp"

namespace text_tests {

/// A prompt of `length` tokens, none of which merge.
inline std::string prompt_of(std::size_t length) {
  std::string prompt;
  for (std::size_t i = 0; i < length; ++i) prompt += static_cast<char>('A' + i * i % 26);
  return prompt;
}

/// POLYCHRON_SEED, or a new one. A test prints it.
inline std::uint64_t seed_of_run() {
  const char* const given = std::getenv("POLYCHRON_SEED");
  return given == nullptr ? std::random_device()() : std::strtoull(given, nullptr, 10);
}

struct ModelFixture {
  polychron::Runtime runtime;
  polychron::Context context = runtime.create_context().get();
  TinyModel tiny;
  TemporaryFile file{tiny.file().bytes()};
  polychron::text::Model model =
      polychron::text::Model::load(context, file.path(), {.label = "tiny"});
};

}  // namespace text_tests
