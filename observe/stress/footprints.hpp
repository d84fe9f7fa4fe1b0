// The parts of a World that each step touches. Two steps that touch nothing in common can be
// exchanged, so a search can leave out one of their orders.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "messages/observer.hpp"
#include "observe/stress/strategy.hpp"

namespace polychron::stress {

/// A part of a world that two steps may both touch. A step that ends a context touches
/// `everything`.
enum class Part : std::uint8_t {
  actor,
  mail,
  object,
  progress,
  slot,
  handle,
  faults,
  survey,
  leases,
  everything
};

struct Touch {
  Part part = Part::actor;
  std::uint64_t id = 0;
  bool writes = true;
  friend auto operator<=>(const Touch&, const Touch&) = default;
};

/// The footprint of one step.
struct Footprint {
  Name name = 0;
  std::vector<Touch> touches;
  /// The step that sent the handled message, counted from the first recorded step. This step cannot
  /// come before it.
  std::optional<std::size_t> cause;
};

/// True if the order of two steps may matter.
bool dependent(const Footprint& a, const Footprint& b);

/// Records footprints while recording is on. Where in doubt it records more: a part that is touched
/// without a change, or that might be touched, counts as touched. A World and its observer feed it.
class Footprints {
 public:
  void record(bool on) { recording_ = on; }
  bool recording() const { return recording_; }
  /// Begins a new run, of a world whose actors are numbered from `first_id` + 1.
  void restart(msg::ActorId first_id = 0);
  /// The footprint of the latest step.
  const Footprint& last() const { return last_; }

  void begin(Name name);
  /// The step may meet any other.
  void touches_all() { touch(Part::everything, 0); }
  void touch(Part part, std::uint64_t id, bool writes = true);
  /// `to` can handle a further message from now on, in its turn.
  void sent(Name to);
  void received(Name by);
  void sent(msg::ActorId to, const msg::MessageView& message);
  void received(msg::ActorId by, const msg::MessageView& message);
  void carries_out(msg::ActorId by, const msg::Operation& operation);
  /// Faults are counted, so the order of the operations matters.
  void count_faults(bool counted) { faults_ = counted; }
  /// Tensors are lent, so holders see when a lease is revoked.
  void lends(bool lends) { lends_ = lends; }

 private:
  void learn(const msg::Operation& operation);

  bool recording_ = false, faults_ = false, lends_ = false;
  Footprint last_;
  std::size_t steps_ = 0;
  msg::ActorId first_id_ = 0;
  std::map<Name, std::deque<std::optional<std::size_t>>> mail_;  ///< senders of what waits there
  std::map<msg::Object, Name> owners_;                           ///< the actors of slots
  std::map<Name, std::set<std::uint32_t>> waits_;  ///< lanes that a lane may have to wait for
  std::map<Name, std::uint32_t> lanes_;
};

}  // namespace polychron::stress
