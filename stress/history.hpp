// What came of a program's calls in one run: what a model of the contract is held against.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "polychron/error.hpp"
#include "stress/program.hpp"

namespace polychron::stress {

/// What a call was told in the end.
struct Answer {
  std::optional<Error> error;          ///< what it was rejected with
  std::optional<std::uint64_t> value;  ///< what a read or compute gave
  std::optional<Error> found;          ///< by a query or a scope
  bool kept = false;                   ///< a buffer that was lent did not come back
};

/// A call that was made.
struct Made {
  std::size_t client = 0, index = 0;
  Call call;
  unsigned time = 0;             ///< when it reached the context, in milliseconds
  bool submitted = false;        ///< it reached the context
  std::optional<Error> thrown;   ///< by the call itself
  std::optional<Answer> answer;  ///< of calls with a reply: absent if it never came
  bool has_reply = false;
  std::optional<std::size_t> lent;  ///< of give_back: which call of the history it ends
  std::optional<bool> revoked;      ///< of lend: whether it was, if it was out to the end
};

struct History {
  /// In the order in which they reached the context; those that did not, where they threw.
  std::vector<Made> calls;
  std::vector<Error> uncaptured;      ///< what the handler heard
  std::vector<Error> left;            ///< what scopes had that were still open at the end
  std::optional<std::string> broken;  ///< what was seen to be wrong while it ran
};

}  // namespace polychron::stress
