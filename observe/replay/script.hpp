// The part of a recording that a replay does again: the calls in their order, what came of them,
// and which action came after which.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "messages/call.hpp"
#include "messages/stamp.hpp"
#include "observe/recording/record_numbers.hpp"
#include "observe/trace/joined_trace.hpp"

namespace polychron::replay {

/// A call, and what nobody can know who makes it again: what failed, and which bytes there were.
/// Texts lie in the recording.
struct Call {
  std::size_t context = 0;
  std::uint64_t thread = 0;                    ///< who called
  recording::LogicalTime clock = 0;            ///< when it was taken
  recording::LogicalTime lost_clock = 0;       ///< of one that ends its context: when it did
  std::string_view bytes;                      ///< as messages/wire.hpp writes a msg::Call
  std::vector<std::size_t> needs;              ///< calls that made what it uses
  std::optional<std::size_t> returns;          ///< the export that it ends
  std::vector<std::uint64_t> inputs, outputs;  ///< of a compute: how many bytes each buffer has
  std::string_view contents;                   ///< of those inputs
  std::string_view given_back;                 ///< that the lane of an export or a write took later
  std::optional<Error> fault;                  ///< what the device said
  bool inherent = false;                       ///< and would say each time
  bool ends = false;                           ///< it destroys the context
  bool expired = false, cancelled = false;     ///< so it was not carried out
  bool untaken = false;                        ///< the context's actor ended before it came to that
  bool given_up = false;  ///< a write of which the tensor shows nothing: its caller was waiting
};

/// An actor of a context. `number`: of the lane, or of the tensor or graph; 0 for the others.
struct Role {
  std::size_t context = 0;
  std::string kind;
  std::uint64_t number = 0;
  auto operator<=>(const Role&) const = default;
};

constexpr std::uint32_t no_message = ~std::uint32_t{0};

/// Something that happened.
struct Turn {
  enum class Kind : std::uint8_t {
    call,       ///< a call was taken; or made, if it destroys the context
    message,    ///< an actor handled a message
    operation,  ///< in the middle of that a lane began with an operation
    end,        ///< it was done with it, and had yet to let others know
    rejection,  ///< or a tensor's actor came to what it owed for one, to reject it
    going,      ///< a context's actor handled the call that destroys the context
    leaving,    ///< an actor ended
  };
  Kind kind = Kind::message;
  std::size_t call = 0;
  Role role;                           ///< of the others
  std::uint32_t message = no_message;  ///< as observe/recording/record_numbers.hpp counts them
  msg::Ticket ticket = 0;              ///< or number of a question
};

/// The number of a question between lanes, or of its answer. It tells the turn that one lane waits
/// for, and the other lane. That is the lane that asks, or the one that has reached the turn.
constexpr msg::Ticket number_of_question(msg::Ticket turn, std::uint64_t lane) {
  return turn * 256 + lane;  // a script has no more lanes
}

struct Context {
  std::string label;
  std::uint32_t lanes = 1;
  std::map<msg::Ticket, msg::Placed> placement;
  std::map<msg::GraphId, Error> not_built;  ///< graphs that did not compile
  std::map<msg::GraphId, Error> not_loaded;
  std::set<msg::Ticket> submitted;  ///< dispatches that the device finished by itself
};

struct Script {
  std::vector<Context> contexts;
  std::vector<Call> calls;
  std::vector<Turn> order;
  /// Questions and answers between lanes that a lane had not heard when it ended: the lane, the
  /// message and its number; how often.
  std::map<std::tuple<Role, std::uint32_t, msg::Ticket>, int> unheard;
  /// Reads and computes that a lane came to after the object's side had answered, by context.
  std::set<std::pair<std::size_t, msg::Ticket>> answered_before;
  std::vector<std::string> operators;  ///< by their numbers in the calls
  bool contents = false;               ///< the bytes of tensors and constants are there
};

/// Of a whole_part(). Throws bad_data for one that cannot be run again: without calls, or with
/// calls that nobody could have made.
Script script_of(const trace::JoinedTrace& joined);

/// The call that `bytes` are, its graph checked and, if it is to be run, its operators numbered as
/// here. Throws bad_data.
msg::Call decoded(std::string_view bytes, const Script& script);

}  // namespace polychron::replay
