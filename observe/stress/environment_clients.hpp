// Clients of a World that are no callers: the time, and devices that work by themselves.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <utility>

#include "observe/stress/late_backend.hpp"
#include "observe/stress/world.hpp"

namespace polychron::stress {

/// A client that moves the simulated time, when the strategy picks it.
class ClockClient final : public Client {
 public:
  ClockClient(World& world, unsigned steps) : world_(world), left_(steps) {}
  bool ready() const override { return left_ > 0; }
  void step() override {
    --left_;
    world_.advance(std::chrono::milliseconds(1));
  }

 private:
  World& world_;
  unsigned left_;
};

/// A device that finishes the `nth` execution that it is at, when the strategy picks it.
class DeviceClient final : public Client {
 public:
  DeviceClient(std::shared_ptr<LateBackend> backend, std::size_t nth)
      : backend_(std::move(backend)), nth_(nth) {}
  bool ready() const override { return backend_->at_work() > nth_; }
  void step() override { backend_->complete(nth_); }

 private:
  const std::shared_ptr<LateBackend> backend_;
  const std::size_t nth_;
};

}  // namespace polychron::stress
