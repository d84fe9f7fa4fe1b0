// The interface from a handle to its context: submission, admission, stats, and the loss.
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
  /// The origin of the promises of calls.
  virtual const std::shared_ptr<const Origin>& origin() const = 0;

  // -- the loss
  /// True once the context is destroyed or lost. Cheap.
  virtual bool lost() const noexcept = 0;
  virtual Error loss() const = 0;
  /// True if this process was forked from the context's.
  virtual bool forked() const noexcept = 0;
  virtual Future<LostInfo> watch_loss() = 0;
  /// Takes effect at once: after it returns every call is refused, and queued operations never run.
  virtual void destroy() noexcept = 0;

  // -- admission
  enum class AdmissionClass : std::uint8_t {
    operations,  ///< operations, which hold their permit until they are done
    queries,     ///< errors of tensors: never waits, whatever the policy
    questions,   ///< calls that must pass when `operations` is full: pending, pop, a handler
    scopes,      ///< open error scopes
  };
  /// Takes a permit. If none is free, throws quota_exceeded or waits, as configured (only
  /// operations wait).
  virtual msg::Permit enter(AdmissionClass admission, const msg::Conditions& conditions) = 0;
  /// Reserves bytes of the context's memory_limit; nullopt if too few are left.
  virtual std::optional<msg::Reservation> reserve(std::uint64_t bytes) = 0;
  virtual std::uint64_t memory_limit() const noexcept = 0;
  /// True if a call whose bytes do not fit may wait: as configured, or because nothing else is in
  /// flight, so that the wait is short. Otherwise counts a refusal.
  virtual bool may_wait() const noexcept = 0;
  /// Waits until the device has taken a caller's bytes; the error if it has not.
  virtual std::optional<Error> meet(msg::Rendezvous& rendezvous,
                                    const msg::Conditions& conditions) = 0;

  // -- calls
  /// Puts a call on the content timeline. Throws out_of_memory.
  virtual void submit(msg::Call&& call, msg::LocalPart&& local) = 0;
  /// The message of an object's end. Made with the object, while there is memory, because the end
  /// must not fail. The port outlives it.
  class Ending {
   public:
    virtual ~Ending() = default;
    /// Sends it; call it once.
    virtual void send() noexcept = 0;
  };
  virtual std::unique_ptr<Ending> prepare_end(msg::Call&& call) = 0;
  /// Passes an error that a call threw to the error scopes. Drops it if too many reports are queued
  /// already.
  virtual void report(const Error& error) noexcept = 0;

  /// Includes the context in its runtime's recordings, or leaves it out.
  virtual void set_traced(bool on) noexcept = 0;
  /// Writes to the runtime's log.
  virtual void log(LogLevel level, std::string_view message) const noexcept = 0;

  virtual msg::Counters& counters() = 0;
  virtual ContextStats stats() const = 0;
};

}  // namespace polychron::detail
