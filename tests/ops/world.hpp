// A runtime with one context, for tests of the builder.
#pragma once

#include "polychron/polychron.hpp"

namespace polychron::testing {

struct World {
  Runtime runtime;
  Context context = runtime.create_context().get();
};

}  // namespace polychron::testing
