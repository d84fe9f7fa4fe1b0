// The device actor: the device timeline of a context.
//
// Owns the order. Operations arrive by any route and in any order; each is carried out when its
// ticket is next (a resequencer), one at a time, to completion. It alone opens tensor and graph
// slots. Keeps the rule that errors follow the data: a failed operation tags its outputs, an
// operation with a tagged input does not run and tags its own, a successful overwrite clears. Never
// waits, never asks; runs on a thread of its own, because kernels block it.
#pragma once

#include <map>
#include <variant>
#include <vector>

#include "actors/actor.hpp"
#include "messages/types.hpp"

namespace polychron::actors {

class DeviceState : public State<device_actor> {
 public:
  static inline const char* name = "device";
  using State::State;

  device_actor::behavior_type start(EnvironmentRef environment);

 private:
  using Operation = std::variant<msg::allocate, msg::write_bytes, msg::read_bytes, msg::release,
                                 msg::load, msg::execute, msg::fail, msg::release_plan, msg::skip>;

  /// Carries out what is next, else keeps it until its turn.
  template <class M>
  void arrive(const M& m);

  void carry_out(const msg::allocate& m);
  void carry_out(const msg::write_bytes& m);
  void carry_out(const msg::read_bytes& m);
  void carry_out(const msg::release& m);
  void carry_out(const msg::load& m);
  void carry_out(const msg::execute& m);
  void carry_out(const msg::fail& m);
  void carry_out(const msg::release_plan& m);
  void carry_out(const msg::skip& m);

  /// The first errored input as an error of this dispatch, or nullopt.
  std::optional<Error> errored_input(const msg::execute& m) const;
  kernels::ExecuteStatus execute_plan(const msg::execute& m);
  void set_tag(msg::TensorSlot& tensor, const Error& error, msg::Ticket ticket);
  void set_tags(const msg::Tensors& tensors, const Error& error, msg::Ticket ticket);
  void clear_tag(msg::TensorSlot& tensor, msg::Ticket ticket);
  /// The device itself is gone: ends this actor, and with it the context.
  void check_alive(const Error& error);

  msg::Ticket next_ = 1;
  std::map<msg::Ticket, Operation> early_;  ///< arrived ahead of their turn; all keys > next_
  std::vector<kernels::Storage*> input_storage_, output_storage_;  ///< reused by every dispatch
};

}  // namespace polychron::actors
