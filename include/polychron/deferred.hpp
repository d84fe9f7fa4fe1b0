// Callbacks on their way: the library's side of a future. Not for embedders.
#pragma once

#include <memory>

namespace polychron::detail {

class Origin;

/// A user's callback on its way to the thread that runs it. It carries the queue's link, so that
/// handing it over cannot fail.
class Deferred {
 public:
  virtual ~Deferred() = default;
  /// Runs the user's code, once; passes on what that throws.
  virtual void run() = 0;
  /// The origin that counts it while it waits for the callback thread; null: none.
  virtual const Origin* origin_of_reply() const noexcept { return nullptr; }

 private:
  friend class DeferredQueue;
  std::shared_ptr<Deferred> next_;
};

}  // namespace polychron::detail
