// The choice of the lane for an operation. No actor runs here: a test says what lanes have done.
#include "actors/lane_order.hpp"

#include <boost/test/unit_test.hpp>
#include <memory>
#include <vector>

using namespace polychron;
using actors::LaneOrder;
using actors::Uses;

namespace {

class Lanes {
 public:
  explicit Lanes(std::size_t count)
      : environment_(std::make_shared<actors::Environment>("", count, nullptr)),
        order_(environment_),
        given_(count) {}

  std::uint32_t write(Uses& tensor, std::size_t bytes = 16) {
    return give(order_.stamp_write<msg::op::Write>(tensor, bytes));
  }
  std::uint32_t read(Uses& tensor, std::size_t bytes = 16) {
    return give(order_.stamp_read<msg::op::Read>(tensor, bytes));
  }
  std::uint32_t dispatch(Uses& graph, const std::vector<Uses*>& in, Uses& out) {
    LaneOrder::Touched reads(in.begin(), in.end());
    reads.push_back(&graph);
    return give(order_.stamp<msg::op::Dispatch>(reads, {&out}));
  }
  /// All that it was given is done.
  void finish(std::uint32_t lane) {
    environment_->lanes[lane].done = given_[lane].weight;
    environment_->lanes[lane].done_below = given_[lane].turn + 1;
  }
  void finish() {
    for (std::uint32_t lane = 0; lane < given_.size(); ++lane) finish(lane);
  }
  /// Of the last operation.
  bool waits() const { return waits_; }

 private:
  struct Given {
    std::uint64_t weight = 0;
    msg::Ticket turn = 0;
  };
  std::uint32_t give(const msg::Stamp& stamp) {
    auto& given = given_[stamp.at.lane];
    given.weight += stamp.weight;
    given.turn = stamp.at.turn;
    waits_ = !stamp.waits.empty();
    return stamp.at.lane;
  }

  const std::shared_ptr<actors::Environment> environment_;
  LaneOrder order_;
  std::vector<Given> given_;
  bool waits_ = false;
};

/// A client's objects, and a call with all of them.
struct Client {
  Uses a, b, sum;
  /// The lane, if it was one for all of it; and nothing waited for another.
  int call(Lanes& lanes, Uses& graph) {
    const auto first = lanes.write(a);
    bool waits = lanes.waits(), one = lanes.write(b) == first;
    waits = waits || lanes.waits();
    one = lanes.dispatch(graph, {&a, &b}, sum) == first && one;
    waits = waits || lanes.waits();
    one = lanes.read(sum) == first && one;
    return one && !waits && !lanes.waits() ? static_cast<int>(first) : -1;
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(lane_order)

BOOST_AUTO_TEST_CASE(what_belongs_to_one_request_stays_on_one_lane) {
  Lanes lanes(3);
  Uses graph;
  Client client;
  for (int i = 0; i < 50; ++i) {
    BOOST_TEST(client.call(lanes, graph) >= 0, "call " << i);
    if (i % 3 == 0) lanes.finish();
  }
}

BOOST_AUTO_TEST_CASE(independent_requests_go_to_different_lanes) {
  Lanes lanes(3);
  Uses graph;
  std::vector<Client> clients(3);
  std::vector<int> used;
  for (auto& client : clients) used.push_back(client.call(lanes, graph));
  BOOST_TEST(used == (std::vector{0, 1, 2}), boost::test_tools::per_element());
}

// Also when all lanes are free: each client's messages stay out of the others' way.
BOOST_AUTO_TEST_CASE(a_request_goes_to_the_lane_that_had_its_tensors_last) {
  Lanes lanes(2);
  Uses graph;
  Client first, second;
  BOOST_TEST(first.call(lanes, graph) == 0);
  BOOST_TEST(second.call(lanes, graph) == 1);
  for (int i = 0; i < 5; ++i) {
    lanes.finish();
    BOOST_TEST(second.call(lanes, graph) == 1);
    lanes.finish();
    BOOST_TEST(first.call(lanes, graph) == 0);
  }
}

BOOST_AUTO_TEST_CASE(but_not_behind_a_run_while_another_lane_is_free) {
  Lanes lanes(2);
  Uses graph;
  Client first, second, third;
  first.call(lanes, graph);
  second.call(lanes, graph);
  lanes.finish(0);
  BOOST_TEST(third.call(lanes, graph) == 0);
  lanes.finish(1);
  BOOST_TEST(first.call(lanes, graph) == 1);  // lane 0 has the third's run
}

BOOST_AUTO_TEST_CASE(what_is_done_in_passing_is_shared_when_it_is_much) {
  Lanes lanes(2);
  std::vector<Uses> tensors(100);
  int on_second = 0;
  for (auto& tensor : tensors) on_second += lanes.write(tensor) == 1 ? 1 : 0;
  BOOST_TEST(on_second > 40);
  BOOST_TEST(on_second < 60);
  lanes.finish();
  on_second = 0;
  for (auto& tensor : tensors) on_second += lanes.read(tensor) == 1 ? 1 : 0;
  BOOST_TEST(on_second > 40);
  BOOST_TEST(on_second < 60);
}

BOOST_AUTO_TEST_CASE(large_copies_are_side_by_side) {
  Lanes lanes(2);
  std::vector<Uses> tensors(4);
  for (auto& tensor : tensors) lanes.write(tensor, 1U << 30U);
  lanes.finish();
  std::vector<std::uint32_t> used;
  for (auto& tensor : tensors) used.push_back(lanes.read(tensor, 1U << 30U));
  BOOST_TEST(used == (std::vector<std::uint32_t>{0, 1, 0, 1}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
