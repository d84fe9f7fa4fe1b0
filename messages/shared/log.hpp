// From anywhere in the library to the embedder's one log callback.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "messages/shared/callbacks.hpp"
#include "polychron/log.hpp"

namespace polychron::msg {

/// Tells the embedder's sink, where callbacks run. Told by any thread; without a sink that is a
/// branch. A sink that is slower than what there is to tell hears some of it. Thread-safe.
class Log : public std::enable_shared_from_this<Log> {
 public:
  using Sink = std::function<void(const LogRecord&)>;
  /// `callbacks` may be null if `sink` is empty.
  Log(Sink sink, LogLevel least, std::shared_ptr<Callbacks> callbacks)
      : sink_(std::move(sink)), least_(least), callbacks_(std::move(callbacks)) {}

  /// True if the sink takes messages of this level, so that it is worth making one.
  bool takes(LogLevel level) const noexcept { return sink_ && level >= least_; }
  /// Never waits, and never fails: without memory, or with `most` records on their way, the record
  /// is dropped.
  void tell(LogLevel level, std::string_view source, std::string_view message) noexcept;

 private:
  static constexpr std::uint32_t most = 1024;
  struct Telling;

  const Sink sink_;
  const LogLevel least_;
  const std::shared_ptr<Callbacks> callbacks_;
  std::atomic<std::uint32_t> on_their_way_{0};
};

}  // namespace polychron::msg
