// What a caller lends to an operation, and gets back with the answer.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "polychron/future.hpp"

namespace polychron::msg {

/// The buffers of a read or a compute, with the promise to return them. Shared by the messages and
/// actors on the way. Two may want to answer: the device, which must not be interrupted while it
/// works on the buffers, and the object's actor, when the object or the context goes. Whoever
/// claims the loan first has its content, and answers or sees to it that the other does. If all of
/// them go without, the last one answers with the loss of the context: nothing that was lent is
/// ever lost. `Content` has a member `error`, an optional<Error>.
template <class Content>
class Loan {
 public:
  /// `operation`: a literal, for the error.
  Loan(const char* operation, Content lent, Promise<Content> reply,
       std::shared_ptr<const polychron::detail::Abandonment> lost)
      : content(std::move(lent)),
        operation_(operation),
        reply_(std::move(reply)),
        lost_(std::move(lost)) {}
  Loan(const Loan&) = delete;
  Loan& operator=(const Loan&) = delete;
  ~Loan() {
    if (!answered_) answer(lost_->error().with_operation(operation_));
  }

  /// True for the first who asks. Thread-safe.
  bool claim() noexcept { return !claimed_.exchange(true); }
  /// Gives the content back, as it is.
  void answer() {
    answered_ = true;
    reply_.resolve(std::move(content));
  }
  void answer(Error error) {
    content.error = std::move(error);
    answer();
  }

  Content content;  ///< touched by the claimant only

 private:
  std::atomic<bool> claimed_{false};
  bool answered_ = false;
  const char* const operation_;
  const Promise<Content> reply_;
  const std::shared_ptr<const polychron::detail::Abandonment> lost_;
};

template <class Content>
std::string describe(const std::shared_ptr<Loan<Content>>& loan) {
  return loan ? "lent" : "none";
}

}  // namespace polychron::msg
