// What goes with a Call and only this process can hold: the place among the operations in flight,
// who is to be answered, and what was lent.
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

/// What a successful build tells the caller.
struct Built {
  NamedDescriptors inputs, outputs;
  std::vector<std::string> plan;
  std::size_t constant_bytes = 0;
  std::size_t arena_bytes = 0;
};

/// A lease on its way to its holder.
struct Grant {
  LeaseRef lease;
  Promise<void> reply;
};
/// A build's answer, and the bytes of the description until it is compiled.
struct BuildReply {
  Promise<Built> reply;
  std::shared_ptr<Reservation> description_bytes;
};
using ErrorReply = Promise<std::optional<Error>>;
using PendingReply = Promise<std::vector<PendingOperation>>;
using ErrorHandler = std::function<void(const Error&)>;

/// Whom to answer: of each call at most one.
using Reply = std::variant<std::monostate, Promise<void>, ReadRef, BatchRef, Grant, BuildReply,
                           ErrorReply, PendingReply, ErrorHandler>;

struct LocalPart {
  Reply reply;
  Place place;
  CancellationRef cancellation;
};

}  // namespace polychron::msg
