// An observer hears everything that actors send, receive and finish, and changes nothing.
#include <map>
#include <mutex>

#include "tests/protocol/observed.hpp"
#include "tests/rig.hpp"

using namespace polychron;
using namespace polychron::testing;
using stress::World;

namespace {

/// Counts; of several threads.
class Counter : public msg::Observer {
 public:
  struct Counts {
    std::size_t sent = 0, received = 0, finished = 0;
  };
  void started(msg::ActorId actor, const char* kind) noexcept override {
    const std::lock_guard lock(mutex_);
    if (!alive_.emplace(actor, kind).second) fault_ = "an actor starts twice";
    ++starts_[kind];
  }
  void ended(msg::ActorId actor) noexcept override {
    const std::lock_guard lock(mutex_);
    if (alive_.erase(actor) != 1) fault_ = "an actor ends that is not alive";
    if (in_hand_.contains(actor)) fault_ = "an actor ends in a handler";
  }
  void sent(msg::ActorId from, msg::ActorId to, const msg::MessageView& message) noexcept override {
    const std::lock_guard lock(mutex_);
    if (from != 0 && !alive_.contains(from)) fault_ = "somebody sends who is not alive";
    ++counts_[message.index()].sent;
    ++on_the_way_[{to, message.index()}];
  }
  void received(msg::ActorId by, const msg::MessageView& message,
                msg::LogicalTime) noexcept override {
    const std::lock_guard lock(mutex_);
    if (!alive_.contains(by)) fault_ = "somebody receives who is not alive";
    if (!in_hand_.emplace(by, message.index()).second) fault_ = "two messages at once";
    if (on_the_way_[{by, message.index()}]-- == 0) fault_ = "received before it is sent";
    ++counts_[message.index()].received;
  }
  void finished(msg::ActorId by, const msg::MessageView& message) noexcept override {
    const std::lock_guard lock(mutex_);
    const auto hand = in_hand_.extract(by);
    if (hand.empty() || hand.mapped() != message.index()) fault_ = "finished, but not received";
    ++counts_[message.index()].finished;
  }

  void has_turn(msg::ActorId lane, const msg::carry_out&) noexcept override {
    const std::lock_guard lock(mutex_);
    if (!in_hand_.contains(lane)) fault_ = "an operation's turn comes in no handler";
    ++turns_;
  }

  std::size_t turns() const { return locked(turns_); }
  std::string fault() const { return locked(fault_); }
  /// By the kind of message: the index of a MessageView.
  std::map<std::size_t, Counts> counts() const { return locked(counts_); }
  std::map<std::string, std::size_t> starts() const { return locked(starts_); }
  std::size_t alive() const { return locked(alive_).size(); }
  template <class Message>
  Counts of() const {
    const auto all = counts();
    const auto found = all.find(msg::MessageView(static_cast<const Message*>(nullptr)).index());
    return found == all.end() ? Counts{} : found->second;
  }

 private:
  template <class T>
  T locked(const T& value) const {
    const std::lock_guard lock(mutex_);
    return value;
  }
  mutable std::mutex mutex_;
  std::map<msg::ActorId, std::string> alive_;
  std::map<msg::ActorId, std::size_t> in_hand_;
  std::map<std::pair<msg::ActorId, std::size_t>, std::size_t> on_the_way_;
  std::map<std::size_t, Counts> counts_;
  std::map<std::string, std::size_t> starts_;
  std::string fault_;
  std::size_t turns_ = 0;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(observer)

BOOST_AUTO_TEST_CASE(what_is_sent_is_received_and_finished_once) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const int lanes = 1 + static_cast<int>(seed % 3);
    const auto counter = std::make_shared<Counter>();
    stress::RandomStrategy strategy(seed);
    World world(strategy);
    {
      Observed observed(world, counter);
      work(observed, lanes);
      // All handles are gone, the context's too. Messages to actors that ended are dropped.
      world.run();
    }
    world.run();
    BOOST_TEST_CONTEXT("seed " << seed) {
      BOOST_TEST(counter->fault() == "");
      BOOST_TEST(counter->alive() == 0U);
      for (const auto& [kind, counts] : counter->counts()) {
        BOOST_TEST(counts.received == counts.finished, "message " << kind);
        BOOST_TEST(counts.sent >= counts.received, "message " << kind);
      }
      auto starts = counter->starts();
      BOOST_TEST(starts["context"] == 1U);
      BOOST_TEST(starts["compiler"] == 1U);
      BOOST_TEST(starts["device"] == std::size_t(lanes));
      BOOST_TEST(starts["tensor"] == 4U);
      BOOST_TEST(starts["graph"] == 1U);
    }
  }
}

BOOST_AUTO_TEST_CASE(while_everybody_lives_no_message_is_missing) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const auto counter = std::make_shared<Counter>();
    stress::RandomStrategy strategy(seed);
    World world(strategy);
    Observed observed(world, counter);
    ContextOptions options;
    options.lanes = 2;
    auto context = world.settle(observed.runtime.create_context(options)).value();
    std::vector<Tensor> tensors;
    for (int i = 0; i < 4; ++i)
      tensors.push_back(world.settle(context.create_tensor(stress::value_descriptor)).value());
    const auto graph =
        world.settle(detail::submit_build(context, stress::symbolic_graph("g", 1), {"g"})).value();
    constexpr std::size_t dispatches = 20;
    for (std::size_t i = 0; i < dispatches; ++i)
      context.dispatch(graph, {{"in0", tensors[i % 4]}}, {{"out", tensors[(i * 3 + 1) % 4]}});
    static_cast<void>(world.settle(context.read_tensor(tensors[0])));
    world.run();
    BOOST_TEST_CONTEXT("seed " << seed) {
      BOOST_TEST(counter->fault() == "");
      for (const auto& [kind, counts] : counter->counts()) {
        BOOST_TEST(counts.sent == counts.received, "message " << kind);
        BOOST_TEST(counts.sent == counts.finished, "message " << kind);
      }
      // Creations, the build, dispatches, the read; each to a lane once, and that is all.
      const auto submitted = counter->of<msg::submit>().sent;
      BOOST_TEST(submitted == 4 + 1 + dispatches + 1);
      BOOST_TEST(counter->of<msg::carry_out>().sent == submitted);
      BOOST_TEST(counter->of<msg::compile>().finished == 1U);
      BOOST_TEST(counter->of<msg::reached>().sent == counter->of<msg::await_turn>().sent);
    }
  }
}

BOOST_AUTO_TEST_CASE(who_is_observed_does_the_same_in_the_same_steps) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const auto history = [&](const std::shared_ptr<msg::Observer>& observer) {
      stress::RandomStrategy strategy(seed);
      World world(strategy);
      std::string said;
      {
        Observed observed(world, observer);
        said = work(observed, 2);
      }
      world.run();
      return std::pair(said, world.schedule());
    };
    const auto alone = history(nullptr), heard = history(std::make_shared<Counter>());
    BOOST_TEST(alone.first == heard.first);
    BOOST_TEST((alone.second == heard.second), "seed " << seed);
  }
}

BOOST_AUTO_TEST_CASE(only_contexts_that_come_later_are_heard) {
  stress::RandomStrategy strategy(1);
  World world(strategy);
  Observed observed(world, nullptr);
  auto before = world.settle(observed.runtime.create_context()).value();
  const auto counter = std::make_shared<Counter>();
  observed.state->observe(counter);
  const auto first = world.settle(before.create_tensor(stress::value_descriptor));
  BOOST_TEST(counter->counts().empty());
  auto after = world.settle(observed.runtime.create_context()).value();
  const auto second = world.settle(after.create_tensor(stress::value_descriptor));
  world.run();
  BOOST_TEST(counter->of<msg::submit>().sent == 1U);
}

BOOST_AUTO_TEST_CASE(on_threads_of_their_own_it_is_the_same) {
  const auto counter = std::make_shared<Counter>();
  {
    const auto faults = std::make_shared<stress::FaultPlan>();
    const auto state = faulty_runtime(faults);
    state->observe(counter);
    Runtime runtime(state);
    ContextOptions options;
    options.lanes = 2;
    auto context = runtime.create_context(options).get();
    std::vector<Tensor> tensors;
    for (int i = 0; i < 3; ++i) tensors.push_back(context.create_tensor(Rig::floats()).get());
    context.write_tensor(tensors[0], std::vector<float>(4, 1.5F));
    GraphBuilder builder(context);
    const auto in = builder.input("in", Rig::floats());
    const auto graph = builder.build({{"out", builder.add(in, in)}}).get();
    for (int i = 0; i < 300; ++i)
      context.dispatch(graph, {{"in", tensors[0]}}, {{"out", tensors[1 + unsigned(i) % 2]}});
    for (int i = 1; i < 3; ++i) {
      const auto bytes = context.read_tensor(tensors[unsigned(i)]).get();
      BOOST_TEST(bytes.as<float>()[3] == 3.0F);
    }
  }
  BOOST_TEST(counter->fault() == "");
  BOOST_TEST(counter->alive() == 0U);
  BOOST_TEST(counter->of<msg::carry_out>().received >= 300U);
  for (const auto& [kind, counts] : counter->counts())
    BOOST_TEST(counts.received == counts.finished, "message " << kind);
}

BOOST_AUTO_TEST_SUITE_END()
