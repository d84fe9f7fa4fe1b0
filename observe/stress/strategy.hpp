// A strategy sees the actors and clients of a World that can run, and picks the next one.
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

#include "actors/engine/mailbox_actor.hpp"
#include "messages/observer.hpp"

namespace polychron::stress {

/// The maker of a step: an actor by its number, 0 for the callbacks, clients from `first_client`
/// on.
using Name = std::uint64_t;
inline constexpr Name callbacks_name = 0;
inline constexpr Name first_client = Name{1} << 32U;
/// The number of the client that stands for a World's first device.
inline constexpr std::size_t first_device = 1'000'000;

/// A possible maker of the next step: an actor with mail, the thread that runs callbacks, or a
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
  /// Tells actors of a kind apart: a number in the order of their creation; 0 for the callbacks.
  std::uint64_t id() const { return is_client() ? name_ - first_client : name_; }
  bool is_client() const { return name_ >= first_client; }
  bool is_callbacks() const { return name_ == callbacks_name; }
  /// Tells all runnables apart, also those of other kinds.
  Name name() const { return name_; }
  /// The kind of message that it would handle: "carry_out"; empty if it only has to begin or end.
  std::string message() const;
  /// Objects that the operation in that message touches, and whether it changes them; empty for
  /// other messages. Steps of different lanes whose footprints do not meet can be exchanged.
  std::vector<std::pair<msg::Object, bool>> footprint() const;
  /// Makes it handle next the first message for which `wanted` is true, urgent or not. False if
  /// there is none.
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
  /// Where to tell what each step touches; null if the strategy does not need it.
  virtual Footprints* footprints() { return nullptr; }
  virtual std::size_t pick(std::span<const Runnable> runnables) = 0;
  /// As pick(), but may answer nullopt: none of them, the world rests.
  virtual std::optional<std::size_t> choose(std::span<const Runnable> runnables) {
    return pick(runnables);
  }
  /// `running` is in the middle of a step. Returns which of `runnables` makes one before it goes
  /// on, if any.
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
  /// Interrupts one time in eight.
  std::optional<std::size_t> interrupt(const Runnable&,
                                       std::span<const Runnable> runnables) override {
    if (random_() % 8 != 0) return std::nullopt;
    return pick(runnables);
  }

 private:
  std::mt19937_64 random_;
};

/// The picks of a run, one after the other. After a pick that could be interrupted comes 0 or the
/// number of the interrupter. Enough to run it again.
using Schedule = std::vector<std::uint32_t>;
/// "0.2.1"; nothing for a schedule without picks.
std::string to_string(const Schedule& schedule);
/// Throws Error (bad_data) for any other text.
Schedule schedule_from_string(const std::string& text);

/// Runs a schedule again. After its end it always picks the first.
class ReplayStrategy : public Strategy {
 public:
  explicit ReplayStrategy(Schedule schedule) : schedule_(std::move(schedule)) {}
  /// Throws Error (bad_data) where the world is not the recorded one.
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
