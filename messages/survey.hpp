// A question that every lane answers its part of.
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "polychron/future.hpp"
#include "polychron/pending.hpp"

namespace polychron::msg {

/// Collects what is pending on each lane; the last reference settles the reply. Thread-safe.
class Survey {
 public:
  explicit Survey(Promise<std::vector<PendingOperation>> reply) : reply_(std::move(reply)) {}
  Survey(const Survey&) = delete;
  Survey& operator=(const Survey&) = delete;
  ~Survey() { reply_.resolve(std::move(found_)); }

  void add(PendingOperation operation) {
    const std::lock_guard lock(mutex_);
    found_.push_back(std::move(operation));
  }

 private:
  std::mutex mutex_;
  std::vector<PendingOperation> found_;
  Promise<std::vector<PendingOperation>> reply_;
};

}  // namespace polychron::msg
