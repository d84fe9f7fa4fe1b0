// The local idiom: an actor is a state class with one method `receive` for each message of its
// protocol. The routing table is made of these methods; a message that has none does not compile.
#pragma once

#include <caf/all.hpp>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "actors/environment.hpp"
#include "actors/mail.hpp"
#include "base/invariant.hpp"
#include "messages/context.hpp"
#include "messages/shared/own_thread.hpp"

namespace polychron::actors {

/// Does what must be done for anybody to end, with whatever memory turns up.
template <class F>
void until_there_is_memory(F f) noexcept {
  for (;;) {
    try {
      return f();
    } catch (const std::bad_alloc&) {
      std::this_thread::yield();
    }
  }
}

/// Ends an actor ahead of its mail, which goes with it: what that holds, is rejected or given up.
template <class Handle>
void end_actor(const Handle& actor) noexcept {
  until_there_is_memory([&] {
    const auto target = caf::actor_cast<caf::strong_actor_ptr>(actor);
    if (target == nullptr) return;
    target->enqueue(
        caf::make_mailbox_element(nullptr, caf::make_message_id(caf::message_priority::high), {},
                                  caf::exit_msg{nullptr, caf::exit_reason::user_shutdown}),
        nullptr);
  });
}

/// Base of every state: what it was given, the routing table with its hooks, and an end without
/// noise when a handler throws (CAF would print): the context is told, and loses itself.
///
/// An actor ends without a reason: CAF copies a reason while it clears the mailbox, after it has
/// destroyed the state; if there is no memory for that it calls the exception handler of the state
/// that is gone, and destroys it again (0.17.6, scheduled_actor.cpp: finalize, reactivate).
///
/// Nobody is linked or monitored: that needs memory at the worst moment, and a list that is
/// searched when its owner goes, which makes destroying 100,000 tensors quadratic (measured: 476 us
/// each).
template <class Derived, class Interface>
class State {
 public:
  using interface = Interface;
  static constexpr bool has_thread = false;

  State(typename Interface::pointer self) : self_(self) {
    self->set_exit_handler([self](caf::exit_msg&) { self->quit(); });
    self->set_exception_handler([this](std::exception_ptr& thrown) { return failed(thrown); });
  }

  /// The routing table.
  typename Interface::behavior_type routes() { return routes_of(msg::messages_of<Interface>{}); }
  void enter(EnvironmentRef environment) { environment_ = std::move(environment); }
  /// The census is left with this state, because nothing that ends later could be told to.
  void leaves(msg::Census::Entry entry) { leaves_ = entry; }

 protected:
  ~State() {
    if (leaves_) environment_->census->leave(*leaves_);
  }
  const Environment& environment() const { return *environment_; }
  const EnvironmentRef& environment_ref() const { return environment_; }
  typename Interface::pointer self() const { return self_; }
  /// Null once it has ended.
  context_actor context() const { return environment_->alarm.context(); }

  template <class Actor, class Message>
  void tell(const Actor& receiver, Message&& message) {
    tell_made(receiver, [&] { return std::decay_t<Message>(std::forward<Message>(message)); });
  }
  /// Likewise, ahead of the mail that waits there.
  template <class Actor, class Message>
  void tell_urgently(const Actor& receiver, Message&& message) {
    mail(receiver, caf::message_priority::high, {self_->id(), self_->context()}, environment_->tap,
         [&] { return std::decay_t<Message>(std::forward<Message>(message)); });
  }
  /// What `make()` returns, made in its place.
  template <class Actor, class Make>
  void tell_made(const Actor& receiver, const Make& make) {
    mail(receiver, caf::message_priority::normal, {self_->id(), self_->context()},
         environment_->tap, make);
  }

 private:
  template <class... Messages>
  typename Interface::behavior_type routes_of(msg::MessageList<Messages...>) {
    return {[this](Messages& message) { route(message); }...};
  }
  template <class Message>
  void route(Message& message) {
    auto* const observer = environment_->tap.observer();
    if (observer == nullptr) [[likely]]
      return handle(message);
    const auto listened_to = environment_;  // the handler may be this actor's last
    const auto id = self_->id();
    observer->received(id, &std::as_const(message));
    handle(message);
    observer->finished(id, &std::as_const(message));
  }
  template <class Message>
  void handle(Message& message) {
    try {
      static_cast<Derived*>(this)->receive(message);
    } catch (...) {
      // CAF ends the actor before it lets go of the message, and what that holds must not outlive
      // the actor.
      [[maybe_unused]] const Message gone(std::move(message));
      throw;
    }
  }

  caf::error failed(std::exception_ptr& thrown) noexcept {
    until_there_is_memory([&] {
      std::string what = "unknown";
      bool out_of_memory = false;
      try {
        std::rethrow_exception(thrown);
      } catch (const std::bad_alloc&) {
        out_of_memory = true;
        what = "out of memory";
      } catch (const std::exception& e) {
        what = e.what();
      } catch (...) {
      }
      static_cast<Derived*>(this)->ended_by(
          {"the " + std::string(Derived::name) + " actor failed: " + what, out_of_memory});
    });
    return {};
  }

  typename Interface::pointer self_;
  EnvironmentRef environment_;
  std::optional<msg::Census::Entry> leaves_;
};

/// Of all actors but the context's: a failure is the context's business.
template <class Derived, class Interface>
class Member : public State<Derived, Interface> {
 public:
  using State<Derived, Interface>::State;
  void ended_by(msg::actor_failed failure) {
    if (!this->environment_ref()) return;
    if (const auto owner = this->environment().alarm.ring(failure))
      this->tell_urgently(owner, std::move(failure));
  }
};

/// States of which `has_thread` is true may run on a thread of their own.
template <class S>
using ShellBase = std::conditional_t<S::has_thread, msg::OnOwnThread<typename S::interface::base>,
                                     typename S::interface::base>;
template <class S>
using Shell = caf::stateful_actor<S, ShellBase<S>>*;

template <class S, class... Args>
typename S::interface::behavior_type body(Shell<S> self, msg::Census::Entry entry,
                                          EnvironmentRef environment, Args... args) {
  // First of all: from here on the context hears of whatever goes wrong.
  auto& state = self->state;
  state.enter(environment);
  if (auto* const observer = environment->tap.observer()) observer->started(self->id(), S::name);
  try {
    state.start(std::move(args)...);
    // Not a member of the state, which goes before the mailbox does: what is in there may hold
    // memory and places, which need the environment.
    self->attach_functor([environment, entry, id = self->id()] {
      if (auto* const observer = environment->tap.observer()) observer->ended(id);
      environment->census->leave(entry);
    });
  } catch (...) {
    state.leaves(entry);
    throw;
  }
  return state.routes();
}

/// Spawns an actor with state S in `host`, a system or an actor.
template <class S, class Host, class... Args>
typename S::interface spawn_in(Host& host, const EnvironmentRef& environment,
                               msg::Census::Doing doing, Args... args) {
  const auto census = environment->census;
  const auto entry = census->enter(environment->name_of(S::name), std::move(doing));
  try {
    return host.spawn(body<S, Args...>, entry, environment, std::move(args)...);
  } catch (...) {
    census->leave(entry);
    throw;
  }
}

/// Spawns a device or compiler with state S in `system`, on a thread of its own unless the
/// environment says otherwise. `doing`: what keeps that thread. Throws std::system_error if no
/// thread can be had.
template <class S, class... Args>
typename S::interface spawn_on_thread(caf::actor_system& system, const EnvironmentRef& environment,
                                      msg::Census::Doing doing, Args... args) {
  struct Given {
    explicit Given(std::unique_ptr<msg::OwnThread> thread) {
      msg::OwnThread::give_next(std::move(thread));
    }
    ~Given() { msg::OwnThread::give_next(nullptr); }
  };
  auto thread = environment->detached ? std::make_unique<msg::OwnThread>(system) : nullptr;
  if constexpr (S::may_be_helped)
    if (thread && environment->helping) environment->helping->add_lane(thread->post());
  const Given given(std::move(thread));
  return spawn_in<S>(system, environment, std::move(doing), std::move(args)...);
}

}  // namespace polychron::actors
