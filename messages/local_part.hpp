// The parts of a Call that only this process can hold: the permit, the reply, and lent buffers.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "messages/call.hpp"
#include "messages/shared/admission.hpp"
#include "messages/shared/callbacks.hpp"
#include "messages/shared/lease.hpp"
#include "messages/shared/loan.hpp"
#include "polychron/future.hpp"
#include "polychron/graph.hpp"
#include "polychron/pending.hpp"

namespace polychron::msg {

/// The reply of a successful build.
struct Built {
  NamedDescriptors inputs, outputs;
  std::vector<std::string> plan;
  std::vector<std::string> labels;  ///< of the plan's steps
  GraphMemory memory;
};

/// A lease on its way to its holder.
struct LeaseReply {
  LeaseRef lease;
  Promise<void> reply;
};
/// A build's reply, and the reserved bytes of the description until it is compiled.
struct BuildReply {
  Promise<Built> reply;
  std::shared_ptr<Reservation> description_bytes;
};
using ErrorReply = Promise<std::optional<Error>>;
using PendingReply = Promise<std::vector<PendingOperation>>;

/// The handler of errors that no scope takes. Its captures belong to the user, so they must be
/// destroyed where callbacks run: the destructor posts its share there. Movable; one owner.
class ErrorHandler {
 public:
  struct Function final : polychron::detail::Deferred {
    explicit Function(std::function<void(const Error&)> f) : call(std::move(f)) {}
    void run() override {}  // posted only to be dropped there
    const std::function<void(const Error&)> call;
  };
  ErrorHandler() = default;
  ErrorHandler(std::function<void(const Error&)> call,
               std::shared_ptr<const polychron::detail::Origin> origin)
      : function_(std::make_shared<Function>(std::move(call))), origin_(std::move(origin)) {}
  ErrorHandler(ErrorHandler&&) noexcept = default;
  ErrorHandler(const ErrorHandler&) noexcept {}  // CAF requires copyable messages
  ErrorHandler& operator=(ErrorHandler other) noexcept {
    function_.swap(other.function_);
    origin_.swap(other.origin_);
    return *this;
  }
  ~ErrorHandler() {
    if (function_) origin_->post(std::move(function_));
  }
  explicit operator bool() const noexcept { return function_ != nullptr; }
  /// A share for a callback that calls the handler.
  std::shared_ptr<const Function> share() const noexcept { return function_; }

 private:
  std::shared_ptr<Function> function_;
  std::shared_ptr<const polychron::detail::Origin> origin_;
};

/// The reply of a call; each call has at most one.
using Reply = std::variant<std::monostate, Promise<void>, ReadRef, BatchRef, LeaseReply, BuildReply,
                           ErrorReply, PendingReply, ErrorHandler>;

struct LocalPart {
  Reply reply;
  Permit permit;
  CancellationRef cancellation;
};

}  // namespace polychron::msg
