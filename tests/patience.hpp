// Waiting in tests on real threads: for an event that must come, without a hang if it does not.
#pragma once

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <functional>
#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "polychron/future.hpp"

namespace polychron::testing {

/// True once `now` holds; false after so long that it never will. No test passes because of time:
/// the patience ends only those that fail.
inline bool comes(const std::function<bool()>& now) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (std::chrono::steady_clock::now() < end) {
    if (now()) return true;
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  return now();
}

/// The result of a reply that must come.
template <class T>
Result<T> reply(Future<T> future) {
  if (!comes([&] { return future.ready(); }))
    return Error(ErrorKind::internal, "the reply never came");
  return future.take();
}

/// Fails the test unless the reply comes, and is a rejection of this kind.
template <class T>
void refuses(ErrorKind kind, Future<T> future) {
  const auto result = reply(std::move(future));
  BOOST_REQUIRE_MESSAGE(!result, "expected " << to_string(kind) << ", but there is a value");
  BOOST_REQUIRE_MESSAGE(result.error().kind() == kind,
                        "expected " << to_string(kind) << ", got " << result.error().what());
}

/// Callbacks or faults wait for it. The test opens it, at the latest when the gate goes.
class Gate {
 public:
  Gate() = default;
  ~Gate() { open(); }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  void open() {
    if (!latch_->try_wait()) latch_->count_down();
  }
  const std::shared_ptr<std::latch>& latch() const { return latch_; }

 private:
  std::shared_ptr<std::latch> latch_ = std::make_shared<std::latch>(1);
};

}  // namespace polychron::testing
