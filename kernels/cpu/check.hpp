// What holds of every graph between passes and of every plan, looked at in every build: a pass that
// breaks it breaks the build of one graph, with a message, and never computes something else.
#pragma once

#include "kernels/cpu/plan_graph.hpp"

namespace polychron::kernels {

/// PlanGraph's invariants: nodes are in an order in which they can run, a value is made once, what
/// a node reads is an input, a constant or made before, and operands fit their operator. Throws
/// BrokenInvariant, which names `pass`, the last to have rewritten the graph.
void check_graph(const PlanGraph& graph, std::string_view pass);

/// A stretch of the arena.
struct Stretch {
  std::size_t begin = 0, end = 0;
};

/// Walks through a plan's steps and knows what each byte of the arena holds meanwhile.
class ArenaCheck {
 public:
  /// Now `content` lies there, and what lay there before is lost.
  void write(Stretch at, std::size_t content);
  /// Throws BrokenInvariant unless `content` still lies there, whole.
  void read(Stretch at, std::size_t content) const;

 private:
  struct Held {
    Stretch at;
    std::size_t content;
  };
  std::vector<Held> held_;
};

}  // namespace polychron::kernels
