// Calls of the API as values, which can be drawn at random, shrunk and written down: the programs
// of clients.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "observe/stress/fault_backend.hpp"
#include "polychron/error.hpp"

namespace polychron::stress {

enum class Kind : std::uint8_t {
  create,           ///< makes `tensor`
  constant,         ///< makes `tensor`, which holds `value`
  write,            ///< `value`; way 1: the buffer is moved
  dispatch,         ///< `graph` of `inputs`, into `tensor`
  compute,          ///< `graph` on buffers of `value` and values near it
  read,             ///< way 1: into a buffer; way 2: into borrowed memory
  query,            ///< asks for the tensor's error
  lend,             ///< way 1: LeaseMode::fail
  give_back,        ///< the client's first lease of `tensor`, after writing `value` (0: nothing)
  push_scope,       ///< way: the filter
  pop_scope,        ///<
  pending,          ///<
  cancel,           ///< `cancellation`
  destroy_tensor,   ///<
  build,            ///< builds another graph, and destroys it
  destroy_graph,    ///< `graph`
  destroy_context,  ///<
};
inline constexpr std::size_t kinds = 17;

/// A call of this kind may be refused memory, or may need some when it is carried out.
bool takes_bytes(Kind kind);

/// One call. Small numbers stand for its objects.
struct Call {
  Kind kind = Kind::read;
  std::size_t tensor = 0;
  std::vector<std::size_t> inputs = {};
  std::size_t graph = 0;
  std::uint64_t value = 0;
  unsigned way = 0;
  unsigned deadline = 0;      ///< milliseconds after the beginning; 0: none
  unsigned cancellation = 0;  ///< number of the one that it listens to, or cancels; 0: none
  std::size_t context = 0;
  /// An operand is the next context's. Of a compute it is the graph. Of a dispatch it is the output
  /// (way 0), an input (way 1), or the graph (way 2). Of other calls it is the tensor.
  bool foreign = false;
  /// A callback of this call's reply makes the client's next call. The client goes on with the one
  /// after that.
  bool then = false;
  friend bool operator==(const Call&, const Call&) = default;
};

/// The `nth` call of `point` fails, counted from the moment when the clients begin.
struct PlannedFault {
  FaultPoint point = FaultPoint::execute;
  std::uint64_t nth = 1;
  ErrorKind kind = ErrorKind::out_of_memory;
  bool inherent = false;
  bool throws = false;
  std::size_t context = 0;
  friend bool operator==(const PlannedFault&, const PlannedFault&) = default;
};

/// The backend: symbolic, or the processor's kernels.
enum class Computes : std::uint8_t { symbolic, real };

/// More than a drawn program takes at once.
inline constexpr std::uint64_t enough_places = 64;
inline constexpr std::uint64_t enough_bytes = ~std::uint64_t{0};

/// Clients that share contexts. Each context has `tensors` tensors and two graphs: g0 of one input,
/// g1 of two.
struct Program {
  Computes backend = Computes::symbolic;
  int lanes = 1;
  std::uint64_t max_in_flight = enough_places;
  /// The part of the context's memory limit that is free when the clients begin.
  std::uint64_t spare_bytes = enough_bytes;
  bool blocks = true;       ///< AdmissionPolicy::block
  bool interrupts = false;  ///< other steps may run between a handler's sends
  bool late = false;        ///< the device works by itself: see LateBackend
  std::size_t contexts = 1;
  std::size_t tensors = 3;
  std::vector<PlannedFault> faults = {};
  std::vector<std::vector<Call>> clients = {};

  std::size_t calls() const;
  bool has(Kind kind) const;
  /// Calls may have to wait for a permit, or be refused one.
  bool few_places() const { return max_in_flight < enough_places; }
  /// The context has a limit of bytes.
  bool few_bytes() const { return spare_bytes < enough_bytes; }
  /// Calls may be refused memory, and writes may have to wait for it: the program may make more
  /// than fits.
  bool may_lack_bytes() const;
  friend bool operator==(const Program&, const Program&) = default;
};

/// The features of random programs. Each program uses a part of them (swarm testing: Groce et al.,
/// ISSTA 2012), so that rare features meet often in some programs.
struct Swarm {
  std::size_t clients = 3, calls = 24;  ///< at most
  int lanes = 3;
  /// Faults to draw from. A point that is listed more often is drawn more often.
  std::vector<FaultPoint> faults = {FaultPoint::allocate, FaultPoint::adopt,   FaultPoint::read,
                                    FaultPoint::compile,  FaultPoint::execute, FaultPoint::execute};
  Computes backend = Computes::symbolic;
};

Program random_program(std::uint64_t seed, const Swarm& swarm = {});

/// The part of `program` that is about one of its contexts, as a program of its own.
Program part_of(const Program& program, std::size_t context);

/// "allocation", "adoption", "read", "build", "instantiation", "execution".
std::string_view to_string(FaultPoint point) noexcept;
inline constexpr std::array fault_points{FaultPoint::allocate,    FaultPoint::adopt,
                                         FaultPoint::read,        FaultPoint::compile,
                                         FaultPoint::instantiate, FaultPoint::execute};

std::string to_string(const Call& call);
/// A line for each call.
std::string to_string(const Program& program);

/// The label of `client`'s call number `index`: "c1.4".
std::string label_of(std::size_t client, std::size_t index);

}  // namespace polychron::stress
