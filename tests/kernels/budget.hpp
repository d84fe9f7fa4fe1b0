// The amount of a generator's work: a number of rounds, or rounds for a given time.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <string>

#include "ops/row.hpp"

namespace polychron::tests {

/// A round is a call of each row. By default their number is fixed, so that the verdict does not
/// depend on the machine's speed. Time is measured for the report, or if the environment asks for
/// it.
class Budget {
 public:
  explicit Budget(std::uint64_t rounds)
      : seconds_(static_cast<double>(number_from("POLYCHRON_SECONDS", 0))),
        rounds_(number_from("POLYCHRON_CALLS", rounds)),
        first_(number_from("POLYCHRON_SEED", 1)) {
    if (const char* given = std::getenv("POLYCHRON_OPERATOR")) operator_ = given;
  }
  bool left() const { return seconds_ > 0 ? elapsed() < seconds_ : round_ < rounds_; }
  void next() { ++round_; }
  std::uint64_t round() const { return first_ + round_; }
  std::uint64_t seed() const { return round(); }
  bool takes(const ops::Row& row) const { return operator_.empty() || operator_ == row.name; }
  /// Enough rounds for all types of every row.
  bool whole() const { return operator_.empty() && round_ >= 64; }
  /// The rate of `count` in a second of processor time.
  std::uint64_t rate(std::uint64_t count) const {
    const auto spent = static_cast<double>(std::clock() - spent_before_ + 1) / CLOCKS_PER_SEC;
    return static_cast<std::uint64_t>(static_cast<double>(count) / spent);
  }

 private:
  using Clock = std::chrono::steady_clock;
  static std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
    const char* const given = std::getenv(variable);
    return given == nullptr ? otherwise : std::strtoull(given, nullptr, 10);
  }
  double elapsed() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  Clock::time_point start_ = Clock::now();
  std::clock_t spent_before_ = std::clock();
  double seconds_;
  std::uint64_t rounds_, first_, round_ = 0;
  std::string operator_;
};

}  // namespace polychron::tests
