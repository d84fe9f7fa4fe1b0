#include "actors/error_scopes.hpp"

#include <algorithm>

#include "base/invariant.hpp"

namespace polychron::actors {

std::optional<msg::Ticket> ErrorScopes::pop(msg::Ticket last_ticket, std::uint64_t fence,
                                            std::size_t lanes,
                                            Promise<std::optional<Error>> reply) {
  const auto scope =
      std::find_if(scopes_.rbegin(), scopes_.rend(), [](const Scope& s) { return s.last == open; });
  if (scope == scopes_.rend()) return std::nullopt;
  scope->last = last_ticket;
  scope->fence = fence;
  scope->lanes_left = lanes;
  scope->reply = std::move(reply);
  return scope->first;
}

void ErrorScopes::passed(std::uint64_t fence) {
  const auto scope = std::find_if(scopes_.begin(), scopes_.end(), [&](const Scope& s) {
    return s.last != open && s.fence == fence;
  });
  ensure(scope != scopes_.end() && scope->lanes_left > 0, "each lane passes a fence once");
  if (--scope->lanes_left > 0) return;
  scope->reply.resolve(scope->error);
  // planted: a scope stays when it has answered
  scopes_.erase(scope);
}

bool ErrorScopes::take(const Error& error, msg::Ticket ticket) {
  const auto contains = [&](const Scope& scope) {
    // planted: scope takes later errors too
    return ticket == 0 ? scope.last == open : scope.first <= ticket && ticket <= scope.last;
  };
  const auto scope = std::find_if(scopes_.rbegin(), scopes_.rend(), [&](const Scope& s) {
    return contains(s) && s.filter == filter_of(error);
  });
  if (scope == scopes_.rend()) return false;
  if (!scope->error) scope->error = error;  // a scope keeps the first
  return true;
}

}  // namespace polychron::actors
