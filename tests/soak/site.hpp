// A context of the soak with its workers and objects, and the statistics that it must have at rest,
// and at any time.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>

#include "tests/soak/tally.hpp"

namespace polychron::soak {

/// Objects that should live in a context, by the handles to them.
struct Ledger {
  std::atomic<std::int64_t> tensors{0}, graphs{0};
  std::atomic<std::int64_t> bytes{0};   ///< of tensors and of plans' constants
  std::atomic<std::int64_t> arenas{0};  ///< at most: a lane has one once it has used the plan
};

/// An entry in a ledger, as long as the handle that it stands beside. Movable.
class LedgerEntry {
 public:
  LedgerEntry() = default;
  LedgerEntry(std::shared_ptr<Ledger> ledger, std::int64_t tensors, std::int64_t graphs,
              std::int64_t bytes, std::int64_t arenas)
      : ledger_(std::move(ledger)),
        tensors_(tensors),
        graphs_(graphs),
        bytes_(bytes),
        arenas_(arenas) {
    add(1);
  }
  LedgerEntry(LedgerEntry&& other) noexcept = default;
  LedgerEntry& operator=(LedgerEntry&& other) noexcept {
    if (ledger_) add(-1);
    ledger_ = std::move(other.ledger_);
    tensors_ = other.tensors_;
    graphs_ = other.graphs_;
    bytes_ = other.bytes_;
    arenas_ = other.arenas_;
    return *this;
  }
  ~LedgerEntry() {
    if (ledger_) add(-1);
  }

 private:
  void add(std::int64_t sign) noexcept {
    ledger_->tensors += sign * tensors_;
    ledger_->graphs += sign * graphs_;
    ledger_->bytes += sign * bytes_;
    ledger_->arenas += sign * arenas_;
  }
  std::shared_ptr<Ledger> ledger_;
  std::int64_t tensors_ = 0, graphs_ = 0, bytes_ = 0, arenas_ = 0;
};

/// A context of one worker, or of several. A worker takes a step with a Visit. A worker that needs
/// the context at rest keeps the others out.
class Site {
 public:
  Site(Context of, const ContextOptions& with) : context(std::move(of)), options(with) {}

  Context context;
  const ContextOptions options;
  const std::shared_ptr<Ledger> ledger = std::make_shared<Ledger>();
  const std::shared_ptr<Open> open = std::make_shared<Open>(0);

  LedgerEntry note_tensor(const Tensor& tensor) const;
  LedgerEntry note_graph(const Graph& graph) const;

  /// Among others.
  std::shared_lock<std::shared_mutex> visit() {
    const std::lock_guard turn(turnstile_);
    return std::shared_lock(traffic_);
  }
  /// Alone. Workers that want in wait behind this, so that it does come to be alone.
  std::unique_lock<std::shared_mutex> close_off() {
    const std::lock_guard turn(turnstile_);
    return std::unique_lock(traffic_);
  }

  bool gone() const { return context.lost().ready(); }

  /// Checks the limits, which hold at any time.
  void check_limits(Tally& tally) const;
  /// Alone there: waits for every reply, then until statistics say what the ledger says. False if
  /// they never do, or if the context went meanwhile.
  bool comes_to_rest(Tally& tally);
  /// After the runtime: nothing is in flight, nothing is held.
  void check_end(Tally& tally) const;

 private:
  std::mutex turnstile_;
  std::shared_mutex traffic_;
  std::atomic<bool> given_up_{false};
};

/// Looks until `true_now` holds; gives up after half a minute, which is for ever.
bool comes_true(const std::function<bool()>& true_now);

}  // namespace polychron::soak
