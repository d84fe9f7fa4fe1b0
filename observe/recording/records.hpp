// The records of a recording: one plain value for each event. The acting threads write them
// (recorder.hpp); codec.hpp encodes them, and observe/trace/ reads them.
//
// Each block of a recording is self-contained, because the oldest blocks are dropped: every block
// defines the names and actors that it mentions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "messages/ids.hpp"
#include "messages/shared/logical_clock.hpp"

namespace polychron::recording {

/// Nanoseconds of a steady clock; in a simulated world, ticks of its clock.
using Time = std::int64_t;
/// The order of a recording: if one event led to another, its time is lower. An event that found
/// what another thread had done to a shared flag has a later time than that.
using msg::LogicalTime;
/// A context of the recorder's: 1, 2, ...
using ContextNumber = std::uint64_t;
using ActorNumber = std::uint64_t;  ///< CAF's; 0 for a caller's thread
/// Where a message lies while it is on its way. With its receiver and the logical time of its
/// sending this tells a message from all others that are on their way.
using Address = std::uint64_t;

/// The following records of this block are about this context.
struct ContextNamed {
  ContextNumber context = 0;
  std::string_view label;
  std::uint32_t lanes = 1;
};
/// A context was made. Without this record the recording began later, and lacks the context's
/// beginning.
struct ContextMade {
  ContextNumber context = 0;
  Time at = 0;
};
/// The name of a tensor or a graph; `actor` is 0 if it has ended.
struct ObjectNamed {
  ContextNumber context = 0;
  bool graph = false;
  std::uint64_t id = 0;
  ActorNumber actor = 0;
  std::uint64_t bytes = 0;
  std::string_view label;
};
/// The steps of a graph's plan, one line each; once in each block if steps are timed.
struct PlanNamed {
  ContextNumber context = 0;
  std::uint64_t graph = 0;
  std::string_view lines;  ///< each ended by '\n'
};
struct ActorBegan {
  ContextNumber context = 0;
  ActorNumber actor = 0;
  Time at = 0;
  std::string_view kind;  ///< "tensor"
};
struct ActorEnded {
  ContextNumber context = 0;
  ActorNumber actor = 0;
  Time at = 0;
  LogicalTime clock = 0;
};
/// The content of a message. Numbers of kinds are indices in the tables of names.hpp.
struct About {
  std::uint32_t message = 0;  ///< index of the message's kind
  std::uint32_t what = 0;     ///< kind of the call, operation or outcome, counted from 1
  msg::Ticket ticket = 0;
  std::string_view label;
  std::string_view error;  ///< with its causes, one line each
};
/// The footprint of an operation, and its position on the device timeline.
struct Footprint {
  std::uint32_t lane = 0;
  msg::Ticket turn = 0;
  std::vector<std::uint64_t> waits;          ///< waits for other lanes: lane, turn, lane, turn, ...
  std::vector<std::uint64_t> reads, writes;  ///< tensors
  std::uint64_t graph = 0;
};
struct Sent {
  ContextNumber context = 0;
  Time at = 0;
  LogicalTime clock = 0;
  ActorNumber from = 0, to = 0;
  Address message = 0;
  About about;
  Footprint footprint;
};
/// An actor began to handle a message. `sent`: when that was sent, 0 if nobody recorded it.
struct HandlingBegan {
  ContextNumber context = 0;
  Time at = 0;
  LogicalTime clock = 0, sent = 0;
  ActorNumber by = 0;
  Address message = 0;
  std::uint32_t kind = 0;  ///< index of the message's kind
};
/// The actor's last handling is over. `clock`: after the handler looked at what other threads
/// change, and before the first event that it caused. `end_clock`: no event of it has a later one.
struct HandlingEnded {
  ContextNumber context = 0;
  std::uint64_t duration = 0;
  LogicalTime clock = 0, end_clock = 0;
  ActorNumber by = 0;
  bool threw = false;  ///< nobody saw when; this record comes with the actor's next event
};
/// A lane carried an operation out. `clock`: as HandlingEnded has it; `end_clock`: of its end. A
/// `submitted` one goes on: the device is at work until the lane handles `executed`.
struct Carried {
  ContextNumber context = 0;
  Time begin = 0;
  std::uint64_t duration = 0;
  LogicalTime clock = 0, end_clock = 0;
  ActorNumber lane = 0;
  msg::Ticket ticket = 0;
  std::uint32_t operation = 0;  ///< kind of the operation, counted from 1
  bool submitted = false;
};
/// The time of each step of a plan, in an operation that is about to end.
struct StepsTaken {
  ContextNumber context = 0;
  ActorNumber lane = 0;
  msg::Ticket ticket = 0;
  std::uint64_t graph = 0;
  Time begin = 0;
  std::vector<std::uint64_t> nanoseconds;
};

/// A context began a call, encoded as in messages/wire.hpp. It comes with the size of each of the
/// caller's buffers, and their bytes if these are kept.
struct Called {
  ContextNumber context = 0;
  Time at = 0;
  LogicalTime clock = 0;
  std::string_view call;
  std::vector<std::uint64_t> inputs, outputs;  ///< of a compute
  std::string_view contents;                   ///< the bytes of the inputs in sequence, or empty
};
/// A lane answered a read or a compute; `digest` is the hash of the bytes if these are kept, else
/// 0. Or it skipped a write whose caller waited: the caller gave up, or gets the error.
struct Answered {
  ContextNumber context = 0;
  Time at = 0;
  ActorNumber lane = 0;
  msg::Ticket ticket = 0;
  std::uint64_t digest = 0;
  std::string_view error;  ///< with its causes, one line each
};
/// Bytes that a caller held until a lane took them: of a lease's memory when the lease ended, or of
/// a write whose caller waited, so that the call did not bring them.
struct GivenBack {
  ContextNumber context = 0;
  Time at = 0;
  msg::Ticket ticket = 0;  ///< of the export or the write
  std::string_view contents;
};

/// The actor of a destroyed tensor rejected its reply for an operation, unless a lane was working
/// on it.
struct Rejected {
  ContextNumber context = 0;
  Time at = 0;
  LogicalTime clock = 0;
  ActorNumber by = 0;
  msg::Ticket ticket = 0;
};

/// A context was lost. `by` was the first to say so: a lane by the operation of `ticket`, the
/// context's actor, or a caller's thread.
struct Lost {
  ContextNumber context = 0;
  Time at = 0;
  LogicalTime clock = 0;
  ActorNumber by = 0;
  msg::Ticket ticket = 0;
};
/// An operation failed after the context's actor had ended.
struct Unheard {
  ContextNumber context = 0;
  Time at = 0;
  ActorNumber lane = 0;
  msg::Ticket ticket = 0;
  std::string_view error;  ///< with its causes, one line each
};

/// From here on the context is left out, for a while or to the end (Context::set_traced).
struct LeftOut {
  ContextNumber context = 0;
  Time at = 0;
};

/// The name of the thread that wrote this block, unless it is the program's name.
struct ThreadNamed {
  std::string_view name;
};

/// A caller's thread waited, for the reason of msg::CallerWait with this number.
struct CallerWaited {
  ContextNumber context = 0;
  Time begin = 0;
  std::uint64_t duration = 0;
  std::uint32_t why = 0;
};

/// In the order of their numbers in a file; another order is another version of the format.
using Record =
    std::variant<ContextNamed, ContextMade, ObjectNamed, PlanNamed, ActorBegan, ActorEnded, Sent,
                 HandlingBegan, HandlingEnded, Carried, StepsTaken, Called, Answered, GivenBack,
                 Rejected, Lost, Unheard, LeftOut, ThreadNamed, CallerWaited>;

}  // namespace polychron::recording
