// A question that every lane answers its part of.
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "messages/shared/admission.hpp"
#include "polychron/future.hpp"
#include "polychron/pending.hpp"

namespace polychron::msg {

/// Collects what is pending on each lane; the last reference settles the reply: with the loss of
/// the context unless every lane has answered. Written by lanes. Thread-safe.
class Survey {
 public:
  /// `permit` is the call's, until it is answered.
  Survey(Promise<std::vector<PendingOperation>> reply, std::size_t lanes,
         std::shared_ptr<const polychron::detail::Origin> origin, Permit permit)
      : reply_(std::move(reply)),
        origin_(std::move(origin)),
        permit_(std::move(permit)),
        lanes_left_(lanes) {}
  Survey(const Survey&) = delete;
  Survey& operator=(const Survey&) = delete;
  ~Survey() {
    permit_.give_back();
    if (lanes_left_ == 0)
      reply_.resolve(std::move(found_));
    else
      reply_.reject(origin_->error());
  }

  /// By each lane, once.
  void answer(std::vector<PendingOperation> operations) {
    const std::lock_guard lock(mutex_);
    for (auto& operation : operations) found_.push_back(std::move(operation));
    --lanes_left_;
  }

 private:
  std::mutex mutex_;
  std::vector<PendingOperation> found_;
  const Promise<std::vector<PendingOperation>> reply_;
  const std::shared_ptr<const polychron::detail::Origin> origin_;
  Permit permit_;
  std::size_t lanes_left_;
};

}  // namespace polychron::msg
