// The port to a context in this process: from the caller's thread to the context's actor.
#pragma once

#include "actors/context.hpp"
#include "runtime/port.hpp"

namespace polychron::detail {

class LocalPort final : public Port {
 public:
  LocalPort(actors::EnvironmentRef environment, context_actor actor)
      : environment_(std::move(environment)),
        actor_(std::move(actor)),
        origin_(environment_->lost),
        goodbye_(caf::message_priority::high, [] {
          return msg::submit{msg::DestroyContext{}, {}};
        }) {}
  LocalPort(const LocalPort&) = delete;
  LocalPort& operator=(const LocalPort&) = delete;
  ~LocalPort() override;

  const context_actor& actor() const { return actor_; }
  /// For tests that inspect the actors' shared state.
  const actors::EnvironmentRef& environment() const { return environment_; }

  const std::string& label() const override { return environment_->label; }
  const std::shared_ptr<const Origin>& origin() const override { return origin_; }
  bool lost() const noexcept override { return environment_->lost->lost(); }
  Error loss() const override { return environment_->lost->error(); }
  bool forked() const noexcept override { return process_.forked(); }
  Future<LostInfo> watch_loss() override { return environment_->lost->watch(environment_->lost); }
  void destroy() noexcept override { end(LostReason::destroyed, "the context was destroyed"); }
  /// The same, for the given reason.
  void end(LostReason reason, const char* message) noexcept;
  /// Switches the context's observer on or off.
  void listen(bool on) const noexcept { environment_->gate.listen(on); }
  void set_traced(bool on) noexcept override { environment_->gate.mute(!on); }

  msg::Permit enter(AdmissionClass admission, const msg::Conditions& conditions) override;
  std::optional<msg::Reservation> reserve(std::uint64_t bytes) override {
    return msg::Reservation::take(environment_->budget, bytes);
  }
  std::uint64_t memory_limit() const noexcept override { return environment_->budget->limit(); }
  bool may_wait() const noexcept override;
  std::optional<Error> meet(msg::Rendezvous& rendezvous,
                            const msg::Conditions& conditions) override {
    return rendezvous.wait(conditions, environment_->now, environment_->meanwhile);
  }

  void submit(msg::Call&& call, msg::LocalPart&& local) override;
  std::unique_ptr<Ending> prepare_end(msg::Call&& call) override;
  void report(const Error& error) noexcept override;

  void log(LogLevel level, std::string_view message) const noexcept override;

  msg::Counters& counters() override { return *environment_->counters; }
  ContextStats stats() const override;

 private:
  /// Tells the observer of a wait, if there is one.
  msg::Permit enter_operation(const msg::Conditions& conditions);
  class LocalEnding;
  void send(actors::Letter<msg::submit>&& letter) const;
  void wait_for_callbacks(const msg::Conditions& conditions);

  const actors::EnvironmentRef environment_;
  const context_actor actor_;
  const std::shared_ptr<const Origin> origin_;
  actors::Letter<msg::submit> goodbye_;
  msg::Once said_goodbye_;
  const Process process_;
};

}  // namespace polychron::detail
