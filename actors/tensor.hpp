// The tensor actor.
//
// Owns the content side of a tensor: whether it is destroyed, the replies that wait for the device,
// and the lease that is out. Never touches the bytes, nor the error in their place: they live in
// the slot, which only device actors open. Invariants: a destroyed tensor has no pending reply and
// no lease that is not revoked; every stamp it is given goes on to its device exactly once. Ends
// when the device has released the memory.
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
                                    std::vector<device_actor> devices, caf::actor_addr context);

 private:
  struct PendingRead {
    msg::ReadRef loan;
    std::optional<Error> rejected;  ///< destroyed while the device was filling the caller's buffer
  };
  struct PendingLease {
    msg::LeaseRef lease;
    Promise<void> reply;
  };

  void create(const msg::create& m);
  void read(const msg::read& m);
  void query(const msg::query& m);
  void lend(const msg::lend& m);
  void destroy(const msg::destroy_tensor& m);
  void allocated(const msg::allocated& m);
  void read_done(const msg::read_done& m);
  void query_done(const msg::query_done& m);
  void lent(const msg::lent& m);
  void released(const msg::released& m);

  const device_actor& device(const msg::Stamp& stamp) const { return devices_[stamp.at.lane]; }
  Error destroyed_error() const;
  void reject_pending(const Error& error);

  msg::TensorRef slot_;
  std::vector<device_actor> devices_;  ///< by lane
  bool destroyed_ = false;
  Promise<void> creation_;
  std::map<msg::Ticket, PendingRead> reads_;
  std::map<msg::Ticket, Promise<std::optional<Error>>> queries_;
  std::map<msg::Ticket, PendingLease> leases_;  ///< asked for
  msg::LeaseRef lease_;                         ///< out, or null
};

}  // namespace polychron::actors
