// Who was first, where times alone do not tell.
#include <algorithm>

#include "messages/names.hpp"
#include "replay/before.hpp"
#include "replay/listener.hpp"
#include "replay/turns.hpp"
#include "runtime/builder_bridge.hpp"
#include "stress/run.hpp"
#include "stress/symbolic_backend.hpp"
#include "tests/recorded_program.hpp"
#include "tests/replay/recordings.hpp"
#include "trace/matches.hpp"

using namespace polychron;
using namespace polychron::testing;
using replay::Turn;

namespace {

constexpr std::uint64_t the_context = 1, lane = 2, other_lane = 3, tensor = 4;

/// A recording of one context, made by hand.
struct Made {
  Made() {
    records.contexts[1] = {"", 2};
    records.operations = {"read", "write"};
    records.calls = {"destroy of the context", "write"};
    for (const auto& [actor, kind] : std::map<std::uint64_t, std::string>{{the_context, "context"},
                                                                          {lane, "device"},
                                                                          {other_lane, "device"},
                                                                          {tensor, "tensor"}})
      roles[{1, actor}] = {0, kind, actor == other_lane ? 1U : 0U};
  }
  std::uint32_t message(const std::string& name) {
    const auto known = std::ranges::find(records.messages, name);
    if (known != records.messages.end())
      return static_cast<std::uint32_t>(known - records.messages.begin());
    records.messages.push_back(name);
    return static_cast<std::uint32_t>(records.messages.size() - 1);
  }
  recording::Sent& sends(std::int64_t at, std::uint64_t from, std::uint64_t to,
                         const std::string& name, msg::Ticket ticket = 0, std::uint32_t what = 0) {
    recording::Sent sent;
    sent.context = 1, sent.at = at, sent.from = from, sent.to = to;
    sent.message = ++addresses[{to, name, ticket}] * 1000 + message(name) * 100 + ticket;
    sent.about.message = message(name), sent.about.ticket = ticket, sent.about.what = what;
    records.sent.push_back({0, sent});
    return records.sent.back().record;
  }
  void handles(std::int64_t at, std::uint64_t duration, std::uint64_t by, const std::string& name,
               msg::Ticket ticket = 0) {
    recording::Handled handled;
    handled.context = 1, handled.begin = at, handled.duration = duration, handled.by = by;
    handled.message = addresses[{by, name, ticket}] * 1000 + message(name) * 100 + ticket;
    handled.kind = message(name);
    records.handled.push_back(handled);
  }
  void carries_out(std::int64_t at, std::uint64_t duration, std::uint64_t by, msg::Ticket ticket) {
    records.carried.push_back({1, at, duration, by, ticket, 1});
  }
  /// A lane is handed an operation, and begins with it at once.
  void carries(std::int64_t at, std::uint64_t handling, std::uint64_t operation,
               msg::Ticket ticket) {
    handles(at, handling, lane, "carry_out", ticket);
    carries_out(at + 1, operation, lane, ticket);
  }
  void is_destroyed(std::int64_t called, std::int64_t taken) {
    sends(called, 0, the_context, "submit", 0, 1);
    takes(taken, true);
  }
  /// Whose operation it was, or 0 for a caller.
  void is_lost(std::int64_t at, std::uint64_t by = 0, msg::Ticket ticket = 0) {
    records.lost.push_back({1, at, by, ticket, true});
  }
  void finds_lost(std::int64_t at, std::uint64_t by) {
    records.lost.push_back({1, at, by, 0, false});
  }
  void takes(std::int64_t at, bool ends = false) {
    calls[{1, at}] = made.size();
    made.emplace_back().ends = ends;
  }
  /// "operation 7", "read", "call 0", ...: in their order.
  std::vector<std::string> order() {
    std::ranges::stable_sort(records.sent, {}, [](const auto& s) { return s.record.at; });
    std::ranges::stable_sort(records.handled, {}, &recording::Handled::begin);
    std::vector<std::string> names;
    for (const auto& turn :
         replay::order_of(records, trace::sent_of_handled(records), roles, calls, made)) {
      constexpr const char* kinds[] = {"call", "", "operation", "end", "rejection", "going"};
      const bool of_call = turn.kind == Turn::Kind::call || turn.kind == Turn::Kind::going;
      const auto number = of_call ? turn.call : turn.ticket;
      names.push_back(
          (turn.kind == Turn::Kind::message ? turn.message : kinds[static_cast<int>(turn.kind)]) +
          " " + std::to_string(number));
    }
    return names;
  }
  bool comes_before(const std::string& one, const std::string& other) {
    const auto all = order();
    const auto first = std::ranges::find(all, one), second = std::ranges::find(all, other);
    BOOST_TEST((first != all.end() && second != all.end()),
               one << " or " << other << " is missing");
    return first < second;
  }

  trace::Records records;
  std::map<replay::ContextAndActor, replay::Role> roles;
  std::map<replay::ContextAndTime, std::size_t> calls;
  std::vector<replay::Call> made;
  std::map<std::tuple<std::uint64_t, std::string, msg::Ticket>, std::uint64_t> addresses;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(order)

BOOST_AUTO_TEST_CASE(what_must_come_before_does_and_a_circle_ends) {
  replay::Before before;
  const auto a = before.add({1, 0}), b = before.add({2, 0}), c = before.add({3, 0});
  BOOST_TEST((before.sorted() == std::vector{a, b, c}));
  before.put(c, a);
  BOOST_TEST((before.sorted() == std::vector{b, c, a}));
  before.put(a, c);
  BOOST_TEST((before.sorted() == std::vector{b, a, c}));
}

BOOST_AUTO_TEST_CASE(what_was_told_by_who_came_later_is_heard_later_still) {
  // The lane came to a read, was kept waiting, and found that the tensor's actor had answered.
  Made recording;
  recording.sends(1, the_context, lane, "carry_out", 7, 1);
  recording.carries(2, 90, 40, 7);
  recording.sends(41, lane, tensor, "tensor_answered", 7);
  recording.handles(70, 1, tensor, "tensor_answered", 7);
  recording.records.rejected.push_back({1, 60, tensor, 7});
  BOOST_TEST(recording.comes_before("rejection 7", "operation 7"));
  BOOST_TEST(recording.comes_before("operation 7", "tensor_answered 7"));
}

BOOST_AUTO_TEST_CASE(a_lane_that_asked_did_so_before_the_other_showed_how_far_it_is) {
  Made recording;
  recording.carries(1, 50, 8, 5);  // and is kept waiting before it shows that
  recording.handles(20, 20, other_lane, "carry_out", 6);
  recording.sends(30, other_lane, lane, "await_turn").footprint.turn = 3;
  recording.handles(60, 1, lane, "await_turn");
  BOOST_TEST(recording.comes_before("carry_out 0", "end 5"));
  const auto all = recording.order();
  BOOST_TEST((std::ranges::find(all, "await_turn " + std::to_string(replay::number_of_question(
                                                         3, 1))) != all.end()));
  const auto asked = std::ranges::find(all, "end 5") - std::ranges::find(all, "operation 5");
  BOOST_TEST(asked == 2);  // the other lane's message is between them
}

BOOST_AUTO_TEST_CASE(a_lane_that_did_not_ask_had_seen_how_far_the_other_is) {
  Made recording;
  recording.sends(1, the_context, other_lane, "carry_out", 7, 2).footprint.turn = 4;
  recording.records.sent.back().record.footprint.lane = 1;
  recording.handles(5, 10, other_lane, "carry_out", 7);
  recording.carries_out(6, 8, other_lane, 7);
  recording.sends(2, the_context, lane, "carry_out", 8, 2).footprint.waits = {1, 4};
  recording.handles(10, 20, lane, "carry_out", 8);  // and looks when the other is done
  recording.carries_out(25, 3, lane, 8);
  BOOST_TEST(recording.comes_before("end 7", "carry_out 8"));
}

BOOST_AUTO_TEST_CASE(what_lanes_tell_is_known_by_who_is_so_far) {
  const msg::reached one{{{1, 5}, {}}}, other{{{2, 5}, {}}};
  BOOST_TEST(replay::ticket_of(&one) == replay::number_of_question(5, 1));
  BOOST_TEST(replay::ticket_of(&one) != replay::ticket_of(&other));
}

BOOST_AUTO_TEST_CASE(what_was_taken_while_a_device_failed_was_taken_before_it_was_lost) {
  Made recording;
  recording.sends(1, the_context, lane, "carry_out", 7, 2);
  recording.carries(2, 50, 40, 7);
  recording.sends(10, lane, the_context, "operation_failed", 7).about.error =
      "7\tcontext_lost\twrite\t\t\tran\tgone";
  recording.handles(12, 1, the_context, "operation_failed", 7);
  recording.is_lost(34, lane, 7);
  recording.takes(20);
  recording.sends(21, the_context, other_lane, "carry_out", 8, 2);
  recording.sends(35, lane, the_context, "actor_failed");
  recording.handles(36, 1, the_context, "actor_failed");
  BOOST_TEST(recording.comes_before("call 0", "operation 7"));
  BOOST_TEST(recording.comes_before("operation 7", "actor_failed 0"));
}

BOOST_AUTO_TEST_CASE(a_device_that_failed_when_the_context_had_gone_does_so_again) {
  Made recording;
  recording.carries(2, 50, 40, 7);
  recording.is_lost(19);
  recording.is_destroyed(20, 22);
  recording.sends(30, lane, tensor, "tensor_became", 7).about.error =
      "7\tcontext_lost\twrite\t\t\tran\tgone";
  BOOST_TEST(recording.comes_before("carry_out 0", "call 0"));
  BOOST_TEST(recording.comes_before("call 0", "operation 7"));
}

BOOST_AUTO_TEST_CASE(what_found_that_the_context_is_lost_comes_after_the_loss) {
  Made recording;
  recording.carries(2, 9, 5, 7);
  recording.handles(20, 9, lane, "end_lease");
  recording.finds_lost(28, lane);
  recording.is_lost(29);  // noted after the lane had seen it
  recording.is_destroyed(30, 40);
  BOOST_TEST(recording.comes_before("call 0", "end_lease 0"));
  BOOST_TEST(recording.comes_before("carry_out 0", "call 0"));
}

BOOST_AUTO_TEST_CASE(what_looked_and_went_on_did_so_before_the_loss) {
  // The lane looked, and was kept waiting before it began.
  Made recording;
  recording.is_lost(10);
  recording.is_destroyed(12, 14);
  recording.handles(20, 9, lane, "carry_out", 7);
  recording.carries_out(25, 3, lane, 7);
  BOOST_TEST(recording.comes_before("carry_out 0", "call 0"));
  BOOST_TEST(recording.comes_before("call 0", "going 0"));
}

BOOST_AUTO_TEST_CASE(what_failed_after_the_call_that_destroys_is_not_what_ended_the_context) {
  // And the context's actor has not come to that call.
  Made recording;
  recording.carries(2, 50, 40, 7);
  recording.is_lost(10);
  recording.sends(20, lane, the_context, "operation_failed", 7).about.error =
      "7\tcontext_lost\twrite\t\t\tran\tgone";
  recording.is_destroyed(11, 60);
  BOOST_TEST(recording.comes_before("call 0", "operation 7"));
  BOOST_TEST(recording.comes_before("operation 7", "end 7"));
}

BOOST_AUTO_TEST_CASE(a_read_that_went_with_its_context_is_claimed_after_that) {
  Made recording;
  recording.sends(1, the_context, lane, "carry_out", 7, 1);
  recording.carries(2, 50, 40, 7);
  recording.is_lost(10);
  recording.is_destroyed(11, 20);
  BOOST_TEST(recording.comes_before("carry_out 7", "call 0"));
  BOOST_TEST(recording.comes_before("going 0", "operation 7"));
}

BOOST_AUTO_TEST_CASE(what_a_tensor_s_actor_did_it_did_before_its_context_went) {
  Made recording;
  recording.is_lost(10);
  recording.is_destroyed(11, 20);
  recording.sends(5, the_context, tensor, "destroy_tensor");
  recording.handles(21, 3, tensor, "destroy_tensor");
  recording.records.rejected.push_back({1, 22, tensor, 7});
  BOOST_TEST(recording.comes_before("rejection 7", "going 0"));
}

BOOST_AUTO_TEST_CASE(operations_on_one_tensor_are_in_the_order_of_their_tickets) {
  Made recording;
  recording.sends(1, the_context, lane, "carry_out", 7, 2).footprint.writes = {3};
  recording.sends(1, the_context, other_lane, "carry_out", 8, 1).footprint.reads = {3};
  recording.carries(10, 50, 40, 7);
  recording.handles(5, 20, other_lane, "carry_out", 8);
  recording.carries_out(6, 10, other_lane, 8);
  BOOST_TEST(recording.comes_before("end 7", "operation 8"));
}

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

/// What lanes handled, in their order.
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
    world.observe(recording.ear("", 2));
    ContextOptions options;
    options.lanes = 2;
    auto context = world.settle(world.runtime().create_context(options)).value();
    const auto graph =
        world.settle(detail::submit_build(context, stress::symbolic_graph("sum", 2), {"sum"}))
            .value();
    std::vector<Tensor> tensors;
    for (int i = 0; i < 6; ++i)
      tensors.push_back(world.settle(context.create_tensor(stress::value_descriptor)).value());
    // What is written on two lanes one of them waits for; and goes on with other things.
    for (std::uint64_t i = 0; i < 2; ++i) context.write_tensor(tensors[i], std::vector{i});
    context.dispatch(graph, {{"in0", tensors[0]}, {"in1", tensors[1]}}, {{"out", tensors[2]}});
    for (int again = 0; again < 2; ++again) {
      for (std::uint64_t i = 3; i < 6; ++i) context.write_tensor(tensors[i], std::vector{i});
      world.run();
    }
    context.destroy();
    world.run();
  }
  const auto records = trace::read_records(recording.file());
  BOOST_TEST(!replay::script_of(records).unheard.empty());
  const auto replayed = replay::replay(recording.file());
  for (const auto& difference : replayed.differences) BOOST_ERROR(difference);
  BOOST_TEST(trace::read_records(replayed.recording).carried.size() == records.carried.size());
}

BOOST_AUTO_TEST_SUITE_END()
