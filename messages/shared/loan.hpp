// The buffers that a caller lends to an operation, and gets back with the answer.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/invariant.hpp"
#include "messages/shared/logical_clock.hpp"
#include "polychron/buffer.hpp"
#include "polychron/future.hpp"

namespace polychron::msg {

/// The buffers of a read or a compute, with the promise to return them. Shared by the messages and
/// actors on the way. Two of them may want to answer. One is the device, which must not be
/// interrupted while it works on the buffers. The other is the object's actor, when the object or
/// the context goes. The first to claim the loan has its content, and answers. If all of them go
/// and none has answered, the last one answers with the loss of the context: no loan is ever lost.
/// `Content` has a member `error`, an optional<Error>.
template <class Content>
class Loan {
 public:
  Loan(Content lent, Promise<Content> reply,
       std::shared_ptr<const polychron::detail::Origin> origin)
      : content(std::move(lent)), reply_(std::move(reply)), origin_(std::move(origin)) {}
  Loan(const Loan&) = delete;
  Loan& operator=(const Loan&) = delete;
  ~Loan() {
    if (!answered_) answer(origin_->error());
  }

  /// True for the first who asks. Thread-safe.
  bool claim() noexcept { return claimed_.set(); }
  /// By the claimant, once: gives the content back, as it is.
  void answer() {
    ensure(!answered_, "a loan is given back once");
    answered_ = true;
    reply_.resolve(std::move(content));
  }
  void answer(Error error) {
    content.error = std::move(error);
    answer();
  }
  /// By the object's side, when that goes: answers with the loss of the context, unless a lane is
  /// at work on the content and will.
  void give_up() noexcept {
    if (claim()) answer(origin_->error());
  }

  Content content;  ///< touched by the claimant only

 private:
  RacedFlag claimed_;
  bool answered_ = false;
  const Promise<Content> reply_;
  const std::shared_ptr<const polychron::detail::Origin> origin_;
};

/// The object's side of a loan, from the message that tells its actor until the answer. When it
/// goes, the loan is given up, and does not wait for the lane, which may be busy. It may go with
/// the mail of an actor that has ended. Movable; a copy holds nothing (CAF wants messages that can
/// be copied, and never copies ours).
template <class Content>
class LoanGuard {
 public:
  LoanGuard(std::shared_ptr<Loan<Content>> loan) noexcept : loan_(std::move(loan)) {}
  LoanGuard(LoanGuard&&) noexcept = default;
  LoanGuard(const LoanGuard&) noexcept {}
  LoanGuard& operator=(LoanGuard other) noexcept {
    std::swap(loan_, other.loan_);
    return *this;
  }
  ~LoanGuard() {
    if (loan_) loan_->give_up();
  }
  Loan<Content>* operator->() const noexcept { return loan_.get(); }

 private:
  std::shared_ptr<Loan<Content>> loan_;
};

/// The answer to a read: the bytes, or an error and the caller's buffer.
struct ReadReply {
  Buffer buffer;  ///< the caller's, or empty for the device to make one
  std::optional<Error> error;
};
using ReadRef = std::shared_ptr<Loan<ReadReply>>;
using ReadLoanGuard = LoanGuard<ReadReply>;

/// The buffers of a compute() call, in the order of the graph's inputs and outputs, on their way
/// there and back.
struct BatchReply {
  std::vector<Buffer> inputs, outputs;
  std::optional<Error> error;
  std::vector<double> seconds;  ///< of each step, if they are asked for; else empty
};
using BatchRef = std::shared_ptr<Loan<BatchReply>>;
using BatchLoanGuard = LoanGuard<BatchReply>;

}  // namespace polychron::msg
