// Facts that only the whole history tells: what will have been destroyed, cancelled or lost, and
// whether each failure was reported to the right listener.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "observe/stress/history.hpp"
#include "polychron/error_filter.hpp"

namespace polychron::stress {

class HistoryFacts {
 public:
  HistoryFacts(const Program& program, const History& history);

  /// The context ends, or a fault may lose it at some time.
  bool may_end() const { return ended_at || may_be_lost_; }
  bool may_be_lost() const { return may_be_lost_; }
  bool faulty(FaultPoint point) const { return points_.contains(point); }
  /// The graph of some fault always fails.
  bool inherent() const { return inherent_; }
  /// `call` may be refused memory, since not all that the program makes fits.
  bool lacks_bytes(const Call& call) const;
  /// The call may be refused. There may be no permit for it, or no bytes for a write's copy, and it
  /// does not wait for them. Or nobody in the world can admit it: its caller holds the lease that
  /// all wait for.
  bool may_be_turned_away(const Call& call) const;
  bool is_constant(std::size_t tensor) const { return constants_.contains(tensor); }
  bool destroys_graph(std::size_t graph) const { return graphs_.contains(graph); }
  bool cancels(unsigned cancellation) const { return cancelled_.contains(cancellation); }
  /// The call may be skipped: it is late, or cancelled.
  bool may_be_skipped(const Call& call) const;
  /// True if an operation failed by itself; nullopt if the reports do not tell.
  std::optional<bool> failed(const std::string& label) const;

  /// Indices in the history: of each destroyed tensor's destroy(), of each export's return, of the
  /// end of the context.
  std::map<std::size_t, std::size_t> destroyed_at, returned;
  std::optional<std::size_t> ended_at;
  /// An error in what listeners heard that no other event can excuse.
  std::optional<std::string> wrong;

 private:
  struct Scope {
    ErrorFilter filter;
    std::set<std::string> labels = {};  ///< of the calls in it
    std::size_t number = 0;
    bool thrown = false;  ///< a call threw an error that belongs to this scope
  };

  void foresee(const Program& program, const History& history);
  void listen(const History& history);
  void threw(const Made& made);
  void pop(const Made& made);
  void hear(const Error& error);
  void fail(const std::string& what);

  std::vector<Scope> open_;
  std::size_t scopes_ = 0;
  /// By label: the innermost scope of each filter around the call.
  std::map<std::string, std::map<ErrorFilter, std::size_t>> around_;
  std::map<std::string, int> heard_;
  std::set<std::string> swallowed_;  ///< labels whose error a scope may have dropped
  std::set<std::size_t> constants_, graphs_;
  std::set<unsigned> cancelled_;
  std::set<FaultPoint> points_;
  bool inherent_ = false, throws_ = false, may_be_lost_ = false, lends_ = false;
  bool few_places_ = false, scarce_ = false, blocks_ = true;
};

}  // namespace polychron::stress
