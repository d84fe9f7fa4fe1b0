// Invariants of every graph between passes and of every plan, checked in every build. A pass that
// breaks one fails the compilation of one graph with a message, and never computes a wrong result.
#pragma once

#include "kernels/cpu/plan_graph.hpp"

namespace polychron::kernels {

/// Checks PlanGraph's invariants: nodes stand in an order in which they can run, each value is made
/// once, and operands fit their operator. A node reads inputs, constants and values made before.
/// Throws BrokenInvariant, which names `pass`, the last one to have rewritten the graph.
void check_graph(const PlanGraph& graph, std::string_view pass);

/// A range of bytes of the arena.
struct Stretch {
  std::size_t begin = 0, end = 0;
};

/// Follows a plan's steps and tracks the contents of the arena.
class ArenaCheck {
 public:
  /// Records that `content` now lies there. Earlier contents that overlap are lost.
  void write(Stretch at, std::size_t content);
  /// Throws BrokenInvariant unless the whole of `content` still lies there.
  void read(Stretch at, std::size_t content) const;

 private:
  struct Held {
    Stretch at;
    std::size_t content;
  };
  std::vector<Held> held_;
};

}  // namespace polychron::kernels
