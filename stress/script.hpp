// Clients that make a program's calls, step by step, and the board on which all of it is written.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "ops/graph.hpp"
#include "stress/checked_backend.hpp"
#include "stress/footprints.hpp"
#include "stress/history.hpp"
#include "stress/run.hpp"
#include "stress/world.hpp"

namespace polychron::stress {

/// A reply that will tell what came of a call.
class Reply {
 public:
  virtual ~Reply() = default;
  virtual bool ready() const = 0;
  virtual Answer take() = 0;
};

/// A graph that the program's backend can compute.
std::shared_ptr<const ops::Graph> graph_for(const Program& program, const std::string& label,
                                            std::size_t inputs);

/// What all clients share.
struct Board {
  struct Slot {
    std::optional<Tensor> tensor;
    bool failed = false;  ///< there will be no tensor
    bool destroyed = false;
  };
  struct Lent {
    std::size_t client, tensor, made;
    std::optional<Future<TensorLease>> future;
    std::optional<TensorLease> lease;
    bool ended = false, heard = false;
  };
  struct Waiting {
    std::size_t made;
    std::unique_ptr<Reply> reply;
  };

  World* world = nullptr;
  const Program* program = nullptr;
  Footprints* footprints = nullptr;  ///< null unless the search wants to know
  std::shared_ptr<Checks> checks = std::make_shared<Checks>();
  Context context;
  std::uint64_t memory_limit = enough_bytes;
  std::vector<Graph> graphs;
  std::vector<Slot> slots;
  std::deque<Lent> lents;
  std::map<unsigned, Cancellation> cancellations;
  std::deque<Waiting> replies;
  std::deque<std::uint64_t> borrowed;  ///< memory of reads; stays where it is
  History history;
  std::set<MessagePair> pairs;
  std::size_t messages = 0;
  /// Tensors and graphs: how many began, and of how many the context heard that they have ended.
  std::size_t created = 0, gone = 0;

  /// Of each client, the number of its present call in `history`, once it is there.
  std::vector<std::optional<std::size_t>> present;
  std::vector<Made> making;

  std::size_t enter(std::size_t client) {
    auto& at = present[client];
    if (!at) {
      at = history.calls.size();
      history.calls.push_back(making[client]);
    }
    return *at;
  }
};

/// A client.
class Script final : public Client {
 public:
  Script(Board& board, std::size_t number) : board_(board), number_(number) {}

  bool done() const { return at_ == calls().size(); }
  bool ready() const override;
  void step() override;
  /// Nobody will make what it waits for.
  void skip() { ++at_; }
  /// Notes what came of an export that is settled.
  static void settle(Board& board, Board::Lent& lent);

 private:
  const std::vector<Call>& calls() const { return board_.program->clients[number_]; }
  Board::Lent* first_lent(std::size_t tensor) const;
  /// What the call needs is there.
  bool possible(const Call& call) const;
  /// `is(slot)` for every tensor that the call needs; true for one that needs none.
  template <class Is>
  bool of_its_tensors(const Call& call, Is is) const;
  void note_touches(const Call& call) const;
  template <class T, class Tell>
  void expect(Future<T> future, Tell tell);
  template <class Options>
  Options conditions(const Call& call, const std::string& label);
  /// A tensor that will be in `slot`.
  void create(std::size_t slot, Future<Tensor> future);
  void make(const Call& call, const std::string& label);
  void compute(const Call& call, const std::string& label);
  void give_back(const Call& call);
  void read(const Call& call);

  Board& board_;
  const std::size_t number_;
  std::size_t at_ = 0;
};

}  // namespace polychron::stress
