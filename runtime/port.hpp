// What a handle talks to, wherever the context is: submit a call, admission, stats, the loss.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "messages/local_part.hpp"
#include "messages/shared/budget.hpp"
#include "messages/shared/counters.hpp"
#include "polychron/context.hpp"

namespace polychron::detail {

/// Thread-safe. The local one (local_port.hpp) sends to the context's actor in this process.
class Port {
 public:
  virtual ~Port() = default;

  virtual const std::string& label() const = 0;
  /// What stands behind the promises of calls.
  virtual const std::shared_ptr<const Origin>& origin() const = 0;

  // -- the loss
  /// True once the context is destroyed or lost. Cheap.
  virtual bool lost() const noexcept = 0;
  virtual Error loss() const = 0;
  /// Whether this process was forked from the context's.
  virtual bool forked() const noexcept = 0;
  virtual Future<LostInfo> watch_loss() = 0;
  /// At once: from when this returns every call is refused, and nothing queued is carried out.
  virtual void destroy() noexcept = 0;

  // -- admission
  enum class Door : std::uint8_t {
    operations,  ///< what has its place until it is done
    queries,     ///< errors of tensors: never waits, whatever the policy
    questions,   ///< what must get through when that is full: pending, pop, a handler
    scopes,      ///< open error scopes
  };
  /// Throws quota_exceeded, or waits, as the context was configured (only operations wait).
  virtual msg::Place enter(Door door, const msg::Conditions& conditions) = 0;
  /// Bytes of the context's memory_limit; nullopt if it has not so many left.
  virtual std::optional<msg::Reservation> reserve(std::uint64_t bytes) = 0;
  virtual std::uint64_t memory_limit() const noexcept = 0;
  /// Whether a call that finds no room for its bytes waits, as configured or because that would be
  /// short: nothing else is in flight. If not, a refusal is counted.
  virtual bool may_wait() const noexcept = 0;
  /// Waits until the device has taken a caller's bytes, or why it has not.
  virtual std::optional<Error> meet(msg::Rendezvous& rendezvous,
                                    const msg::Conditions& conditions) = 0;

  // -- calls
  /// Puts a call on the content timeline. Throws out_of_memory.
  virtual void submit(msg::Call&& call, msg::LocalPart&& local) = 0;
  /// How an object will say that it has ended: made with the object, while there is memory, because
  /// its end must not fail. The port outlives it.
  class Ending {
   public:
    virtual ~Ending() = default;
    /// Once.
    virtual void send() noexcept = 0;
  };
  virtual std::unique_ptr<Ending> prepare_end(msg::Call&& call) = 0;
  /// Lets error scopes see what a call threw; unless so many are on their way already that one more
  /// tells nobody anything.
  virtual void report(const Error& error) noexcept = 0;

  /// Whether the context is in what its runtime records.
  virtual void set_traced(bool on) noexcept = 0;
  /// Tells the runtime's log.
  virtual void log(LogLevel level, std::string_view message) const noexcept = 0;

  virtual msg::Counters& counters() = 0;
  virtual ContextStats stats() const = 0;
};

}  // namespace polychron::detail
