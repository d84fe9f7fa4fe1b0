// The context actor: the content timeline of a context.
//
// Owns the tickets, the tables of live tensors and graphs, and the error scopes. Every call comes
// here first; the order in which it leaves the mailbox is the content timeline. An operation with a
// device side is stamped and goes on to the object's actor. Invariants: tickets and turns are
// issued without a gap, and each is sent on in exactly one message; what is not in a table is
// destroyed. Never touches bytes, never blocks. When any actor of the context fails, it resolves
// `lost` and takes all others with it.
#pragma once

#include <optional>
#include <unordered_map>

#include "actors/actor.hpp"
#include "actors/error_scopes.hpp"
#include "actors/lane_order.hpp"
#include "messages/types.hpp"

namespace polychron::actors {

class ContextState : public State<context_actor> {
 public:
  static inline const char* name = "context";
  using State::State;
  ~ContextState();

  context_actor::behavior_type start(EnvironmentRef environment);

 private:
  struct TensorEntry {
    tensor_actor actor;
    msg::TensorRef slot;
    Uses uses;
    std::vector<msg::Rent> rents;  ///< asked for or out, not yet ended
  };
  struct GraphEntry {
    graph_actor actor;
    msg::GraphRef slot;
    Uses uses;
  };
  using TensorIds = msg::TensorIds;

  void create_tensor(const msg::create_tensor& m);
  void write_tensor(msg::write_tensor& m);
  void read_tensor(const msg::read_tensor& m);
  void query_tensor(const msg::query_tensor& m);
  void lend_tensor(const msg::lend_tensor& m);
  void return_lease(const msg::return_lease& m);
  void dispatch(msg::dispatch& m);
  void compute(const msg::compute& m);
  void build(const msg::build& m);
  void drop_tensor(const msg::drop_tensor& m);
  void drop_graph(const msg::drop_graph& m);
  void report(const msg::report& m);
  void push_scope(const msg::push_scope& m);
  void pop_scope(const msg::pop_scope& m);
  void set_handler(const msg::set_handler& m);
  void ask_pending(const msg::ask_pending& m);
  void destroy(const msg::destroy_context& m);
  void compiled(const msg::compiled& m);
  void operation_failed(const msg::operation_failed& m);
  void fence_passed(const msg::fence_passed& m);
  void tensor_gone(const msg::tensor_gone& m);
  void graph_gone(const msg::graph_gone& m);
  void actor_failed(const msg::actor_failed& m);
  void on_exit(const caf::exit_msg& m);
  void lose(LostReason reason, const std::string& message);

  /// The tensors of a dispatch as slots and uses. What is wrong with them, if anything: destroyed,
  /// on lease in LeaseMode::fail. Those that exist are in `slots` in any case.
  std::optional<Error> resolve(const TensorIds& ids, msg::Tensors& slots, LaneOrder::Touched& uses);
  /// An operation that is refused here, for people and for what it would have written.
  void refuse(msg::Stamp stamp, msg::Tensors outputs, const Error& error);
  /// Set while the tensor is on lease in LeaseMode::fail.
  static std::optional<Error> lease_error(const TensorEntry& entry);
  caf::actor_addr address() const { return caf::actor_cast<caf::actor_addr>(self()); }
  template <class S, class... Args>
  typename S::interface spawn(Args... args) {
    return spawn_in<S>(*self(), environment_ref(), {}, std::move(args)...);
  }
  void spawn_devices();
  /// Lets the device go on after this lease.
  void end(const msg::Rent& rent);

  std::optional<LaneOrder> order_;
  std::unordered_map<msg::TensorId, TensorEntry> tensors_;
  std::unordered_map<msg::GraphId, GraphEntry> graphs_;
  /// Destroyed, and not gone yet: they must be told when the context ends.
  std::unordered_map<msg::TensorId, tensor_actor> ending_tensors_;
  std::unordered_map<msg::GraphId, graph_actor> ending_graphs_;
  ErrorScopes scopes_;
  std::uint64_t fences_ = 0;
  std::vector<device_actor> devices_;  ///< by lane
  compiler_actor compiler_;
};

}  // namespace polychron::actors
