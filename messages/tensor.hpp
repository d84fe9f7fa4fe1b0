// The tensor protocol: what a tensor actor may be told, by its context and by the device.
#pragma once

#include <memory>
#include <string>

#include "messages/ids.hpp"
#include "messages/inspect.hpp"
#include "polychron/buffer.hpp"
#include "polychron/future.hpp"
#include "polychron/result.hpp"

namespace polychron {
inline std::string describe(const std::shared_ptr<Buffer>& bytes) {
  return bytes ? std::to_string(bytes->size()) + " bytes" : "none";
}
}  // namespace polychron

namespace polychron::msg {

/// Bytes on their way to a device. Shared, because CAF copies messages; taken by the device.
using Bytes = std::shared_ptr<Buffer>;

// -- from the context
// ----------------------------------------------------------------------------------

/// Reserve and zero the memory, or take `initial` as it. `reply` settles when that is done.
struct create {
  Ticket ticket = 0;
  Local<Bytes> initial;
  Local<Promise<void>> reply;
};
/// Replace the whole contents.
struct write {
  Ticket ticket = 0;
  Local<Bytes> bytes;
  std::string label;
};
/// `reply` gets a copy of the contents, or the tensor's error.
struct read {
  Ticket ticket = 0;
  Local<Promise<Buffer>> reply;
};
/// Reject pending replies at once; give the memory back after all earlier operations.
struct destroy_tensor {
  Ticket ticket = 0;
};

// -- from the device
// -----------------------------------------------------------------------------------

/// The memory is there, or could not be had.
struct allocated {
  Local<Result<void>> result;
};
/// The read of `ticket` was carried out, or refused with the tensor's error.
struct read_done {
  Ticket ticket = 0;
  Local<std::shared_ptr<Result<Buffer>>> result;
};
/// The contents became unusable: reads report this from now on.
struct errored {
  Ticket ticket = 0;
  Local<std::shared_ptr<const Error>> error;
};
/// A successful write or dispatch replaced errored contents.
struct recovered {
  Ticket ticket = 0;
};
/// The memory is back: nothing will mention this tensor any more.
struct released {};

}  // namespace polychron::msg

namespace polychron {
using tensor_actor =
    caf::typed_actor<caf::reacts_to<msg::create>, caf::reacts_to<msg::write>,
                     caf::reacts_to<msg::read>, caf::reacts_to<msg::destroy_tensor>,
                     caf::reacts_to<msg::allocated>, caf::reacts_to<msg::read_done>,
                     caf::reacts_to<msg::errored>, caf::reacts_to<msg::recovered>,
                     caf::reacts_to<msg::released>>;
}
