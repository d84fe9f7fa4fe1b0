// Listens to the actors of a runtime's contexts, and keeps what it hears.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "messages/observer.hpp"
#include "polychron/future.hpp"
#include "polychron/trace.hpp"
#include "recording/records.hpp"
#include "recording/store.hpp"

namespace polychron::recording {

/// Each thread writes into memory of its own: on the path there is no lock, and no allocation but
/// one piece of memory for some thousand records. Thread-safe.
class Recorder : public std::enable_shared_from_this<Recorder> {
 public:
  /// What time is; called by every thread.
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

  /// Forgets what was recorded before.
  void begin(const Settings& settings);
  void end() noexcept { store_.end(); }
  /// Never in a process that was forked since: a lock may be held there for ever.
  bool recording() const noexcept {
    return store_.open() && generation_ == polychron::detail::fork_generation();
  }
  /// Of a context, for its msg::Tap.
  std::shared_ptr<msg::Observer> ear(std::string context_label, std::size_t lanes);

  Store::Contents contents() const { return store_.contents(); }
  Time now() const { return clock_(); }

 private:
  class Ear;
  struct Writer;
  struct Writers;
  /// This thread's.
  Writer* writer() noexcept;

  const Clock clock_;
  const std::uint64_t id_;  ///< of all recorders of the process
  const std::uint32_t generation_ = polychron::detail::fork_generation();
  Store store_;
  std::atomic<std::uint64_t> contexts_{0};
  std::atomic<bool> steps_{false};
  std::atomic<TraceCalls> calls_{TraceCalls::none};
};

}  // namespace polychron::recording
