// Random programs of WebNN calls, what each must come out as, and a runner that makes the calls on
// a World. The oracle carries a program out one call after the other, which is what the content
// timeline promises; whatever the schedule, the runtime must agree.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ops/graph.hpp"
#include "stress/world.hpp"

namespace polychron::stress {

/// A graph that only its label and its number of inputs ("in0", "in1", ...; output "out") describe,
/// on tensors like `value_descriptor`: enough for the symbolic backend.
std::shared_ptr<const ops::Graph> symbolic_graph(const std::string& label, std::size_t inputs);
inline const TensorDescriptor value_descriptor{{DataType::uint64, {1}}, true, true, {}};

/// One call. Tensors and graphs are named by small numbers.
struct Call {
  enum class Kind : std::uint8_t { create, write, dispatch, read, destroy };
  Kind kind = Kind::create;
  std::size_t tensor = 0;           ///< created, written, read, destroyed; the output of a dispatch
  std::vector<std::size_t> inputs;  ///< of a dispatch
  std::size_t graph = 0;            ///< of a dispatch: how many inputs it takes, less one
  std::uint64_t value = 0;          ///< written
};
std::string to_string(const Call& call);

/// A program is valid by construction: it uses live tensors only, and never one twice in a
/// dispatch.
using Program = std::vector<Call>;
Program random_program(std::uint64_t seed, std::size_t calls);
std::string to_string(const Program& program);

/// What a read may give.
struct Expectation {
  std::uint64_t value = 0;
  /// Destroyed later in the program: whether the read is answered first is up to the schedule.
  bool may_be_rejected = false;
};
/// One for each read, in order.
std::vector<Expectation> expected_reads(const Program& program);

/// Carries `program` out on `world` without waiting for anything, then lets the world run.
/// Returns the first disagreement with the oracle, or nullopt.
std::optional<std::string> run_program(World& world, const Program& program,
                                       const ContextOptions& options = {});

}  // namespace polychron::stress
