// Clients that make a program's calls, step by step, and callbacks that make calls.
#pragma once

#include <vector>

#include "observe/stress/call_executor.hpp"

namespace polychron::stress {

/// A client that makes its calls in order.
class Script final : public Client {
 public:
  Script(RunState& run_state, std::size_t number, const std::vector<Call>& calls)
      : run_state_(run_state), number_(number), calls_(calls) {}

  bool done() const { return at_ == calls_.size(); }
  bool ready() const override { return !done() && executor_of(at_, number_).ready(); }
  void step() override;
  /// Skips a call that waits for an object which nobody will make.
  void skip() { to_next(); }

 private:
  CallExecutor executor_of(std::size_t index, std::size_t caller) const {
    return {run_state_, number_, caller, index, calls_[index]};
  }
  /// A callback of the previous call makes this one.
  bool is_chained(std::size_t index) const {
    return index > 0 && index < calls_.size() && calls_[index - 1].then;
  }
  /// Skips the calls that callbacks make.
  void to_next() {
    do ++at_;
    while (is_chained(at_));
  }
  void make(std::size_t index, std::size_t caller);
  void call_back(std::size_t index);

  RunState& run_state_;
  const std::size_t number_;
  const std::vector<Call>& calls_;
  std::size_t at_ = 0;
  /// Holds null when this is gone; callbacks may still run then.
  const std::shared_ptr<Script*> self_ = std::make_shared<Script*>(this);
};

}  // namespace polychron::stress
