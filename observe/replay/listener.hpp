// Hears what the actors of a context do in a replay: for the order, for the device, for the record.
#pragma once

#include <deque>
#include <map>
#include <memory>

#include "messages/observer.hpp"
#include "observe/replay/backend.hpp"
#include "observe/replay/script.hpp"

namespace polychron::replay {

/// The number that tells a message from others of its kind: the ticket that it is about, the number
/// of a question between lanes, or 0.
msg::Ticket ticket_of(const msg::MessageView& message);

/// Hears of the steps that the order waits for.
class Progress {
 public:
  virtual ~Progress() = default;
  /// A context began with a call.
  virtual void took(std::size_t call) = 0;
  virtual void began(msg::ActorId actor) = 0;
  /// An actor has ended, and its mail went with it.
  virtual void left(msg::ActorId actor) = 0;
  virtual void handled(msg::ActorId by, std::uint32_t message, msg::Ticket ticket) = 0;
  /// An actor in the middle of a step has come to an operation: others may come before it goes on.
  virtual void reaches(Turn::Kind kind, std::size_t context, msg::ActorId actor,
                       msg::Ticket ticket) = 0;
};

/// A context's.
class Listener final : public msg::Observer {
 public:
  Listener(const Script& script, std::size_t context, std::shared_ptr<AtWork> at,
           Progress* progress, std::shared_ptr<msg::Observer> also);

  /// The next call of this context that arrives is this one.
  void expect(std::size_t call) { submitted_.push_back(call); }

  /// The actor that plays a role, if it is there yet.
  std::optional<msg::ActorId> actor_of(const Role& role) const;
  /// nullopt if it is another context's.
  std::optional<Role> role_of(msg::ActorId actor) const;

  void started(msg::ActorId actor, const char* kind) noexcept override;
  void ended(msg::ActorId actor) noexcept override {
    also_->ended(actor);
    if (progress_ != nullptr) progress_->left(actor);
  }
  void sent(msg::ActorId from, msg::ActorId to, const msg::MessageView& message) noexcept override;
  void received(msg::ActorId by, const msg::MessageView& message,
                msg::LogicalTime sent) noexcept override;
  void finished(msg::ActorId by, const msg::MessageView& message) noexcept override;
  void has_turn(msg::ActorId lane, const msg::carry_out& operation) noexcept override;
  void takes(msg::ActorId context, const msg::submit& call) noexcept override;
  void answers(msg::ActorId lane, msg::Ticket ticket, const std::optional<Error>& error,
               std::span<const Buffer> results) noexcept override {
    also_->answers(lane, ticket, error, results);
  }
  void rejects(msg::ActorId tensor, msg::Ticket ticket) noexcept override {
    also_->rejects(tensor, ticket);
    if (progress_ != nullptr) progress_->reaches(Turn::Kind::rejection, context_, tensor, ticket);
  }
  void loses(msg::ActorId by, msg::Ticket ticket) noexcept override { also_->loses(by, ticket); }
  void unheard(msg::ActorId lane, msg::Ticket ticket, const Error& error) noexcept override {
    also_->unheard(lane, ticket, error);
  }
  void takes_back(msg::ActorId lane, msg::Ticket ticket,
                  std::span<const std::byte> bytes) noexcept override {
    also_->takes_back(lane, ticket, bytes);
  }
  std::int64_t now() const noexcept override { return also_->now(); }
  void waited(msg::CallerWait why, std::int64_t begun) noexcept override {
    also_->waited(why, begun);
  }
  void carried_out(msg::ActorId lane, msg::Ticket ticket, bool submitted) noexcept override {
    also_->carried_out(lane, ticket, submitted);
    at_->call = nullptr;
    if (progress_ != nullptr) progress_->reaches(Turn::Kind::end, context_, lane, ticket);
  }

 private:
  void plays(const char* kind, std::uint64_t number, msg::ActorId actor);

  std::map<Role, msg::ActorId> actors_;
  std::map<msg::ActorId, Role> roles_;
  const Script& script_;
  const std::size_t context_;
  const std::shared_ptr<AtWork> at_;
  Progress* const progress_;  ///< null if there is no order
  const std::shared_ptr<msg::Observer> also_;
  std::deque<std::size_t> submitted_;              ///< on their way to the context
  const Call* taken_ = nullptr;                    ///< that the context is at
  std::map<msg::Ticket, const Call*> operations_;  ///< issued for them
};

}  // namespace polychron::replay
