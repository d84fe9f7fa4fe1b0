// Watches the messages of a context for its subject.
#pragma once

#include <functional>
#include <map>
#include <string_view>

#include "observe/stress/relay.hpp"
#include "observe/stress/subject.hpp"

namespace polychron::stress {

/// Sees every message, and lets other steps run in between.
class Watcher final : public Relay {
 public:
  explicit Watcher(std::shared_ptr<Subject> subject)
      : Relay(subject->run_state->recording == nullptr
                  ? nullptr
                  : subject->run_state->recording->observer_for("", subject->program.lanes)),
        subject_(std::move(subject)),
        footprints_(subject_->footprints) {}
  void started(msg::ActorId actor, const char* kind) noexcept override {
    const std::string_view name(kind);
    subject_->created += name == "tensor" || name == "graph";
    last_[actor].kind = std::hash<std::string_view>()(name);
    Relay::started(actor, kind);
  }
  void sent(msg::ActorId from, msg::ActorId to, const msg::MessageView& message) noexcept override {
    if (footprints_) footprints_->sent(to, message);
    Relay::sent(from, to, message);
    auto& world = *subject_->run_state->world;
    const auto caller = subject_->run_state->caller();
    world.interrupt();
    if (const auto* const* order = std::get_if<const msg::carry_out*>(&message))
      subject_->weight += (*order)->stamp.weight;
    if (const auto* const* call = std::get_if<const msg::submit*>(&message)) bring(**call);
    if (const auto* const* failure = std::get_if<const msg::operation_failed*>(&message);
        failure && (*failure)->error.root().kind() == ErrorKind::context_lost)
      device_lost_.insert(from);
    if (from != 0 || !caller || !std::holds_alternative<const msg::submit*>(message)) return;
    if (!subject_->making.contains(*caller)) {
      subject_->history.broken = "a call reached a context that it was not made on";
      return;
    }
    const auto& call = std::get<const msg::submit*>(message)->call;
    auto& made = subject_->enter(*caller);
    made.submitted |= !std::holds_alternative<msg::Report>(call);
    made.time = static_cast<unsigned>(
        std::chrono::duration_cast<std::chrono::milliseconds>(world.now().time_since_epoch())
            .count());
  }
  void received(msg::ActorId by, const msg::MessageView& message,
                msg::LogicalTime sent) noexcept override {
    ++subject_->messages;
    if (footprints_) footprints_->received(by, message);
    Relay::received(by, message, sent);
    if (const auto* const* failure = std::get_if<const msg::operation_failed*>(&message);
        failure && !subject_->failures.insert((*failure)->ticket).second)
      subject_->history.broken =
          std::string("a failure was told twice: ") + (*failure)->error.what();
    const auto kind = static_cast<std::uint32_t>(message.index() + 1);
    auto& last = last_[by];
    subject_->pairs.insert(last.message * 64 + kind);
    state_ -= last.hash();
    last.message = kind;
    state_ += last.hash();
    subject_->states.push_back(state_);
    subject_->gone += std::holds_alternative<const msg::tensor_gone*>(message) ||
                      std::holds_alternative<const msg::graph_gone*>(message);
  }
  void has_turn(msg::ActorId lane, const msg::carry_out& turn) noexcept override {
    if (footprints_) footprints_->carries_out(lane, turn.operation);
    Relay::has_turn(lane, turn);
  }
  void loses(msg::ActorId by, msg::Ticket ticket) noexcept override {
    ++subject_->losses;
    Relay::loses(by, ticket);
  }
  void carried_out(msg::ActorId lane, msg::Ticket ticket, bool submitted) noexcept override {
    if (device_lost_.contains(lane) && !subject_->environment->lost->lost())
      subject_->history.broken = "the device is lost, and callers are let in";
    Relay::carried_out(lane, ticket, submitted);
  }

 private:
  void bring(const msg::submit& call) {
    auto& brought = subject_->brought;
    if (const auto* write = std::get_if<msg::WriteTensor>(&call.call))
      brought.emplace_back(write->payload);
    if (const auto* read = std::get_if<msg::ReadRef>(&call.local.reply))
      brought.emplace_back(*read);
    if (const auto* batch = std::get_if<msg::BatchRef>(&call.local.reply))
      brought.emplace_back(*batch);
    if (const auto* grant = std::get_if<msg::LeaseReply>(&call.local.reply))
      brought.emplace_back(grant->lease);
    if (const auto* build = std::get_if<msg::BuildReply>(&call.local.reply))
      brought.emplace_back(build->description_bytes);
  }

  const std::shared_ptr<Subject> subject_;
  Footprints* const footprints_;
  /// An actor's kind, and the message that it handled last.
  struct Last {
    std::uint64_t kind = 0;
    std::uint32_t message = 0;
    std::uint64_t hash() const {
      if (message == 0) return 0;
      auto x = (kind + message) * 0x9e3779b97f4a7c15U;
      x = (x ^ (x >> 32U)) * 0xd6e8feb86659fd93U;
      return x ^ (x >> 32U);
    }
  };
  std::map<msg::ActorId, Last> last_;
  std::set<msg::ActorId> device_lost_;  ///< lanes that have reported the loss
  std::uint64_t state_ = 0;
};

}  // namespace polychron::stress
