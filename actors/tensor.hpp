// The tensor actor.
//
// Owns the content side of a tensor: whether it is destroyed, the replies that wait for the device,
// and the last error the device reported. Never touches the bytes: they live in the slot, which
// only device actors open. Invariants: a destroyed tensor has no pending reply; every ticket it is
// given goes on to the device exactly once. Ends when the device has released the memory.
#pragma once

#include <map>

#include "actors/actor.hpp"
#include "messages/types.hpp"

namespace polychron::actors {

class TensorState : public State<tensor_actor> {
 public:
  static inline const char* name = "tensor";
  using State::State;
  /// Pending replies of a lost context are rejected with the reason of the loss.
  ~TensorState();

  tensor_actor::behavior_type start(EnvironmentRef environment, msg::TensorRef slot,
                                    device_actor device);

 private:
  void create(const msg::create& m);
  void write(const msg::write& m);
  void read(const msg::read& m);
  void destroy(const msg::destroy_tensor& m);
  void allocated(const msg::allocated& m);
  void read_done(const msg::read_done& m);
  void errored(const msg::errored& m);
  void recovered(const msg::recovered& m);
  void released(const msg::released& m);
  void reject_pending(const Error& error);

  msg::TensorRef slot_;
  device_actor device_;
  bool destroyed_ = false;
  Promise<void> creation_;
  std::map<msg::Ticket, Promise<Buffer>> reads_;
  std::shared_ptr<const Error> last_error_;
};

}  // namespace polychron::actors
