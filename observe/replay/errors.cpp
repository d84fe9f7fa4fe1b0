#include "observe/replay/errors.hpp"

#include "messages/call_codec.hpp"

namespace polychron::replay {

namespace {

ErrorKind kind_of(const std::string& name) {
  for (std::size_t i = 0; i < msg::wire::Enumeration<ErrorKind>::count; ++i)
    if (to_string(static_cast<ErrorKind>(i)) == name) return static_cast<ErrorKind>(i);
  throw Error(ErrorKind::bad_data, "it has errors of a kind that is not known here: " + name);
}

/// From link `at` on. `bare`: without what names the operation, which the lane adds again.
Error error_of(const trace::ErrorChain& chain, std::size_t at, bool bare) {
  const auto& line = chain[at];
  Error error(kind_of(line.kind), line.message);
  if (!bare) {
    error = error.with_operation(line.operation, line.label, line.ticket);
    if (!line.object.empty()) error = error.with_object(line.object);
  }
  if (!line.ran) error = error.not_run();
  return at + 1 < chain.size() ? error.caused_by(error_of(chain, at + 1, false)) : error;
}

}  // namespace

Error inner_error(const trace::ErrorChain& chain) {
  const auto& first = chain.front();
  // An error with a name of its own, such as an operator's, was made a cause.
  const bool wrapped = chain.size() > 1 && first.message.empty() && first.kind == "operation_error";
  return wrapped ? error_of(chain, 1, false) : error_of(chain, 0, true);
}

}  // namespace polychron::replay
