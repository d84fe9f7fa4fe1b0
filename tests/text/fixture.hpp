// The tiny model, loaded, and prompts.
#pragma once

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

struct ModelFixture {
  polychron::Runtime runtime;
  polychron::Context context = runtime.create_context().get();
  TinyModel tiny;
  TemporaryFile file{tiny.file().bytes()};
  polychron::text::Model model =
      polychron::text::Model::load(context, file.path(), {.label = "tiny"});
};

}  // namespace text_tests
