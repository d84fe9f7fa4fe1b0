// A recording, joined: what happened on each actor's track, which message led to it, and why it
// waited. Plain data, from which pictures, summaries, checks and replays are made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "observe/trace/records.hpp"

namespace polychron::trace {

/// Nanoseconds since the first thing that was recorded; in a driven world, steps.
using Time = std::int64_t;
/// A place in one of the lists below.
using Index = std::size_t;
using MaybeIndex = std::optional<Index>;

enum class Band : std::uint8_t { callers, content, device };

struct Context {
  std::string label;
  std::map<std::uint64_t, std::string> tensors;  ///< "tensor 'x'", of those that were mentioned
};

struct Actor {
  std::string kind;   ///< "caller" (a thread that calls), "context", "tensor", "device", ...
  std::string label;  ///< "lane 0", "'hidden'"
  MaybeIndex context;
  Band band = Band::content;
  std::uint32_t lane = 0;   ///< of a device
  Time start = 0;           ///< when it was first heard of
  std::optional<Time> end;  ///< if it ended
};

/// An error with its causes, from itself to the root.
struct ErrorLine {
  std::uint64_t ticket = 0;
  std::string kind, operation, label, object, message;
  bool ran = true;
};
using ErrorChain = std::vector<ErrorLine>;

struct Event {
  enum class Kind : std::uint8_t {
    call,       ///< by a caller
    handling,   ///< of a message
    operation,  ///< carried out by a lane, within a handling
    step,       ///< of a plan, within an operation
    outcome,    ///< the handling of what became of a tensor or graph
    failure     ///< the handling of an operation's failure, by the context
  };
  enum class State : std::uint8_t { done, failed, not_run };
  Kind kind = Kind::handling;
  Index actor = 0;
  Time begin = 0;
  Time duration = 0;
  std::string name, label, object, detail;
  std::uint32_t operation =
      0;  ///< which, as observe/recording/record_numbers.hpp counts them; 0 for other events
  std::uint64_t ticket = 0;
  ErrorChain error;
  State state = State::done;
  MaybeIndex cause;    ///< the event that it follows from
  MaybeIndex message;  ///< the one that a handling handles
  bool threw = false;  ///< a handler that did not come to its end

  Time end() const { return begin + duration; }
};

struct Message {
  MaybeIndex from, to;  ///< the events in which it was sent and handled
  MaybeIndex from_actor, to_actor;
  std::optional<Time> sent, received;
  std::string name;
  std::uint64_t ticket = 0;
};

struct Wait {
  Index actor = 0;
  Time begin = 0, end = 0;
  MaybeIndex event;  ///< the operation that waited, or goes on; none: the actor is a caller
  MaybeIndex on;     ///< the operation that it waited for
  std::string text;
  bool goes_on = false;  ///< a lease is out, or the device is at work; nobody waits
};

/// An operation that was carried out: what it touches, and its place among the others.
struct Operation {
  Index event = 0;
  Index context = 0;
  std::uint32_t lane = 0;
  std::uint64_t turn = 0;
  std::vector<std::uint64_t> reads, writes;  ///< tensors
  MaybeIndex message;                        ///< in which it was sent to its lane
};

/// A step function.
struct Counter {
  std::string name, unit;
  Index context = 0;
  std::vector<std::pair<Time, std::int64_t>> values;
};

struct Lint {
  std::string text;
  MaybeIndex event;
};

struct JoinedTrace {
  std::vector<Context> contexts;
  std::vector<Actor> actors;
  std::vector<Event> events;          ///< by begin; what is within another comes after it
  std::vector<Message> messages;      ///< by the time when they were sent
  std::vector<Operation> operations;  ///< in the order in which they began
  std::vector<Wait> waits;
  std::vector<Counter> counters;
  std::vector<Lint> lints;
  std::uint64_t dropped = 0;  ///< records that had no room
  bool gaps = false;          ///< a context was left out at times (Context::set_traced)
  Time length = 0;            ///< until the recording was looked at

  Records records;  ///< texts in them lie in the file
  /// Of each of Records::handled: its place in Records::sent, which is that in `messages`.
  std::vector<MaybeIndex> sent_of_handled;
  /// By context and ticket: the message that sent the operation to its lane.
  std::map<std::pair<std::uint64_t, std::uint64_t>, Index> issued;

  /// Otherwise what is missing proves nothing.
  bool complete() const noexcept { return dropped == 0 && !gaps; }
};

/// Reads what Runtime::trace() gave. Throws bad_data.
JoinedTrace join(std::span<const std::byte> file);

/// "dispatch 'conv' (ticket 12)".
std::string title_of(const Event& event);

}  // namespace polychron::trace
