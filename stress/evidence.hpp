// What only the whole of a history tells: what will have been destroyed, cancelled or lost, who
// heard of which failure, and whether it was theirs to hear.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "polychron/error_filter.hpp"
#include "stress/history.hpp"

namespace polychron::stress {

class Evidence {
 public:
  Evidence(const Program& program, const History& history);

  /// The context ends, or may be lost by a fault, at some time.
  bool may_end() const { return ended_at || may_be_lost_; }
  bool may_be_lost() const { return may_be_lost_; }
  bool faulty(FaultPoint point) const { return points_.contains(point); }
  /// Some fault is inherent in its graph.
  bool inherent() const { return inherent_; }
  /// `call` may be refused memory: all that the program makes does not fit.
  bool lacks_bytes(const Call& call) const;
  /// There may be no place for it, or no bytes for a write's copy, and it does not wait for them;
  /// or nobody in the world could let it in: who has the lease that all wait for.
  bool may_be_turned_away(const Call& call) const;
  bool is_constant(std::size_t tensor) const { return constants_.contains(tensor); }
  bool destroys_graph(std::size_t graph) const { return graphs_.contains(graph); }
  bool cancels(unsigned cancellation) const { return cancelled_.contains(cancellation); }
  /// It may be skipped: late, or cancelled.
  bool may_be_skipped(const Call& call) const;
  /// Whether an operation failed by itself, if that can be known: who was told says it.
  std::optional<bool> failed(const std::string& label) const;

  /// Places in the history: of each destroyed tensor's destroy(), of each export's return, of the
  /// end of the context.
  std::map<std::size_t, std::size_t> destroyed_at, returned;
  std::optional<std::size_t> ended_at;
  /// What is wrong with what was heard, whatever else happened.
  std::optional<std::string> wrong;

 private:
  struct Scope {
    ErrorFilter filter;
    std::set<std::string> labels = {};  ///< of the calls in it
    std::size_t number = 0;
    bool thrown = false;  ///< one of them threw what is this scope's to have
  };

  void foresee(const Program& program, const History& history);
  void listen(const History& history);
  void threw(const Made& made);
  void pop(const Made& made);
  void hear(const Error& error);
  void fail(const std::string& what);

  std::vector<Scope> open_;
  std::size_t scopes_ = 0;
  /// By label: of each filter the innermost scope around the call.
  std::map<std::string, std::map<ErrorFilter, std::size_t>> around_;
  std::map<std::string, int> heard_;
  std::set<std::string> swallowed_;  ///< labels of which a scope may have kept an error to itself
  std::set<std::size_t> constants_, graphs_;
  std::set<unsigned> cancelled_;
  std::set<FaultPoint> points_;
  bool inherent_ = false, throws_ = false, may_be_lost_ = false, lends_ = false;
  bool few_places_ = false, scarce_ = false, blocks_ = true;
};

}  // namespace polychron::stress
