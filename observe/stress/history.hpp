// The results of a program's calls in one run. A model of the contract checks them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "observe/stress/program.hpp"
#include "polychron/error.hpp"

namespace polychron::stress {

/// The final answer to a call.
struct Answer {
  std::optional<Error> error;          ///< of a rejection
  std::optional<std::uint64_t> value;  ///< of a read or compute
  std::optional<Error> found;          ///< by a query or a scope
  bool kept = false;                   ///< a lent buffer did not come back
};

/// A call that was made.
struct Made {
  std::size_t client = 0, index = 0;
  Call call;
  unsigned time = 0;             ///< at which it reached the context, in milliseconds
  bool submitted = false;        ///< it reached the context
  std::optional<Error> thrown;   ///< by the call itself
  std::optional<Answer> answer;  ///< of calls with a reply: absent if it never came
  bool has_reply = false;
  std::optional<std::size_t> lent;  ///< of give_back: the call of the history that it ends
  std::optional<bool> revoked;      ///< of lend: whether it was revoked, if it was out to the end
};

struct History {
  /// In the order in which they reached the context. Calls that did not reach it stand where they
  /// threw.
  std::vector<Made> calls;
  std::vector<Error> uncaptured;      ///< errors that the handler heard
  std::vector<Error> left;            ///< errors in scopes that were still open at the end
  std::optional<std::string> broken;  ///< an error that was seen during the run
};

}  // namespace polychron::stress
