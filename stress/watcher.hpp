// Watches the messages of a context for its board.
#pragma once

#include <map>

#include "stress/board.hpp"

namespace polychron::stress {

/// Sees every message, and lets others come between.
class Watcher final : public msg::Observer {
 public:
  explicit Watcher(std::shared_ptr<Board> board)
      : board_(std::move(board)), footprints_(board_->footprints) {}
  void started(msg::ActorId, const char* kind) noexcept override {
    const std::string_view name(kind);
    board_->created += name == "tensor" || name == "graph";
  }
  void ended(msg::ActorId) noexcept override {}
  void sent(msg::ActorId from, msg::ActorId to, const msg::MessageView& message) noexcept override {
    if (footprints_) footprints_->sent(to, message);
    auto& world = *board_->session->world;
    const auto caller = board_->session->caller();
    world.interrupt();
    if (from != 0 || !caller || !std::holds_alternative<const msg::submit*>(message)) return;
    if (!board_->making.contains(*caller)) {
      board_->history.broken = "a call reached a context that it was not made on";
      return;
    }
    const auto& call = std::get<const msg::submit*>(message)->call;
    auto& made = board_->enter(*caller);
    made.submitted |= !std::holds_alternative<msg::Report>(call);
    made.time = static_cast<unsigned>(
        std::chrono::duration_cast<std::chrono::milliseconds>(world.now().time_since_epoch())
            .count());
  }
  void received(msg::ActorId by, const msg::MessageView& message) noexcept override {
    ++board_->messages;
    if (footprints_) footprints_->received(by, message);
    const auto kind = static_cast<std::uint32_t>(message.index() + 1);
    auto& last = last_[by];
    board_->pairs.insert(last * 64 + kind);
    last = kind;
    board_->gone += std::holds_alternative<const msg::tensor_gone*>(message) ||
                    std::holds_alternative<const msg::graph_gone*>(message);
  }
  void finished(msg::ActorId, const msg::MessageView&) noexcept override {}
  void has_turn(msg::ActorId lane, const msg::carry_out& turn) noexcept override {
    if (footprints_) footprints_->carries_out(lane, turn.operation);
  }

 private:
  const std::shared_ptr<Board> board_;
  Footprints* const footprints_;
  std::map<msg::ActorId, std::uint32_t> last_;
};

}  // namespace polychron::stress
