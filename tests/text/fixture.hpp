// The tiny model, loaded.
#pragma once

#include "polychron/runtime.hpp"
#include "polychron/text.hpp"
#include "tests/text/tiny_model.hpp"

namespace text_tests {

struct ModelFixture {
  polychron::Runtime runtime;
  polychron::Context context = runtime.create_context().get();
  TinyModel tiny;
  TemporaryFile file{tiny.file().bytes()};
  polychron::text::Model model =
      polychron::text::Model::load(context, file.path(), {.label = "tiny"});
};

}  // namespace text_tests
