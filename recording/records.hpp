// WHAT a recording is made of: one plain value for each thing that is seen. Written by the threads
// that do it (recorder.hpp), kept as bytes (codec.hpp), read by trace/.
//
// Each piece of a recording stands for itself, because the oldest are dropped: what a name or an
// actor is, is said again in every piece that mentions it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "messages/ids.hpp"
#include "messages/shared/logical_clock.hpp"

namespace polychron::recording {

/// In nanoseconds of a steady clock; in a driven world, in whatever its clock counts.
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

/// A context is meant by what follows in this piece.
struct ContextNamed {
  ContextNumber context = 0;
  std::string_view label;
  std::uint32_t lanes = 1;
};
/// A tensor or a graph; `actor` is 0 if it has gone.
struct ObjectNamed {
  ContextNumber context = 0;
  bool graph = false;
  std::uint64_t id = 0;
  ActorNumber actor = 0;
  std::uint64_t bytes = 0;
  std::string_view label;
};
/// The steps of a graph's plan, a line each; said once a piece if their times are taken.
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
/// What a message is about. Numbers of kinds are places in the tables of names.hpp.
struct About {
  std::uint32_t message = 0;  ///< which of all messages
  std::uint32_t what = 0;     ///< of a call, operation or outcome: which, counted from 1
  msg::Ticket ticket = 0;
  std::string_view label;
  std::string_view error;  ///< with its causes, a line each
};
/// What it touches on the device timeline, and where it is to be carried out.
struct Footprint {
  std::uint32_t lane = 0;
  msg::Ticket turn = 0;
  std::vector<std::uint64_t> waits;          ///< for other lanes: lane, turn, lane, turn, ...
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
/// `ended` is false for a handler that threw, whose end nobody sees. `clock`: after the handler
/// looked at what other threads change, and before the first event that it caused.
struct Handled {
  ContextNumber context = 0;
  Time begin = 0;
  std::uint64_t duration = 0;
  LogicalTime clock = 0, sent = 0;
  ActorNumber by = 0;
  Address message = 0;
  std::uint32_t kind = 0;  ///< which of all messages
  bool ended = true;
};
/// A lane carried an operation out. `clock`: as Handled has it; `end_clock`: of its end.
struct Carried {
  ContextNumber context = 0;
  Time begin = 0;
  std::uint64_t duration = 0;
  LogicalTime clock = 0, end_clock = 0;
  ActorNumber lane = 0;
  msg::Ticket ticket = 0;
  std::uint32_t operation = 0;  ///< which of all operations, counted from 1
};
/// How long each step of a plan took, in an operation that is about to end.
struct StepsTaken {
  ContextNumber context = 0;
  ActorNumber lane = 0;
  msg::Ticket ticket = 0;
  std::uint64_t graph = 0;
  Time begin = 0;
  std::vector<std::uint64_t> nanoseconds;
};

/// A context began to do what was called: the call as messages/wire.hpp writes it. What the caller
/// brought with it: how many bytes each buffer has, and these, if they are kept.
struct Called {
  ContextNumber context = 0;
  Time at = 0;
  LogicalTime clock = 0;
  std::string_view call;
  std::vector<std::uint64_t> inputs, outputs;  ///< of a compute
  std::string_view contents;                   ///< of the inputs, one after the other, or empty
};
/// A lane answered a read or a compute. `digest`: of the bytes, if these are kept; else 0. Or it
/// did not carry out a write whose caller waited, who had given up or hears why.
struct Answered {
  ContextNumber context = 0;
  Time at = 0;
  ActorNumber lane = 0;
  msg::Ticket ticket = 0;
  std::uint64_t digest = 0;
  std::string_view error;  ///< with its causes, a line each
};
/// What was in the memory of a lease when that ended.
struct GivenBack {
  ContextNumber context = 0;
  Time at = 0;
  msg::Ticket ticket = 0;  ///< of the export
  std::string_view contents;
};

/// The actor of a tensor that is destroyed rejected what it owed for an operation, unless a lane
/// was at it.
struct Rejected {
  ContextNumber context = 0;
  Time at = 0;
  LogicalTime clock = 0;
  ActorNumber by = 0;
  msg::Ticket ticket = 0;
};

/// A context was lost, by who was the first to say so: a lane by the operation of `ticket`, the
/// context's actor, or a caller's thread.
struct Lost {
  ContextNumber context = 0;
  Time at = 0;
  LogicalTime clock = 0;
  ActorNumber by = 0;
  msg::Ticket ticket = 0;
};
/// An operation failed, of which the context's actor was not told, because it had gone.
struct Unheard {
  ContextNumber context = 0;
  Time at = 0;
  ActorNumber lane = 0;
  msg::Ticket ticket = 0;
  std::string_view error;  ///< with its causes, a line each
};

/// From here on a context was left out, for a while or to the end (Context::set_traced).
struct LeftOut {
  ContextNumber context = 0;
  Time at = 0;
};

/// What the thread that wrote this piece is called, unless that is the program's name.
struct ThreadNamed {
  std::string_view name;
};

/// In the order of their numbers in a file: new ones at the end.
using Record = std::variant<ContextNamed, ObjectNamed, PlanNamed, ActorBegan, ActorEnded, Sent,
                            Handled, Carried, StepsTaken, Called, Answered, GivenBack, Rejected,
                            Lost, Unheard, LeftOut, ThreadNamed>;

}  // namespace polychron::recording
