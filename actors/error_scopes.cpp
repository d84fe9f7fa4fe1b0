#include "actors/error_scopes.hpp"

#include <algorithm>

namespace polychron::actors {

bool ErrorScopes::pop(msg::Ticket last_ticket, std::uint64_t fence, std::size_t lanes,
                      Promise<std::optional<Error>> reply) {
  const auto scope =
      std::find_if(scopes_.rbegin(), scopes_.rend(), [](const Scope& s) { return s.last == open; });
  if (scope == scopes_.rend()) return false;
  scope->last = last_ticket;
  scope->fence = fence;
  scope->lanes_left = lanes;
  scope->reply = std::move(reply);
  return true;
}

void ErrorScopes::passed(std::uint64_t fence) {
  const auto scope = std::find_if(scopes_.begin(), scopes_.end(), [&](const Scope& s) {
    return s.last != open && s.fence == fence;
  });
  if (scope == scopes_.end() || --scope->lanes_left > 0) return;
  const auto done = std::move(*scope);
  scopes_.erase(scope);
  done.reply.resolve(done.error);
}

void ErrorScopes::take(const Error& error, msg::Ticket ticket) {
  const auto contains = [&](const Scope& scope) {
    return ticket == 0 ? scope.last == open : scope.first <= ticket && ticket <= scope.last;
  };
  const auto scope = std::find_if(scopes_.rbegin(), scopes_.rend(), [&](const Scope& s) {
    return contains(s) && s.filter == filter_of(error);
  });
  if (scope != scopes_.rend()) {
    if (!scope->error) scope->error = error;  // a scope keeps the first
  } else if (handler_) {
    const detail::CallbackScope callback;
    handler_(error);
  }
}

}  // namespace polychron::actors
