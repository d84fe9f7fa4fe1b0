// Messages are handled in an order that machines seldom take, in driven worlds.
#include <algorithm>

#include "observe/replay/script.hpp"
#include "observe/stress/run.hpp"
#include "observe/stress/symbolic_backend.hpp"
#include "observe/trace/matches.hpp"
#include "runtime/builder_bridge.hpp"
#include "tests/recorded_program.hpp"
#include "tests/replay/recordings.hpp"

using namespace polychron;
using namespace polychron::testing;

BOOST_AUTO_TEST_SUITE(mail)

namespace {

/// Has lanes handle what came last first.
class Backwards final : public stress::RandomStrategy {
 public:
  using RandomStrategy::RandomStrategy;
  std::size_t pick(std::span<const stress::Runnable> runnables) override {
    const auto picked = RandomStrategy::pick(runnables);
    const auto& runnable = runnables[picked];
    if (runnable.actor() != std::string_view("device")) return picked;
    msg::Ticket last = 0;
    const auto ticket_of = [](const msg::MessageView& message) {
      const auto* const* const m = std::get_if<const msg::carry_out*>(&message);
      return m == nullptr ? 0 : (*m)->stamp.ticket;
    };
    runnable.prefer([&](const msg::MessageView& message) {
      last = std::max(last, ticket_of(message));
      return false;
    });
    if (last != 0)
      runnable.prefer([&](const msg::MessageView& message) { return ticket_of(message) == last; });
    return picked;
  }
};

/// The operations that lanes handled, in their order.
std::vector<std::pair<std::uint64_t, msg::Ticket>> handled_by_lanes(
    std::span<const std::byte> recording) {
  const auto records = trace::read_records(recording);
  const auto matches = trace::sent_of_handled(records);
  std::vector<std::pair<std::uint64_t, msg::Ticket>> handled;
  for (std::size_t i = 0; i < matches.size(); ++i) {
    if (!matches[i]) continue;
    const auto& sent = records.sent[*matches[i]].record;
    if (records.messages.at(sent.about.message) != "carry_out") continue;
    handled.emplace_back(sent.footprint.lane, sent.about.ticket);
  }
  std::ranges::stable_sort(handled, {}, [](const auto& one) { return one.first; });
  return handled;
}

}  // namespace

BOOST_AUTO_TEST_CASE(whatever_order_mail_was_handled_in_comes_again) {
  std::size_t backwards = 0, same = 0;
  for (std::uint64_t seed = 1; seed <= 600; ++seed) {
    const auto program = stress::random_program(seed);
    Backwards strategy(seed);
    stress::RunRecording recording;
    const auto result = stress::run(program, strategy, nullptr, &recording);
    BOOST_TEST(!result.finding.has_value(), result.finding.value_or(""));
    const auto replayed = replay::replay(recording.file());
    BOOST_TEST_CONTEXT("seed " << seed) {
      for (const auto& difference : replayed.differences) BOOST_ERROR(difference);
      const auto was = handled_by_lanes(recording.file());
      same += was == handled_by_lanes(replayed.recording);
      backwards += !std::ranges::is_sorted(was);
    }
  }
  BOOST_TEST(backwards > 100U);
  BOOST_TEST(same > 500U);  // the others are lost in the middle
}

namespace {

/// Lanes move when nobody else can, the last first, and hear nothing of each other.
class Deaf final : public stress::RandomStrategy {
 public:
  using RandomStrategy::RandomStrategy;
  std::optional<std::size_t> choose(std::span<const stress::Runnable> runnables) override {
    std::optional<std::size_t> last;  // of the lanes
    for (std::size_t i = 0; i < runnables.size(); ++i) {
      const auto& runnable = runnables[i];
      if (runnable.actor() != std::string_view("device")) return i;
      if (is_question(runnable))
        runnable.prefer([](const msg::MessageView& message) {
          return !std::holds_alternative<const msg::await_turn*>(message);
        });
      const bool later = !last || runnable.id() > runnables[*last].id();
      if (!is_question(runnable) && later) last = i;
    }
    return last;
  }

 private:
  static bool is_question(const stress::Runnable& runnable) {
    return runnable.message() == "await_turn";
  }
};

}  // namespace

BOOST_AUTO_TEST_CASE(what_a_lane_was_asked_and_never_heard_is_not_answered) {
  Deaf strategy(1);
  stress::RunRecording recording;
  {
    stress::World world(strategy);
    world.observe(recording.observer_for("", 2));
    ContextOptions options;
    options.lanes = 2;
    auto context = world.settle(world.runtime().create_context(options)).value();
    const auto graph =
        world.settle(detail::submit_build(context, stress::symbolic_graph("sum", 2), {"sum"}))
            .value();
    std::vector<Tensor> tensors;
    for (int i = 0; i < 10; ++i)
      tensors.push_back(world.settle(context.create_tensor(stress::value_descriptor)).value());
    const auto sum = [&](std::size_t a, std::size_t b, std::size_t of) {
      context.dispatch(graph, {{"in0", tensors[a]}, {"in1", tensors[b]}}, {{"out", tensors[of]}});
    };
    // One of two lanes waits for the results of both, and goes on with other things.
    sum(0, 1, 2);
    sum(3, 4, 5);
    sum(2, 5, 6);
    for (int again = 0; again < 2; ++again) {
      for (std::uint64_t i = 7; i < 10; ++i) context.write_tensor(tensors[i], std::vector{i});
      world.run();
    }
    context.destroy();
    world.run();
  }
  const auto file = recording.file();
  const auto records = trace::read_records(file);
  BOOST_TEST(!replay::script_of(trace::join(file)).unheard.empty());
  const auto replayed = replay::replay(file);
  for (const auto& difference : replayed.differences) BOOST_ERROR(difference);
  BOOST_TEST(trace::read_records(replayed.recording).carried.size() == records.carried.size());
}

BOOST_AUTO_TEST_SUITE_END()
