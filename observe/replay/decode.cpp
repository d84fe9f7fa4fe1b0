// Calls out of a recording, which may have been written by anybody.
#include "messages/call_codec.hpp"
#include "observe/replay/check_graph.hpp"
#include "observe/replay/script.hpp"

namespace polychron::replay {

namespace {
/// Contents that were not kept are zeros.
constexpr std::uint64_t most_zeros = std::uint64_t{4} << 30;
}  // namespace

msg::Call decoded(std::string_view bytes, const Script& script) {
  auto call = msg::wire::from_bytes<msg::Call>(std::as_bytes(std::span(bytes)), most_zeros);
  if (!call) throw Error(call.error());
  if (auto* const build = std::get_if<msg::Build>(&*call)) {
    if (!build->description) throw Error(ErrorKind::bad_data, "a build of nothing");
    if (script.contents)
      build->description = std::make_shared<const ops::Graph>(
          checked(ops::Graph(*build->description), script.operators));
    else
      check_values(*build->description);  // nobody will look at the rest
  }
  return std::move(*call);
}

}  // namespace polychron::replay
