// Clients that make a program's calls, step by step.
#pragma once

#include <vector>

#include "stress/maker.hpp"

namespace polychron::stress {

/// A client.
class Script final : public Client {
 public:
  Script(Session& session, std::size_t number, const std::vector<Call>& calls)
      : session_(session), number_(number), calls_(calls) {}

  bool done() const { return at_ == calls_.size(); }
  bool ready() const override { return !done() && maker(at_).ready(); }
  void step() override {
    const auto index = at_++;
    maker(index).make();
  }
  /// Nobody will make what it waits for.
  void skip() { ++at_; }

 private:
  Maker maker(std::size_t index) const { return {session_, number_, index, calls_[index]}; }

  Session& session_;
  const std::size_t number_;
  const std::vector<Call>& calls_;
  std::size_t at_ = 0;
};

}  // namespace polychron::stress
