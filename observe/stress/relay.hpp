// Passes messages on to another observer.
#pragma once

#include <memory>
#include <utility>

#include "messages/observer.hpp"

namespace polychron::stress {

/// An observer of a context that passes everything on. Observers derive from it, so that a
/// recording hears what they override, too.
class Relay : public msg::Observer {
 public:
  /// `also` may be null.
  explicit Relay(std::shared_ptr<msg::Observer> also) : also_(std::move(also)) {}

  void started(msg::ActorId actor, const char* kind) noexcept override {
    if (also_) also_->started(actor, kind);
  }
  void ended(msg::ActorId actor) noexcept override {
    if (also_) also_->ended(actor);
  }
  void sent(msg::ActorId from, msg::ActorId to, const msg::MessageView& message) noexcept override {
    if (also_) also_->sent(from, to, message);
  }
  void received(msg::ActorId by, const msg::MessageView& message,
                msg::LogicalTime sent) noexcept override {
    if (also_) also_->received(by, message, sent);
  }
  void finished(msg::ActorId by, const msg::MessageView& message) noexcept override {
    if (also_) also_->finished(by, message);
  }
  void has_turn(msg::ActorId lane, const msg::carry_out& turn) noexcept override {
    if (also_) also_->has_turn(lane, turn);
  }
  void takes(msg::ActorId context, const msg::submit& call) noexcept override {
    if (also_) also_->takes(context, call);
  }
  void answers(msg::ActorId lane, msg::Ticket ticket, const std::optional<Error>& error,
               std::span<const Buffer> results) noexcept override {
    if (also_) also_->answers(lane, ticket, error, results);
  }
  void rejects(msg::ActorId tensor, msg::Ticket ticket) noexcept override {
    if (also_) also_->rejects(tensor, ticket);
  }
  void loses(msg::ActorId by, msg::Ticket ticket) noexcept override {
    if (also_) also_->loses(by, ticket);
  }
  void left_out() noexcept override {
    if (also_) also_->left_out();
  }
  void unheard(msg::ActorId lane, msg::Ticket ticket, const Error& error) noexcept override {
    if (also_) also_->unheard(lane, ticket, error);
  }
  void takes_back(msg::ActorId lane, msg::Ticket ticket,
                  std::span<const std::byte> bytes) noexcept override {
    if (also_) also_->takes_back(lane, ticket, bytes);
  }
  std::int64_t now() const noexcept override { return also_ ? also_->now() : 0; }
  void waited(msg::CallerWait why, std::int64_t begun) noexcept override {
    if (also_) also_->waited(why, begun);
  }
  void carried_out(msg::ActorId lane, msg::Ticket ticket, bool submitted) noexcept override {
    if (also_) also_->carried_out(lane, ticket, submitted);
  }

 private:
  const std::shared_ptr<msg::Observer> also_;
};

}  // namespace polychron::stress
