// The local idiom: an actor is a state class with one method `receive` for each message of its
// protocol. A message that has none does not compile.
#pragma once

#include <algorithm>
#include <caf/all.hpp>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "actors/engine/mailbox_actor.hpp"
#include "actors/environment.hpp"
#include "actors/mail.hpp"
#include "base/invariant.hpp"
#include "messages/context.hpp"

namespace polychron::actors {

/// Retries `f` until it finds memory: for steps without which an actor could not end.
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

/// Ends an actor before it reads its remaining mail. The mail is dropped, and the replies in it are
/// rejected.
template <class Handle>
void end_actor(const Handle& actor) noexcept {
  until_there_is_memory([&] {
    const auto target = caf::actor_cast<caf::strong_actor_ptr>(actor);
    if (target == nullptr) return;
    const auto end = [] { return caf::exit_msg{nullptr, caf::exit_reason::user_shutdown}; };
    auto envelope = std::make_unique<Envelope<caf::exit_msg>>(caf::message_priority::high, end);
    envelope->time = msg::logical_clock();
    target->enqueue(caf::mailbox_element_ptr(envelope.release()), nullptr);
  });
}

/// An actor, without its address and its state.
class Body : public engine::MailboxActor {
 public:
  Body(std::unique_ptr<engine::OwnThread> thread, EnvironmentRef environment,
       const msg::ActorRegistry::Entry& entry)
      : MailboxActor(std::move(thread)), environment_(std::move(environment)), entry_(entry) {}

  const EnvironmentRef& environment() const { return environment_; }
  /// When it handled its last message, for the next thread that runs it; kept for an observer.
  msg::LogicalTime last_handled = 0;

 protected:
  void leave() noexcept {
    if (auto* const observer = environment_->gate.observer(); observer != nullptr && begun()) {
      msg::comes_after(last_handled);
      observer->ended(id());
    }
    environment_->registry->leave(entry_);
  }

 private:
  /// Outlives the state and the mailbox, whose content may hold its memory and permits.
  const EnvironmentRef environment_;
  const msg::ActorRegistry::Entry entry_;
};

/// Base of every state: the environment, and the hooks around the handlers. If a handler throws,
/// the actor tells its context and ends; the context is then lost.
///
/// No actor monitors or links to another. CAF allocates memory for it when an actor ends, and
/// searches a list, which makes destroying 100,000 tensors quadratic (measured: 476 us each).
template <class Derived, class Interface>
class State {
 public:
  using interface = Interface;
  /// Which kind of address its actor has.
  using address = engine::PrivateAddress;

  explicit State(Body& self) : self_(self) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  /// False if the message is not of this protocol.
  bool take(caf::type_erased_tuple& message) {
    return take_one_of(message, msg::messages_of<Interface>{});
  }
  /// Called when a holder of the actor's address tells it to end.
  void told_to_end(const caf::error&) {}
  void threw(const std::exception_ptr& thrown) noexcept {
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
  }

 protected:
  ~State() = default;
  const Environment& environment() const { return *environment_ref(); }
  const EnvironmentRef& environment_ref() const { return self_.environment(); }
  Body& self() const { return self_; }
  /// Null once it has ended.
  context_actor context() const { return environment().failures.context(); }

  template <class Actor, class Message>
  void tell(const Actor& receiver, Message&& message) {
    tell_made(receiver, [&] { return std::decay_t<Message>(std::forward<Message>(message)); });
  }
  /// The same, ahead of the mail that waits there.
  template <class Actor, class Message>
  void tell_urgently(const Actor& receiver, Message&& message) {
    mail(receiver, caf::message_priority::high, {self_.id(), self_.context()}, environment().gate,
         [&] { return std::decay_t<Message>(std::forward<Message>(message)); });
  }
  /// Sends the result of `make()`, constructed in the mailbox element.
  template <class Actor, class Make>
  void tell_made(const Actor& receiver, const Make& make) {
    mail(receiver, caf::message_priority::normal, {self_.id(), self_.context()}, environment().gate,
         make);
  }

 private:
  /// Compares the address of the type's description, not its name: comparing names takes longer
  /// than most handlers. The addresses differ only if another library made the message.
  template <class... Messages>
  bool take_one_of(caf::type_erased_tuple& message, msg::MessageList<Messages...>) {
    if (message.size() != 1) return false;
    const auto* const type = message.type(0).second;
    return ((type == &typeid(Messages) && route<Messages>(message)) || ...) ||
           ((message.match_elements<Messages>() && route<Messages>(message)) || ...);
  }
  template <class Message>
  bool route(caf::type_erased_tuple& content) {
    auto& message = content.get_mutable_as<Message>(0);
    auto* const observer = environment().gate.observer();
    if (observer == nullptr) [[likely]] {
      static_cast<Derived*>(this)->receive(message);
      return true;
    }
    const auto sent = Envelope<Message>::sent(content);
    msg::comes_after(std::max(sent, self_.last_handled));
    observer->received(self_.id(), &std::as_const(message), sent);
    self_.last_handled = msg::logical_clock();
    static_cast<Derived*>(this)->receive(message);
    observer->finished(self_.id(), &std::as_const(message));
    self_.last_handled = msg::logical_clock();
    return true;
  }

  Body& self_;
};

/// For all actors except the context's, which hears of every failure.
template <class Derived, class Interface>
class Member : public State<Derived, Interface> {
 public:
  using State<Derived, Interface>::State;
  void ended_by(msg::actor_failed failure) {
    if (const auto owner = this->environment().failures.report(failure))
      this->tell_urgently(owner, std::move(failure));
  }
};

/// The start of an actor with state S.
template <class S>
struct Beginning {
  virtual ~Beginning() = default;
  virtual void start(S& state) = 0;
};
template <class S, class... Args>
struct BeginningWith final : Beginning<S> {
  explicit BeginningWith(Args&&... given) : args(std::move(given)...) {}
  void start(S& state) override {
    std::apply([&](Args&... given) { state.start(std::move(given)...); }, args);
  }
  std::tuple<Args...> args;
};

/// An actor with state S. The state exists from its first step to its last.
template <class S>
class ActorWith final : public S::address, public Body {
 public:
  ActorWith(caf::actor_config& config, std::unique_ptr<engine::OwnThread> thread,
            EnvironmentRef environment, const msg::ActorRegistry::Entry& entry,
            std::unique_ptr<Beginning<S>> beginning)
      : S::address(config),
        Body(std::move(thread), std::move(environment), entry),
        beginning_(std::move(beginning)) {}

  caf::abstract_actor& address() noexcept override { return *this; }
  const char* kind() const noexcept override { return S::name; }
  using S::address::enqueue;
  void enqueue(caf::mailbox_element_ptr element, caf::execution_unit* unit) override {
    put(std::move(element), unit);
  }
  void on_destroy() override { abandon(); }

 private:
  void begin() override {
    if (auto* const observer = environment()->gate.observer())
      observer->started(Body::id(), S::name);
    // Without a state the failure could not be reported.
    until_there_is_memory([&] { state_.emplace(*this); });
    const auto beginning = std::move(beginning_);
    beginning->start(*state_);
  }
  bool handle(caf::type_erased_tuple& message) override {
    if (state_->take(message)) return true;
    msg::comes_after(Envelope<caf::exit_msg>::sent(message));
    return false;
  }
  void told_to_end(const caf::error& reason) override { state_->told_to_end(reason); }
  void failed(const std::exception_ptr& thrown) noexcept override {
    if (state_) state_->threw(thrown);
  }
  void end() noexcept override {
    state_.reset();
    beginning_.reset();
  }
  void ended(caf::execution_unit* unit) noexcept override {
    leave();
    this->cleanup(caf::error{}, unit);  // no reason: that would need memory
  }

  std::unique_ptr<Beginning<S>> beginning_;
  std::optional<S> state_;
};

/// Spawns an actor with state S in `system`. `unit` is the execution unit of the spawning actor, or
/// null. `doing`: see ActorRegistry. `thread` is the actor's own, if it has one.
template <class S, class... Args>
typename S::interface spawn_in(caf::actor_system& system, caf::execution_unit* unit,
                               const EnvironmentRef& environment, msg::ActorRegistry::Doing doing,
                               std::unique_ptr<engine::OwnThread> thread, Args... args) {
  using Actor = ActorWith<S>;
  std::unique_ptr<Beginning<S>> beginning =
      std::make_unique<BeginningWith<S, Args...>>(std::move(args)...);
  const auto registry = environment->registry;
  const auto entry = registry->enter(environment->name_of(S::name), std::move(doing));
  typename S::interface actor;
  try {
    caf::actor_config config(unit);
    actor = caf::make_actor<Actor, typename S::interface>(system.next_actor_id(), system.node(),
                                                          &system, config, std::move(thread),
                                                          environment, entry, std::move(beginning));
  } catch (...) {
    registry->leave(entry);
    throw;
  }
  static_cast<Actor*>(caf::actor_cast<caf::abstract_actor*>(actor))->launch(unit);
  return actor;
}

/// The same for a device or compiler, on a thread of its own unless the environment says otherwise.
/// Throws std::system_error if the system refuses a thread.
template <class S, class... Args>
typename S::interface spawn_on_thread(caf::actor_system& system, const EnvironmentRef& environment,
                                      msg::ActorRegistry::Doing doing, Args... args) {
  auto thread = environment->detached ? std::make_unique<engine::OwnThread>(system) : nullptr;
  if constexpr (S::may_be_helped)
    if (thread && environment->caller_runs)
      thread->slot()->set_context(environment->caller_runs.get());
  return spawn_in<S>(system, nullptr, environment, std::move(doing), std::move(thread),
                     std::move(args)...);
}

}  // namespace polychron::actors
