// The context actor: errors, and questions about them and about pending work.
#include "actors/context.hpp"
#include "actors/reply_of.hpp"

namespace polychron::actors {

namespace {

/// An error that no scope took, as a callback of the handler.
struct UncapturedError final : polychron::detail::Deferred {
  UncapturedError(EnvironmentRef of, std::shared_ptr<const msg::ErrorHandler::Function> handler,
                  Error what)
      : environment(std::move(of)), function(std::move(handler)), error(std::move(what)) {}
  void run() override { function->call(error); }
  const EnvironmentRef environment;  ///< keeps the permit's admission alive
  const std::shared_ptr<const msg::ErrorHandler::Function> function;
  const Error error;
  msg::Permit permit;
};

}  // namespace

void ContextState::observe(const Error& error, msg::Ticket ticket) {
  if (scopes_.take(error, ticket)) return;
  // Missed deadlines and cancellations are no defects, and there are thousands under load.
  const auto kind = error.root().kind();
  const bool given_up = kind == ErrorKind::timed_out || kind == ErrorKind::aborted;
  environment().write_log(given_up ? LogLevel::info : LogLevel::error, error.what());
  if (!handler_) return;
  // A handler that falls behind gets only some of the errors; the rest are counted.
  auto permit = environment().events->try_enter_now();
  if (!permit) return msg::count(environment().counters->unheard);
  auto event = std::make_shared<UncapturedError>(environment_ref(), handler_.share(), error);
  event->permit = std::move(permit);
  environment().callbacks->post(std::move(event));
}

void ContextState::call(const msg::Report& c, msg::LocalPart&) { observe(c.error, 0); }

void ContextState::call(const msg::PushScope& c, msg::LocalPart& local) {
  scopes_.push(c.filter, order_->last_ticket(), std::move(local.permit));
}

void ContextState::call(const msg::PopScope&, msg::LocalPart& local) {
  const auto& reply = reply_of<msg::ErrorReply>(local);
  const auto fence = ++fences_;
  const auto first = scopes_.pop(order_->last_ticket(), fence, device_actors_.lanes.size(), reply);
  if (!first) {
    // planted: a pop without a scope is dropped
    reply.reject(Error(ErrorKind::invalid_state, "there is no error scope to pop"));
    return;
  }
  for (std::uint32_t lane = 0; lane < device_actors_.lanes.size(); ++lane)
    issue<msg::op::Fence>(order_->stamp_on(lane), {}, fence, *first);
}

void ContextState::call(const msg::SetErrorHandler&, msg::LocalPart& local) {
  handler_ = std::move(reply_of<msg::ErrorHandler>(local));
}

void ContextState::call(const msg::AskPending&, msg::LocalPart& local) {
  const auto survey =
      std::make_shared<msg::Survey>(reply_of<msg::PendingReply>(local), device_actors_.lanes.size(),
                                    environment().lost, std::move(local.permit));
  for (const auto& lane : device_actors_.lanes) tell_urgently(lane, msg::survey_lane{survey});
}

void ContextState::receive(const msg::operation_failed& m) { observe(m.error, m.ticket); }

void ContextState::receive(const msg::fence_passed& m) { scopes_.passed(m.id); }

}  // namespace polychron::actors
