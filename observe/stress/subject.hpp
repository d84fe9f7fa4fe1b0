// A context under test: the objects that its clients share, and the record of what their calls led
// to.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "actors/environment.hpp"
#include "observe/stress/checked_backend.hpp"
#include "observe/stress/footprints.hpp"
#include "observe/stress/history.hpp"
#include "observe/stress/run.hpp"
#include "observe/stress/world.hpp"

namespace polychron::stress {

/// A reply that will tell the result of a call.
class Reply {
 public:
  virtual ~Reply() = default;
  virtual bool ready() const = 0;
  virtual Answer take() = 0;
};

struct Subject;

/// State that all contexts of a run share.
struct RunState {
  World* world = nullptr;
  RunRecording* recording = nullptr;                    ///< null without a recording
  std::vector<std::shared_ptr<Subject>> subjects = {};  ///< one for each context
  std::size_t callers = 0;  ///< numbers of clients, and of callbacks that call back in
  std::vector<std::size_t> calling_back = {};  ///< those under way, the innermost last

  /// The caller whose call is under way, if the innermost step is a call.
  std::optional<std::size_t> caller() const {
    if (const auto client = world->client_at_work()) return client;
    if (!world->callback_at_work() || calling_back.empty()) return std::nullopt;
    return calling_back.back();
  }
};

struct Subject {
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
    /// How often the holder was told that the lease is revoked.
    std::shared_ptr<unsigned> told = std::make_shared<unsigned>(0);
  };
  struct Waiting {
    std::size_t made;
    std::unique_ptr<Reply> reply;
  };
  /// A call under way, and its index in `history` once it is there.
  struct Making {
    Made made;
    std::optional<std::size_t> at;
  };

  RunState* run_state = nullptr;
  Program program;                   ///< of the whole run: the part about this context
  Footprints* footprints = nullptr;  ///< null unless the search needs them
  std::shared_ptr<Checks> checks = std::make_shared<Checks>();
  std::shared_ptr<FaultPlan> faults = std::make_shared<FaultPlan>();
  Context context;
  actors::EnvironmentRef environment;  ///< shared by its actors
  Future<LostInfo> lost;               ///< requested at the beginning
  std::uint64_t memory_limit = enough_bytes;
  std::vector<Graph> graphs;
  std::vector<Slot> slots;
  std::deque<Lent> lents;
  std::map<unsigned, Cancellation> cancellations;
  std::deque<Waiting> replies;
  std::deque<std::uint64_t> borrowed;  ///< memory of reads; stays where it is
  History history;
  std::set<MessagePair> pairs;
  std::vector<std::uint64_t> states;
  std::size_t messages = 0;
  /// Tensors and graphs: how many began, and how many ends the context heard of.
  std::size_t created = 0, gone = 0;
  unsigned losses = 0;             ///< how often it was told that the context is lost
  std::uint64_t weight = 0;        ///< of all operations that lanes were sent
  std::set<msg::Ticket> failures;  ///< of operations whose failure the context was told
  /// Objects that calls share with actors: loans, leases, bytes.
  std::vector<std::weak_ptr<const void>> brought;
  std::map<std::size_t, Making> making;  ///< by caller

  /// The current call of `caller`, which has its place in the history from here on.
  Made& enter(std::size_t caller) {
    auto& [made, at] = making[caller];
    if (!at) {
      at = history.calls.size();
      history.calls.push_back(made);
    }
    return history.calls[*at];
  }
  std::size_t place_of(std::size_t caller) {
    enter(caller);
    return *making[caller].at;
  }
  /// Notes the replies that have come: those of created tensors, or `all`.
  void collect(bool all);
};
}  // namespace polychron::stress
