// The recorder: it observes the actors of a runtime's contexts and keeps records.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "messages/observer.hpp"
#include "observe/recording/records.hpp"
#include "observe/recording/store.hpp"
#include "polychron/future.hpp"
#include "polychron/trace.hpp"

namespace polychron::recording {

/// Each thread writes into memory of its own: without a lock, and with one allocation for some
/// thousand records. Thread-safe.
class Recorder : public std::enable_shared_from_this<Recorder> {
 public:
  /// The clock; every thread calls it.
  using Clock = std::function<Time()>;
  struct Settings {
    std::size_t max_bytes = std::size_t{64} << 20;
    bool steps = false;  ///< take the time of each step of every plan
    TraceCalls calls = TraceCalls::sizes;
  };

  explicit Recorder(Clock clock);
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  /// Starts a recording; discards the previous one.
  void begin(const Settings& settings);
  void end() noexcept { store_.end(); }
  /// Always false in a child forked since: a lock may be held there for ever.
  bool recording() const noexcept {
    return store_.open() && !process_.forked();
  }
  /// The observer of a context, for its msg::ObserverGate.
  std::shared_ptr<msg::Observer> ear(std::string context_label, std::size_t lanes);

  Store::Contents contents() const { return store_.contents(); }
  Time now() const { return clock_(); }

 private:
  class Ear;
  struct Writer;
  struct Writers;
  /// The writer of this thread.
  Writer* writer() noexcept;

  const Clock clock_;
  const std::uint64_t id_;  ///< unique among the recorders of the process
  const polychron::detail::Process process_;
  Store store_;
  std::atomic<std::uint64_t> contexts_{0};
  std::atomic<bool> steps_{false};
  std::atomic<TraceCalls> calls_{TraceCalls::none};
};

}  // namespace polychron::recording
