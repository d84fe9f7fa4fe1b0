// The tensor protocol: what a tensor actor may be told, by its context and by the device.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "messages/ids.hpp"
#include "messages/inspect.hpp"
#include "messages/lease.hpp"
#include "messages/loan.hpp"
#include "messages/memory.hpp"
#include "polychron/buffer.hpp"
#include "polychron/future.hpp"
#include "polychron/result.hpp"

namespace polychron::msg {

/// The answer to a read: the bytes, or an error and the caller's buffer.
struct ReadReply {
  Buffer buffer;  ///< the caller's, or empty for the device to make one
  std::optional<Error> error;
};
using Read = Loan<ReadReply>;
using ReadRef = std::shared_ptr<Read>;

// -- from the context -----------------------------------------------------------------------------

/// Reserve and zero the memory. `reply` settles when that is done.
struct create {
  Stamp stamp;
  Local<Promise<void>> reply;
};
/// Answer with a copy of the contents, or the tensor's error.
struct read {
  Stamp stamp;
  Local<ReadRef> loan;
};
/// `reply` gets the error that the tensor has when the device comes to it, if any.
struct query {
  Stamp stamp;
  Local<Promise<std::optional<Error>>> reply;
};
/// Rent the memory out once the device comes to it; `reply` settles then.
struct lend {
  Stamp stamp;
  Local<LeaseRef> lease;
  Local<Promise<void>> reply;
};
/// Reject pending replies and revoke leases at once, then let the device go on where `rents` kept
/// it; give the memory back after all earlier operations.
struct destroy_tensor {
  Stamp stamp;
  Local<std::vector<Rent>> rents;
};

// -- from the device ------------------------------------------------------------------------------

/// The memory is there, or could not be had.
struct allocated {
  Local<Result<void>> result;
};
/// The read of `ticket` was carried out, or refused with the tensor's error.
struct read_done {
  Ticket ticket = 0;
};
/// The answer to the query of `ticket`.
struct query_done {
  Ticket ticket = 0;
  Local<std::optional<Error>> error;
};
/// The lease of `ticket` was granted, or refused.
struct lent {
  Ticket ticket = 0;
  Local<LeaseRef> lease;
  Local<Result<void>> result;
};
/// The memory is back: nothing will mention this tensor any more.
struct released {};

}  // namespace polychron::msg

namespace polychron {
using tensor_actor =
    caf::typed_actor<caf::reacts_to<msg::create>, caf::reacts_to<msg::read>,
                     caf::reacts_to<msg::query>, caf::reacts_to<msg::lend>,
                     caf::reacts_to<msg::destroy_tensor>, caf::reacts_to<msg::allocated>,
                     caf::reacts_to<msg::read_done>, caf::reacts_to<msg::query_done>,
                     caf::reacts_to<msg::lent>, caf::reacts_to<msg::released>>;
}
