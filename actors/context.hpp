// The context actor: the content timeline of a context.
//
// Owns the tickets, the tables of live tensors and graphs, and the error scopes. Every call comes
// here first; the order in which calls leave the mailbox is the content timeline. The context
// stamps an operation with a device side and sends it to its lane. Before that, it tells the
// object's actor of the reply that is owed.
// Invariants: tickets and turns have no gaps, and each is sent on in exactly one message; an object
// that is not in a table is destroyed. Never touches bytes, never blocks. When any actor of the
// context fails, this one included, `lost` resolves and all others end.
#pragma once

#include <deque>
#include <forward_list>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "actors/actor.hpp"
#include "actors/error_scopes.hpp"
#include "actors/lane_order.hpp"
#include "messages/compiler.hpp"
#include "messages/slot.hpp"

namespace polychron::actors {

/// The context's device and compiler actors. They have threads, so that spawning them may fail.
struct DeviceActors {
  std::vector<device_actor> lanes;
  compiler_actor compiler;
};
/// Spawns them. Throws std::system_error if the system refuses a thread; no actor is left then.
DeviceActors spawn_device_actors(caf::actor_system& system, const EnvironmentRef& environment);
/// Spawns a context with its device actors. Throws std::system_error.
context_actor spawn_context(caf::actor_system& system, const EnvironmentRef& environment);

class ContextState : public State<ContextState, context_actor> {
 public:
  static inline const char* name = "context";
  using address = engine::PublicAddress;
  using State::State;
  /// However this actor ends, it rejects all pending replies, so that no caller waits for ever.
  ~ContextState();

  void start(DeviceActors&& spawned);
  void receive(msg::submit& m);
  void receive(msg::compiled& m);
  void receive(const msg::operation_failed& m);
  void receive(const msg::fence_passed& m);
  void receive(const msg::tensor_gone& m);
  void receive(const msg::graph_gone& m);
  void receive(const msg::actor_failed& m);
  void ended_by(const msg::actor_failed& failure) noexcept;
  /// From an embedder, which has the actor's address.
  void told_to_end(const caf::error& reason);

 private:
  /// A lease that a caller asked for, and the operation that grants it.
  struct LeaseEntry {
    msg::LeaseId id = 0;
    msg::LeaseRef lease;
    msg::LaneTurn at;
  };
  struct TensorEntry {
    tensor_actor actor;
    msg::TensorRef slot;
    Uses uses;
    std::forward_list<LeaseEntry> leases;  ///< asked for or out, not yet ended; the latest first
  };
  struct GraphEntry {
    graph_actor actor;  ///< null until it is compiled, if it was called early
    msg::GraphRef slot;
    Uses uses;
  };

  // -- calls (context.cpp: of tensors; context_graphs.cpp: of graphs; context_errors.cpp:
  // questions)
  void call(msg::CreateTensor& c, msg::LocalPart& local);
  void call(msg::WriteTensor& c, msg::LocalPart& local);
  void call(const msg::ReadTensor& c, msg::LocalPart& local);
  void call(const msg::QueryError& c, msg::LocalPart& local);
  void call(const msg::LendTensor& c, msg::LocalPart& local);
  void call(const msg::ReturnLease& c, msg::LocalPart& local);
  void call(const msg::DestroyTensor& c, msg::LocalPart& local);
  void call(msg::Dispatch& c, msg::LocalPart& local);
  void call(msg::Compute& c, msg::LocalPart& local);
  void call(msg::Build& c, msg::LocalPart& local);
  void call(const msg::DestroyGraph& c, msg::LocalPart& local);
  void call(const msg::Report& c, msg::LocalPart& local);
  void call(const msg::PushScope& c, msg::LocalPart& local);
  void call(const msg::PopScope& c, msg::LocalPart& local);
  void call(const msg::SetErrorHandler& c, msg::LocalPart& local);
  void call(const msg::AskPending& c, msg::LocalPart& local);
  void call(const msg::DestroyContext& c, msg::LocalPart& local);

  /// The tensor, or an error: it is destroyed, or on lease in LeaseMode::fail.
  Result<TensorEntry*> find_tensor(msg::TensorId id);
  /// Finds slots and uses of a dispatch's tensors. Returns an error if one is destroyed or on lease
  /// in LeaseMode::fail; `slots` has all the others in any case.
  std::optional<Error> resolve(const msg::TensorIds& ids, msg::Tensors& slots,
                               LaneOrder::Touched& uses);
  /// Tells the lane that this lease has ended.
  void end(const LeaseEntry& lease_entry, bool revoked);
  /// Sends a stamped operation O{fields...} to its lane.
  template <class O, class... Fields>
  void issue(msg::Stamp&& stamp, msg::Permit&& permit, Fields&&... fields) {
    const auto make = [&] { return O{std::forward<Fields>(fields)...}; };
    tell_made(device_actors_.lanes[stamp.at.lane], [&] {
      return msg::carry_out{
          std::move(stamp),
          msg::Operation(std::in_place_type<O>, MadeInPlace<decltype(make)>{make}),
          std::move(permit)};
    });
  }
  /// Passes an error that no call reports to the innermost scope that takes it, or to the handler.
  void observe(const Error& error, msg::Ticket ticket);
  GraphEntry& add_graph(const msg::Build& c);
  /// Sends the first waiting build to the compiler.
  void compile_next();
  void lose(LostReason reason, std::string_view message) noexcept;
  template <class S, class... Args>
  typename S::interface spawn(Args... args) {
    return spawn_in<S>(self().address().home_system(), self().context(), environment_ref(), {},
                       nullptr, std::move(args)...);
  }

  std::optional<LaneOrder> order_;
  std::unordered_map<msg::TensorId, TensorEntry> tensors_;
  std::unordered_map<msg::GraphId, GraphEntry> graphs_;
  /// Destroyed but not gone yet. The context must tell them when it ends.
  std::unordered_map<msg::TensorId, tensor_actor> ending_tensors_;
  std::unordered_map<msg::GraphId, graph_actor> ending_graphs_;
  ErrorScopes scopes_;
  msg::ErrorHandler handler_;
  std::uint64_t fences_ = 0;
  std::deque<msg::compile> builds_;  ///< the first is being compiled
  DeviceActors device_actors_;
};

}  // namespace polychron::actors
