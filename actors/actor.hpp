// The local idiom: an actor is a state class whose start() returns its behaviour, a table that only
// routes. CAF 0.17.6 spawns functions; body<> is the one function.
#pragma once

#include <caf/all.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "actors/environment.hpp"

namespace polychron::actors {

/// Base of every state: its place in the census, and an end without noise when a handler throws
/// (CAF would print): the exception's text becomes the exit reason, which the context turns into
/// its loss.
template <class Interface>
class State {
 public:
  using interface = Interface;

  State(typename Interface::pointer self) : self_(self) {
    self->set_exception_handler([](std::exception_ptr& thrown) -> caf::error {
      try {
        std::rethrow_exception(thrown);
      } catch (const std::exception& e) {
        return caf::make_error(caf::sec::runtime_error, std::string(e.what()));
      }
    });
  }

 protected:
  void enter(EnvironmentRef environment, const std::string& name) {
    environment_ = std::move(environment);
    presence_.emplace(environment_->census, name);
  }
  const Environment& environment() const { return *environment_; }
  const EnvironmentRef& environment_ref() const { return environment_; }
  typename Interface::pointer self() const { return self_; }

  /// Local sends never block and never fail: a dead receiver drops the message, and what it
  /// carries.
  template <class Actor, class Message>
  void tell(const Actor& receiver, Message&& message) {
    self_->send(receiver, std::forward<Message>(message));
  }

 private:
  typename Interface::pointer self_;
  EnvironmentRef environment_;
  std::optional<Presence> presence_;
};

template <class S>
using Shell = typename S::interface::template stateful_pointer<S>;

template <class S, class... Args>
typename S::interface::behavior_type body(Shell<S> self, Args... args) {
  return self->state.start(std::move(args)...);
}

/// Spawns an actor with state S from `parent`, linked to it: neither survives the other's failure.
template <class S, caf::spawn_options Options = caf::no_spawn_options, class Parent, class... Args>
typename S::interface spawn_linked(Parent* parent, Args... args) {
  return parent->template spawn<Options + caf::linked>(body<S, Args...>, std::move(args)...);
}

/// Likewise, on a thread of its own unless the environment says otherwise.
template <class S, class Parent, class... Args>
typename S::interface spawn_device(Parent* parent, const Environment& environment, Args... args) {
  if (environment.detached) return spawn_linked<S, caf::detached>(parent, std::move(args)...);
  return spawn_linked<S>(parent, std::move(args)...);
}

}  // namespace polychron::actors
