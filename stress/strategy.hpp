// Who goes next in a World: what a strategy can see, and what it decides.
#pragma once

#include <caf/all.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "messages/observer.hpp"
#include "actors/engine/mailbox_actor.hpp"

namespace polychron::stress {

/// Who makes a step: an actor by its number, 0 for the callbacks, clients from `first_client` on.
using Name = std::uint64_t;
inline constexpr Name callbacks_name = 0;
inline constexpr Name first_client = Name{1} << 32U;

/// Somebody who could make the next step: an actor with mail, the thread that runs callbacks, or a
/// client. Valid until that step.
class Runnable {
 public:
  /// The callback thread.
  Runnable() = default;
  /// An actor of a world in which `first_id` is the number before the first.
  Runnable(caf::resumable& job, caf::actor_id first_id);
  /// A client of a World, by its number.
  explicit Runnable(std::size_t client) : kind_("client"), name_(first_client + client) {}

  /// "context", "device", "tensor", "callbacks", "client", ...
  const char* actor() const { return kind_; }
  /// Tells actors of a kind apart: in the order in which they were made; 0 for the callbacks.
  std::uint64_t id() const { return is_client() ? name_ - first_client : name_; }
  bool is_client() const { return name_ >= first_client; }
  bool is_callbacks() const { return name_ == callbacks_name; }
  /// Tells everybody apart, those of other kinds too.
  Name name() const { return name_; }
  /// What kind of message it would handle: "carry_out"; empty if it only has to begin or end.
  std::string message() const;
  /// What the operation in that message touches, and whether it changes it; empty for other
  /// messages. Steps of different lanes whose footprints do not meet can be exchanged.
  std::vector<std::pair<msg::Object, bool>> footprint() const;
  /// Has it handle the first message next that `wanted` is true of, whatever came before, urgently
  /// or not. False if there is none.
  bool prefer(const std::function<bool(const msg::MessageView&)>& wanted) const;

 private:
  const caf::mailbox_element* next() const;
  engine::MailboxActor* actor_ = nullptr;
  const char* kind_ = "callbacks";
  Name name_ = callbacks_name;
};

class Footprints;

/// Decides which of `runnables` (at least one) makes the next step.
class Strategy {
 public:
  virtual ~Strategy() = default;
  /// Where to tell what each step touches, if anybody wants to know.
  virtual Footprints* footprints() { return nullptr; }
  virtual std::size_t pick(std::span<const Runnable> runnables) = 0;
  /// Likewise; nullopt: none of them, the world rests.
  virtual std::optional<std::size_t> choose(std::span<const Runnable> runnables) {
    return pick(runnables);
  }
  /// `running` is in the middle of a step: which of `runnables` makes one before it goes on, if
  /// any.
  virtual std::optional<std::size_t> interrupt(const Runnable& running,
                                               std::span<const Runnable> runnables) {
    static_cast<void>(running), static_cast<void>(runnables);
    return std::nullopt;
  }
};

/// Uniformly at random, from a seed.
class RandomStrategy : public Strategy {
 public:
  explicit RandomStrategy(std::uint64_t seed) : random_(seed) {}
  std::size_t pick(std::span<const Runnable> runnables) override {
    return static_cast<std::size_t>(random_() % runnables.size());
  }
  /// Once in eight times.
  std::optional<std::size_t> interrupt(const Runnable&,
                                       std::span<const Runnable> runnables) override {
    if (random_() % 8 != 0) return std::nullopt;
    return pick(runnables);
  }

 private:
  std::mt19937_64 random_;
};

/// The picks of a run, one after the other, and where a step could be interrupted 0 or the number
/// after the pick: enough to run it again.
using Schedule = std::vector<std::uint32_t>;
/// "0.2.1"; nothing for a schedule without picks.
std::string to_string(const Schedule& schedule);
/// Throws Error (bad_data) for anything else.
Schedule schedule_from_string(const std::string& text);

/// Runs a schedule again; where it ends, always the first.
class ReplayStrategy : public Strategy {
 public:
  explicit ReplayStrategy(Schedule schedule) : schedule_(std::move(schedule)) {}
  /// Throws Error (bad_data) where the world is not the one that was recorded.
  std::size_t pick(std::span<const Runnable> runnables) override;
  std::optional<std::size_t> interrupt(const Runnable&,
                                       std::span<const Runnable> runnables) override;

 private:
  /// The next number, which is below `bound`; 0 after the end.
  std::uint32_t next(std::size_t bound);
  const Schedule schedule_;
  std::size_t at_ = 0;
};

}  // namespace polychron::stress
