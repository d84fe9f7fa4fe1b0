// Small programs of actors, workers, lanes and callers on the engine's core, with what must hold.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "messages/duration_class.hpp"
#include "tests/engine/model.hpp"

namespace testing::exploring {

using polychron::msg::DurationClass;

/// `Engine` names the core's templates: the real one's, or those of the copy with defects.
template <class Engine>
class World {
 public:
  struct Actor;
  struct Platform : Model {
    using Job = Actor;
  };
  using Queue = typename Engine::template Queue<Platform>;
  using Slot = typename Engine::template Slot<Platform>;
  using Caller = typename Engine::template Caller<Platform>;
  static constexpr Nanoseconds interval = std::chrono::nanoseconds(Engine::interval).count();

  /// The reply that a client waits for.
  struct Reply {
    Model::Flag settled{false};
    Model::Mutex mutex;
    Model::Condition changed;
  };
  /// A message is what its receiver does.
  using Message = std::function<void()>;
  struct Actor {
    std::string name;
    std::shared_ptr<Slot> slot{};
    std::deque<Message> mail{};
    bool scheduled = false, runs = false;
    Nanoseconds runnable_since = 0;
  };

  World(Explorer& explorer, int workers, Nanoseconds longest_delay)
      : explorer_(explorer), longest_delay_(longest_delay) {
    for (int i = 0; i < workers; ++i)
      threads_.push_back(explorer_.spawn(
          "worker", [this] { queue_.serve([this](Actor* job) { return run(*job, 64); }); }));
  }

  /// A lane's actor: its thread, and what it knows of its next operation.
  std::unique_ptr<Actor> lane(DurationClass duration = DurationClass::tiny) {
    auto actor = std::make_unique<Actor>(Actor{"lane", std::make_shared<Slot>()});
    actor->slot->set_context(this);
    actor->slot->set_next_duration([duration] { return duration; });
    slots_.push_back(actor->slot);
    threads_.push_back(explorer_.spawn("lane", [this, slot = actor->slot] {
      while (auto* const job = slot->await()) run(*job, 64);
    }));
    return actor;
  }
  std::size_t client(std::function<void()> body) {
    clients_.push_back(explorer_.spawn("client", std::move(body)));
    return clients_.back();
  }

  void send(Actor& to, Message message, bool deferred = false) {
    explorer_.point();
    ++sent_;
    to.mail.push_back(std::move(message));
    if (std::exchange(to.scheduled, true)) return;
    to.runnable_since = explorer_.now();
    auto* const caller = callers_[explorer_.self()];
    if (to.slot != nullptr) {
      if (caller == nullptr || !caller->made_runnable(*to.slot, &to)) to.slot->put(&to);
    } else if (caller != nullptr) {
      caller->made_runnable(&to);
    } else if (deferred) {
      queue_.defer(&to, nullptr, this);
    } else {
      queue_.push(&to);
    }
  }
  void defer(Actor& to, Message message) { send(to, std::move(message), true); }
  static void settle(Reply& reply) {
    const std::lock_guard lock(reply.mutex);
    reply.settled.store(true);
    reply.changed.notify_all();
  }
  void await(Reply& reply, const Actor& context, bool returns) {
    Caller caller(queue_, this, &context);
    callers_[explorer_.self()] = &caller;
    caller.work_until([&] { return reply.settled.load(); }, returns,
                      [this](Actor* job, bool one) { return run(*job, one ? 1 : 64); });
    callers_[explorer_.self()] = nullptr;
    std::unique_lock lock(reply.mutex);
    reply.changed.wait(lock, [&] { return reply.settled.load(); });
  }
  bool is_caller() { return callers_[explorer_.self()] != nullptr; }
  void until_all_is_handled() {
    while (handled_ < sent_) explorer_.block(&handled_);
  }
  /// The clients and the jobs come to an end, and then the threads.
  void finish() {
    for (const auto thread : clients_) explorer_.join(thread);
    until_all_is_handled();
    end_threads();
  }
  void end_threads() {
    queue_.close();
    for (const auto& slot : slots_) slot->close();
    for (const auto thread : threads_) explorer_.join(thread);
    explorer_.require(handled_ == sent_, "every message is handled before the end");
  }

 private:
  bool run(Actor& actor, int most) {
    explorer_.require(!std::exchange(actor.runs, true), "an actor runs on one thread");
    explorer_.require(actor.scheduled && !actor.mail.empty(), "a job that runs has work to do");
    explorer_.require(
        !explorer_.on_time() || explorer_.now() - actor.runnable_since <= longest_delay_,
        "a job runs in time");
    for (int messages = 0; messages < most; ++messages) {
      const auto message = std::move(actor.mail.front());
      actor.mail.pop_front();
      message();
      ++handled_;
      explorer_.wake_all(&handled_);
      explorer_.point();
      if (!actor.mail.empty()) continue;
      actor.runs = actor.scheduled = false;
      return false;
    }
    actor.runs = false;
    actor.runnable_since = explorer_.now();
    return true;
  }

  Explorer& explorer_;
  const Nanoseconds longest_delay_;
  Queue queue_{4};
  std::vector<std::size_t> threads_, clients_;
  std::vector<std::shared_ptr<Slot>> slots_;
  std::map<std::size_t, Caller*> callers_;  ///< by thread, while it runs jobs
  int sent_ = 0, handled_ = 0;
};

struct Scenario {
  const char* name;
  int bound;
  std::function<void(Explorer&)> program;
};

/// Set once, by one thread for another.
class Signal {
 public:
  explicit Signal(Explorer& explorer) : explorer_(explorer) {}
  void set() {
    done_ = true;
    explorer_.wake_all(&done_);
  }
  void await() {
    while (!done_) explorer_.block(&done_);
  }

 private:
  Explorer& explorer_;
  bool done_ = false;
};

template <class Engine>
struct Scenarios {
  using W = World<Engine>;
  using Actor = typename W::Actor;
  using Reply = typename W::Reply;

  /// The queue and its workers.
  static std::vector<Scenario> of_workers() {
    return {
        {"ready jobs run at once, and the pool ends after them", 2,
         [](Explorer& explorer) {
           W world(explorer, 2, 0);
           Actor a{"a"}, b{"b"}, c{"c"};
           for (auto* const actor : {&a, &b, &c}) world.send(*actor, [] {});
           world.end_threads();
         }},
        {"two workers run two jobs of which one waits for the other", 2,
         [](Explorer& explorer) {
           W world(explorer, 2, 0);
           Actor a{"a"}, b{"b"};
           Signal done(explorer);
           world.send(a, [&] { done.await(); });
           world.send(b, [&] { done.set(); });
           world.until_all_is_handled();
           world.end_threads();
         }},
        {"deferred jobs run within an interval though a worker is held up, also when all had slept",
         2,
         [](Explorer& explorer) {
           W world(explorer, 2, W::interval);
           Actor held{"held"}, a{"a"}, b{"b"};
           Signal done(explorer);
           world.defer(a, [] {});
           world.until_all_is_handled();
           world.defer(b, [&] { done.set(); });
           world.send(held, [&] { done.await(); });
           world.finish();
         }},
        {"a deferred job runs though its poller has other work", 1,
         [](Explorer& explorer) {
           W world(explorer, 1, W::interval);
           Actor a{"a"}, b{"b"};
           world.defer(a, [] {});
           for (int i = 0; i < 4; ++i) {
             Signal done(explorer);
             world.send(b, [&] { done.set(); });
             done.await();
           }
           world.finish();
         }},
        {"a job that is deferred while a worker polls runs within an interval", 1,
         [](Explorer& explorer) {
           W world(explorer, 2, W::interval);
           Actor a{"a"}, b{"b"};
           for (int i = 0; i < 2; ++i) {
             world.defer(a, [] {});
             world.until_all_is_handled();
             explorer.block(&a, explorer.now() + W::interval / 2);
           }
           world.defer(b, [] {});
           world.finish();
         }},
    };
  }

  /// The worker that polls for deferred jobs.
  static std::vector<Scenario> of_polling() {
    return {
        {"a poller is called again when the last one slept", 1,
         [](Explorer& explorer) {
           W world(explorer, 2, W::interval);
           Actor a{"a"};
           for (int i = 0; i < 3; ++i) {
             world.defer(a, [] {});
             world.until_all_is_handled();
             explorer.block(&a, explorer.now() + 4 * W::interval);
           }
           world.finish();
         }},
        {"a worker that is called to poll finds nothing, and the next call wakes it again", 1,
         [](Explorer& explorer) {
           W world(explorer, 2, W::interval);
           Actor a{"a"}, b{"b"}, c{"c"};
           Reply reply;
           world.defer(a, [&] { W::settle(reply); });
           for (int i = 0; i < 3; ++i) {
             Signal done(explorer);
             world.send(b, [&] { done.set(); });
             done.await();
           }
           world.await(reply, a, true);
           explorer.block(&c, explorer.now() + W::interval);  // until all others sleep
           world.defer(c, [] {});
           world.finish();
         }},
        {"deferred jobs are run at the end", 2,
         [](Explorer& explorer) {
           W world(explorer, 1, W::interval);
           Actor a{"a"};
           const auto lane = world.lane();
           world.defer(a, [] {});
           world.end_threads();
         }},
    };
  }

  /// Clients that wait for a reply of the context or of a lane.
  static std::vector<Scenario> of_callers() {
    /// The context passes an operation to the lane, which settles the reply.
    const auto call = [](W& world, Actor& context, Actor& lane, Reply& reply, bool deferred) {
      world.send(
          context, [&] { world.send(lane, [&] { W::settle(reply); }); }, deferred);
    };
    return {
        {"a client calls twice", 2,
         [call](Explorer& explorer) {
           W world(explorer, 1, W::interval);
           Actor context{"context"};
           const auto lane = world.lane();
           world.client([&] {
             for (const bool again : {false, true}) {
               Reply reply;
               call(world, context, *lane, reply, again);
               world.await(reply, context, again);
             }
           });
           world.finish();
         }},
        {"two clients of one lane", 1,
         [call](Explorer& explorer) {
           W world(explorer, 1, W::interval);
           Actor context{"context"};
           const auto lane = world.lane();
           Reply replies[2];
           for (auto& reply : replies)
             world.client([&] {
               call(world, context, *lane, reply, true);
               world.await(reply, context, true);
             });
           world.finish();
         }},
    };
  }

  /// Operations of lanes, which callers run or leave to others.
  static std::vector<Scenario> of_lanes() {
    return {
        {"an operation that is held up holds up its lane alone", 1,
         [](Explorer& explorer) {
           W world(explorer, 1, W::interval);
           Actor context{"context"};
           const auto first = world.lane(), second = world.lane();
           Reply reply;
           Signal done(explorer);
           world.client([&] {
             world.send(
                 context,
                 [&] {
                   world.send(*first, [&] {
                     done.await();
                     W::settle(reply);
                   });
                   world.send(*second, [&] { done.set(); });
                 },
                 true);
             world.await(reply, context, true);
           });
           world.finish();
         }},
        {"a caller that leaves for good leaves nothing deferred", 2,
         [](Explorer& explorer) {
           W world(explorer, 1, 0);
           Actor context{"context"}, member{"member"};
           const auto lane = world.lane();
           Reply reply;
           world.client([&] {
             world.send(context, [&] {
               world.send(member, [] {});
               world.send(*lane, [] {});
               W::settle(reply);
             });
             world.await(reply, context, false);
           });
           world.finish();
         }},
        {"a caller leaves a lane with more operations to others", 2,
         [](Explorer& explorer) {
           W world(explorer, 1, W::interval);
           Actor context{"context"};
           const auto lane = world.lane();
           Reply reply;
           world.client([&] {
             world.send(
                 context,
                 [&] {
                   world.send(*lane, [&] { W::settle(reply); });
                   world.send(*lane, [] {});
                 },
                 true);
             world.await(reply, context, true);
           });
           world.finish();
         }},
        {"a caller runs no operation that may be long", 1,
         [](Explorer& explorer) {
           W world(explorer, 1, W::interval);
           Actor context{"context"};
           const auto lane = world.lane(DurationClass::unknown);
           Reply reply;
           world.client([&] {
             world.send(context, [&] {
               world.send(*lane, [&] {
                 explorer.require(!world.is_caller(), "a caller runs what is known to be short");
                 W::settle(reply);
               });
             });
             world.await(reply, context, true);
           });
           world.finish();
         }},
    };
  }

  /// From the simplest to those with callers and lanes.
  static std::vector<Scenario> all() {
    std::vector<Scenario> scenarios;
    for (const auto& some : {of_workers(), of_polling(), of_callers(), of_lanes()})
      scenarios.insert(scenarios.end(), some.begin(), some.end());
    return scenarios;
  }
};

}  // namespace testing::exploring
