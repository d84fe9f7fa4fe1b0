// The compiler protocol: a graph description in, a plan out.
#pragma once

#include "messages/ids.hpp"
#include "messages/inspect.hpp"
#include "ops/graph.hpp"
#include "polychron/future.hpp"
#include "polychron/graph.hpp"

namespace polychron::msg {

/// What a successful build tells the caller.
struct Built {
  NamedDescriptors inputs, outputs;
  std::vector<std::string> plan;
  std::size_t constant_bytes = 0;
  std::size_t arena_bytes = 0;
};

/// From the context: compile `description`; answer `compiled` to the context.
struct compile {
  GraphId graph = 0;
  Local<std::shared_ptr<const ops::Graph>> description;
  Local<Promise<Built>> reply;
};

}  // namespace polychron::msg

namespace polychron {
using compiler_actor = caf::typed_actor<caf::reacts_to<msg::compile>>;
}
