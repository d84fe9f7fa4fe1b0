// The local idiom: an actor is a state class whose start() returns its behaviour, a table that only
// routes. CAF 0.17.6 spawns functions; body<> is the one function.
#pragma once

#include <caf/all.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "actors/environment.hpp"
#include "messages/context.hpp"

namespace polychron::actors {

/// Base of every state: what it was given, and an end without noise when a handler throws (CAF
/// would print): the context is told, and loses itself.
///
/// Tensors and graphs are not linked to their context: a link is an entry in a list that is
/// searched when it goes, which makes destroying 100,000 tensors quadratic (measured: 476 us each).
template <class Interface>
class State {
 public:
  using interface = Interface;

  State(typename Interface::pointer self) : self_(self) {
    self->set_exception_handler([this](std::exception_ptr& thrown) { return failed(thrown); });
  }

 protected:
  void enter(EnvironmentRef environment, caf::actor_addr context = {}) {
    environment_ = std::move(environment);
    context_ = std::move(context);
  }
  const Environment& environment() const { return *environment_; }
  const EnvironmentRef& environment_ref() const { return environment_; }
  typename Interface::pointer self() const { return self_; }
  /// The context's actor, for those that were given its address; null once it has ended.
  context_actor context() const { return caf::actor_cast<context_actor>(context_); }

  /// Local sends never block and never fail: a dead receiver drops the message, and what it
  /// carries.
  template <class Actor, class Message>
  void tell(const Actor& receiver, Message&& message) {
    self_->send(receiver, std::forward<Message>(message));
  }

 private:
  caf::error failed(std::exception_ptr& thrown) {
    std::string what = "unknown";
    try {
      std::rethrow_exception(thrown);
    } catch (const std::exception& e) {
      what = e.what();
    }
    if (const auto supervisor = context()) tell(supervisor, msg::actor_failed{self_->name(), what});
    return caf::make_error(caf::sec::runtime_error, std::move(what));
  }

  typename Interface::pointer self_;
  caf::actor_addr context_;  ///< weak: the context holds its actors
  EnvironmentRef environment_;
};

template <class S>
using Shell = typename S::interface::template stateful_pointer<S>;

template <class S, class... Args>
typename S::interface::behavior_type body(Shell<S> self, Census::Entry entry,
                                          EnvironmentRef environment, Args... args) {
  // Not a member of the state, which goes before the mailbox does: messages may hold memory.
  self->attach_functor([census = environment->census, entry] { census->leave(entry); });
  return self->state.start(std::move(environment), std::move(args)...);
}

/// Spawns an actor with state S in `host`, a system or an actor.
template <class S, caf::spawn_options Options = caf::no_spawn_options, class Host, class... Args>
typename S::interface spawn_in(Host& host, EnvironmentRef environment, Census::Doing doing,
                               Args... args) {
  const auto census = environment->census;
  const auto entry = census->enter(environment->name_of(S::name), std::move(doing));
  try {
    return host.template spawn<Options>(body<S, Args...>, entry, std::move(environment),
                                        std::move(args)...);
  } catch (...) {  // no thread could be had
    census->leave(entry);
    throw;
  }
}

/// Spawns a device or compiler with state S, linked to `parent`; on a thread of its own unless the
/// environment says otherwise. `doing`: what keeps that thread.
template <class S, class Parent, class... Args>
typename S::interface spawn_device(Parent& parent, const EnvironmentRef& environment,
                                   Census::Doing doing, Args... args) {
  if (environment->detached)
    return spawn_in<S, caf::linked + caf::detached>(parent, environment, std::move(doing),
                                                    std::move(args)...);
  return spawn_in<S, caf::linked>(parent, environment, std::move(doing), std::move(args)...);
}

}  // namespace polychron::actors
