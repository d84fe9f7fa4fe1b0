// The schedule of a recording, for a driven world.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "observe/replay/drivers.hpp"
#include "observe/replay/listener.hpp"
#include "observe/stress/strategy.hpp"
#include "observe/stress/world.hpp"

namespace polychron::replay {

/// Lets actors and callers act in the recorded order, and stop where others came between. An actor
/// takes the message of its turn out of its mail. A turn that cannot be made is passed over. Its
/// message is none of this world's, or comes later and then is handled as soon as it is there. When
/// the order has ended, the others go on until all is done.
class RecordedOrder final : public stress::Strategy, public Progress {
 public:
  explicit RecordedOrder(const Script& script);

  /// Lets the world run to its end. `listeners` are the contexts', in their order. Before and after
  /// that it holds nobody back.
  void run(stress::World& world, std::vector<const Listener*> listeners);

  std::size_t pick(std::span<const stress::Runnable> runnables) override;
  std::optional<std::size_t> choose(std::span<const stress::Runnable> runnables) override;
  void took(std::size_t call) override;
  void began(msg::ActorId actor) override { begun_.insert(actor); }
  void left(msg::ActorId actor) override;
  void handled(msg::ActorId by, std::uint32_t message, msg::Ticket ticket) override;
  void reaches(Turn::Kind kind, std::size_t context, msg::ActorId actor,
               msg::Ticket ticket) override;

 private:
  using Runnables = std::span<const stress::Runnable>;
  bool ended() const { return world_ == nullptr || at_ == script_.order.size(); }
  const Turn& turn() const { return script_.order[at_]; }
  std::optional<msg::ActorId> wanted() const;
  /// The message of this turn has been handled.
  bool was_early(msg::ActorId actor);
  /// True if an actor that has been told to end does so at a turn that is to come.
  bool leaves_later(msg::ActorId actor) const;
  /// An actor that acts as soon as it can, outside the order. It has only to begin, or to end in no
  /// turn, or has a message that is late. Or it is a lane that asks another how far it is, where it
  /// did not in the recording.
  std::optional<std::size_t> idle(Runnables runnables) const;
  /// True if this turn is about the message.
  bool is_next(const msg::MessageView& message) const;
  /// True if the message should be handled at once: its turn has gone, or it has none.
  bool is_late(msg::ActorId actor, const msg::MessageView& message) const;
  /// Finds the actor or caller that makes the next turn. Passes over turns that nobody can make.
  /// Returns nullopt if all turns are made, or the next is that of an actor that has stopped.
  std::optional<std::size_t> find(Runnables runnables);
  /// The turn is made, or cannot be.
  void next();

  const Script& script_;
  stress::World* world_ = nullptr;
  std::vector<const Listener*> listeners_;
  Drivers drivers_;
  /// Where an actor stops in the middle of a step: for which context's operation.
  using Stop = std::tuple<Turn::Kind, std::size_t, msg::Ticket>;
  std::map<msg::ActorId, Stop> stopped_;
  std::set<Stop> past_;  ///< reached, or passed over
  using Handling = std::tuple<msg::ActorId, std::uint32_t, msg::Ticket>;
  /// How many messages of a kind an actor handled before their turn. Negative: the number of turns
  /// that were passed over, and whose messages come later.
  std::map<Handling, int> early_;
  int late_ = 0;  ///< messages that come later
  std::set<msg::ActorId> begun_, left_;
  /// How often lanes are yet to ask each other.
  std::map<std::tuple<Role, std::uint32_t, msg::Ticket>, int> questions_;
  std::set<Role> leaving_;  ///< whose ends are yet to come
  std::size_t at_ = 0;
  bool called_ = false;  ///< the call of this turn is on its way
};

}  // namespace polychron::replay
