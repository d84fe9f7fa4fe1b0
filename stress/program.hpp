// What clients do: lists of calls of the API, as values that can be drawn at random, shrunk, and
// written down.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "polychron/error.hpp"
#include "stress/fault_backend.hpp"

namespace polychron::stress {

enum class Kind : std::uint8_t {
  create,           ///< `tensor`, from here on
  constant,         ///< likewise, holding `value`
  write,            ///< `value`; way 1: the buffer is moved
  dispatch,         ///< `graph` of `inputs`, into `tensor`
  compute,          ///< `graph` on buffers of `value` and the like
  read,             ///< way 1: into a buffer; way 2: into borrowed memory
  query,            ///< the tensor's error
  lend,             ///< way 1: LeaseMode::fail
  give_back,        ///< the client's first lease of `tensor`, after writing `value` (0: nothing)
  push_scope,       ///< way: the filter
  pop_scope,        ///<
  pending,          ///<
  cancel,           ///< `cancellation`
  destroy_tensor,   ///<
  build,            ///< one more graph, and destroy it
  destroy_graph,    ///< `graph`
  destroy_context,  ///<
};
inline constexpr std::size_t kinds = 17;

/// What there may be no memory for, or what may need some when it is carried out.
bool takes_bytes(Kind kind);

/// One call, of things that have small numbers.
struct Call {
  Kind kind = Kind::read;
  std::size_t tensor = 0;
  std::vector<std::size_t> inputs = {};
  std::size_t graph = 0;
  std::uint64_t value = 0;
  unsigned way = 0;
  unsigned deadline = 0;      ///< so many milliseconds after the beginning; 0: none
  unsigned cancellation = 0;  ///< number of the one that it listens to, or cancels; 0: none
  std::size_t context = 0;
  /// A tensor, or of a compute the graph, is the next context's; of a dispatch the output (way 0),
  /// an input (way 1), or the graph (way 2).
  bool foreign = false;
  /// The client's next call is made by a callback of this one's reply; the client goes on with the
  /// one after that.
  bool then = false;
  friend bool operator==(const Call&, const Call&) = default;
};

/// The `nth` call of `point` fails, counted from when the clients begin.
struct PlannedFault {
  FaultPoint point = FaultPoint::execute;
  std::uint64_t nth = 1;
  ErrorKind kind = ErrorKind::out_of_memory;
  bool inherent = false;
  bool throws = false;
  std::size_t context = 0;
  friend bool operator==(const PlannedFault&, const PlannedFault&) = default;
};

/// Who computes: the symbolic backend, or the processor's kernels.
enum class Computes : std::uint8_t { symbolic, real };

/// More than a drawn program takes at once.
inline constexpr std::uint64_t enough_places = 64;
inline constexpr std::uint64_t enough_bytes = ~std::uint64_t{0};

/// Clients that share contexts. Each has `tensors` tensors, and two graphs: g0 of one input, g1 of
/// two.
struct Program {
  Computes backend = Computes::symbolic;
  int lanes = 1;
  std::uint64_t max_in_flight = enough_places;
  /// Of the context's memory limit: what is left of it when the clients begin.
  std::uint64_t spare_bytes = enough_bytes;
  bool blocks = true;       ///< AdmissionPolicy::block
  bool interrupts = false;  ///< handlers may be interrupted between what they send
  std::size_t contexts = 1;
  std::size_t tensors = 3;
  std::vector<PlannedFault> faults = {};
  std::vector<std::vector<Call>> clients = {};

  std::size_t calls() const;
  bool has(Kind kind) const;
  /// Calls may have to wait for a place, or be refused one.
  bool few_places() const { return max_in_flight < enough_places; }
  /// The context has a limit of bytes.
  bool few_bytes() const { return spare_bytes < enough_bytes; }
  /// Calls may be refused memory, and writes may have to wait for it: all that is made may be more.
  bool may_lack_bytes() const;
  friend bool operator==(const Program&, const Program&) = default;
};

/// What random programs are like; each drawn one uses a part of it (swarm testing: Groce et al.,
/// ISSTA 2012), so that rare things meet often in some.
struct Swarm {
  std::size_t clients = 3, calls = 24;  ///< at most
  int lanes = 3;
  /// What may fail; more often what is named more often.
  std::vector<FaultPoint> faults = {FaultPoint::allocate, FaultPoint::adopt,   FaultPoint::read,
                                    FaultPoint::compile,  FaultPoint::execute, FaultPoint::execute};
  Computes backend = Computes::symbolic;
};

Program random_program(std::uint64_t seed, const Swarm& swarm = {});

/// What of `program` is about one of its contexts, as a program of its own.
Program part_of(const Program& program, std::size_t context);

/// "allocation", "adoption", "read", "build", "instantiation", "execution".
std::string_view to_string(FaultPoint point) noexcept;
inline constexpr std::array fault_points{FaultPoint::allocate,    FaultPoint::adopt,
                                         FaultPoint::read,        FaultPoint::compile,
                                         FaultPoint::instantiate, FaultPoint::execute};

std::string to_string(const Call& call);
/// A line for each call.
std::string to_string(const Program& program);

/// What all calls of `client` number `index` are labelled with: "c1.4".
std::string label_of(std::size_t client, std::size_t index);

}  // namespace polychron::stress
