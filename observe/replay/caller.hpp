// Makes recorded calls again.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "messages/local_part.hpp"
#include "observe/replay/listener.hpp"
#include "observe/replay/script.hpp"
#include "observe/stress/world.hpp"
#include "runtime/port.hpp"

namespace polychron::replay {

/// A context of the replay.
struct Site {
  std::shared_ptr<detail::Port> port;
  std::shared_ptr<Listener> listener;
  /// A lease that callers were granted, and the bytes that they gave back. By LeaseId.
  struct Out {
    msg::TensorId tensor = 0;
    msg::LeaseRef lease;
    std::string_view given_back;
  };
  std::map<msg::LeaseId, Out> leases;
};

/// The state that all callers share.
struct Stage {
  const Script& script;
  std::vector<Site> sites;
  /// Of each call that is to be answered: whether it has been.
  std::map<std::size_t, std::function<bool()>> answers;

  /// True if all that this call needs is there.
  bool may_make(std::size_t index) const;
  /// Ends the leases that nobody ended.
  void end_leases();
};

/// Makes the calls of one thread, or of all, one a step. If it `waits`, each only when what it
/// needs is there.
class Caller final : public stress::Client {
 public:
  Caller(Stage& stage, std::vector<std::size_t> calls, bool waits)
      : stage_(stage), calls_(std::move(calls)), waits_(waits) {}
  bool ready() const override { return !done() && (!waits_ || stage_.may_make(calls_[at_])); }
  bool done() const { return at_ == calls_.size(); }
  void step() override { make(calls_[at_++]); }

 private:
  void make(std::size_t index);
  msg::Reply reply_for(const msg::Call& call, std::size_t index);

  Stage& stage_;
  const std::vector<std::size_t> calls_;
  const bool waits_;
  std::size_t at_ = 0;
};

}  // namespace polychron::replay
