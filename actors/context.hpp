// The context actor: the content timeline of a context.
//
// Owns the ticket counter and the tables of live tensors and graphs. Every call comes here first;
// the order in which it leaves the mailbox is the content timeline. An operation with a device side
// gets the next ticket and goes on to the object's actor. Invariants: tickets are issued without a
// gap, and each is sent on in exactly one message; what is not in a table is destroyed. Never
// touches bytes, never blocks. When any actor of the context fails, it resolves `lost` and takes
// all others with it.
#pragma once

#include <unordered_map>

#include "actors/actor.hpp"
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
  };

  void create_tensor(const msg::create_tensor& m);
  void write_tensor(const msg::write_tensor& m);
  void read_tensor(const msg::read_tensor& m);
  void dispatch(const msg::dispatch& m);
  void build(const msg::build& m);
  void drop_tensor(const msg::drop_tensor& m);
  void drop_graph(const msg::drop_graph& m);
  void destroy(const msg::destroy_context& m);
  void compiled(const msg::compiled& m);
  void on_exit(const caf::exit_msg& m);
  void lose(LostReason reason, const std::string& message);

  /// Slots of `ids`; false if one of them is destroyed (it is left out).
  bool resolve(const msg::TensorIds& ids, msg::Tensors& slots) const;
  msg::Ticket stamp() { return ++last_ticket_; }

  msg::Ticket last_ticket_ = 0;
  std::unordered_map<msg::TensorId, TensorEntry> tensors_;
  std::unordered_map<msg::GraphId, graph_actor> graphs_;
  device_actor device_;
  compiler_actor compiler_;
};

}  // namespace polychron::actors
