// Every schedule of a program, without those that differ only by the order of independent steps.
#pragma once

#include "observe/stress/footprints.hpp"
#include "observe/stress/strategy.hpp"

namespace polychron::stress {

/// Depth first search with dynamic partial-order reduction (Flanagan, Godefroid, POPL 2005) and
/// sleep sets (Godefroid 1996). `do run(program, strategy); while (strategy.next())` meets every
/// order of dependent steps, and few of those orders twice. Only the clients' part is searched: the
/// steps before and after it have one order. Footprints do not include the dependencies of
/// deadlines, cancellations, few permits, few bytes and interrupted handlers. In programs with
/// these, some orders are lost.
class SystematicStrategy final : public Strategy {
 public:
  enum class Reduction : std::uint8_t {
    none,  ///< every order, for comparison
    partial_order,
  };
  explicit SystematicStrategy(Reduction reduction = Reduction::partial_order)
      : reduction_(reduction) {}
  /// Throws logic_error if the world differs from the run before on the way.
  std::size_t pick(std::span<const Runnable> runnables) override;
  Footprints* footprints() override { return &footprints_; }

  /// Goes on to the next schedule; false if all have been tried.
  bool next();
  /// Every further step of this run leads to a known state: its end shows nothing new.
  bool redundant() const { return blocked_; }
  /// Steps that were looked at, each after a different beginning.
  std::uint64_t states() const { return states_; }

 private:
  /// A step that was made, and the steps that could have been made instead.
  struct Node {
    std::vector<Name> enabled;
    Name chosen = 0;
    Footprint made;                 ///< of the chosen step, once it was made
    std::vector<Footprint> asleep;  ///< steps that lead to known states
    std::vector<Name> wanted;       ///< steps that must be tried here
    std::vector<bool> after;        ///< which earlier steps it comes after
  };
  static bool contains(const std::vector<Name>& names, Name name);
  static bool sleeps(const Node& node, Name name);
  /// Notes what the step before touched, and which steps it races with.
  void look_back();
  void find_races(std::size_t at);
  void want_before(std::size_t at, std::size_t later);
  Node node_of(std::span<const Runnable> runnables) const;

  const Reduction reduction_;
  Footprints footprints_;
  std::vector<Node> path_;
  std::size_t at_ = 0, fresh_ = 0;
  bool blocked_ = false;
  std::uint64_t states_ = 0;
};

}  // namespace polychron::stress
