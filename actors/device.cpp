// The device actor: arrivals, other lanes, leases. The operations themselves are in
// device_operations.cpp and device_graphs.cpp.
#include "actors/device.hpp"

#include <algorithm>

#include "kernels/guarded.hpp"

namespace polychron::actors {

using kernels::guarded_execution;

DeviceState::DeviceState(Body& self)
    : Member(self),
      timeline_(
          [this](const msg::Wait& wait) {
            auto& lane = environment().lanes[wait.at.lane];
            const auto look = [&] { return lane.sees_done(wait.at.turn); };
            return environment().gate.observer() == nullptr ? look() : lane.in_order(look);
          },
          [this](const msg::Wait& wait) {
            tell(lanes_[wait.at.lane], msg::await_turn{wait, lane_});
          }) {}

void DeviceState::start(std::uint32_t lane) {
  lane_ = lane;
  self().set_next_duration([this] { return next_duration(); });
}

DeviceState::~DeviceState() {
  for (const auto& each : submitted_) {
    try {
      // planted: a lane ends while the device is at work
      environment().backend->finish(*each.graph->instances[lane_].plan);
    } catch (...) {  // nobody is left to hear of it
    }
    each.lane->revoke();
  }
}

void DeviceState::receive(const msg::meet& m) { lanes_ = m.lanes; }

DeviceState::Course DeviceState::run_one(msg::carry_out& m) {
  const auto ticket = m.stamp.ticket;
  in_hand_ = &m;
  auto& progress = environment().lanes[lane_];
  progress.begin(ticket, m.operation.index());
  auto* const observer = environment().gate.observer();
  if (observer != nullptr) [[unlikely]]
    observer->has_turn(self().id(), m);
  const auto course = std::visit([&](const auto& o) { return carry_out(o, ticket); }, m.operation);
  if (observer != nullptr) [[unlikely]]
    observer->carried_out(self().id(), ticket, course == Course::submitted);
  if (course != Course::submitted) end_one(m);
  in_hand_ = nullptr;
  return course;
}

void DeviceState::end_one(const msg::carry_out& m) {
  auto& progress = environment().lanes[lane_];
  // planted: what a lane has done stays its load
  progress.end(m.stamp.weight);
  if (!submitted_.empty()) progress.begin(submitted_.front().ticket, submitted_.front().kind);
  leave();
}

bool DeviceState::finds_busy(const msg::carry_out& m) const {
  if (submitted_.empty()) return false;
  return std::visit(
      [&](const auto& o) {
        if constexpr (requires {
                        o.graph;
                        o.conditions;
                      })
          // planted: a graph that the device is at runs again
          return o.graph->instances[lane_].busy;
        else
          return false;
      },
      m.operation);
}

void DeviceState::leave() {
  // An export gives its permit back once granted: a lease is not an operation in flight.
  in_hand_->permit.give_back_in_passing(environment().admission->anybody_waits() && !has_mail());
}

void DeviceState::receive(msg::carry_out& m) {
  ensure(m.stamp.at.lane == lane_, "an operation reaches its own lane");
  const auto turn = m.stamp.at.turn;
  const bool starts = timeline_.may_start(m) && !finds_busy(m);
  // After the looks at other lanes: the logical time of this step is that of the last look, and an
  // operation that begins has to come before the loss.
  // planted: what arrives at a lane is carried out after the end
  if (finds_lost()) return;
  if (starts) {
    if (const auto course = run_one(m); course == Course::over)
      timeline_.advance();
    else
      timeline_.keep_running(std::move(m), environment().now(), course == Course::granted);
  } else {
    ensure(turn >= timeline_.done_below(), "a turn arrives once");
    timeline_.keep(std::move(m), environment().now());
  }
  if (!timeline_.idle()) carry_out_ready();
  publish();
}

void DeviceState::carry_out_ready() {
  while (auto* const operation = timeline_.next()) {
    if (finds_lost()) return;
    const auto turn = operation->stamp.at.turn;
    if (finds_busy(*operation))
      held_.push_back(turn);
    else
      carry_on(*operation);
  }
}

void DeviceState::carry_on(msg::carry_out& operation) {
  const auto turn = operation.stamp.at.turn;
  const auto course = run_one(operation);
  if (course == Course::over) timeline_.finish(turn);
  if (course == Course::granted) timeline_.granted(turn);
}

void DeviceState::receive(const msg::executed& m) {
  if (finds_lost()) return;  // the end of this actor waits for the device
  const auto found = std::ranges::find(submitted_, m.turn, &Submitted::turn);
  ensure(found != submitted_.end(), "an execution ends once");
  auto* const operation = timeline_.running(m.turn);
  ensure(operation != nullptr, "an execution that ends is under way");
  const auto submitted = std::move(*found);
  submitted_.erase(found);
  submitted.lane->revoke();
  auto& instance = submitted.graph->instances[lane_];
  instance.busy = false;
  in_hand_ = operation;
  const auto status =
      guarded_execution([&] { return environment().backend->finish(*instance.plan); });
  conclude(std::get<msg::op::Dispatch>(operation->operation), status, m.ticket);
  // planted: the end of an execution is not counted
  end_one(*operation);
  in_hand_ = nullptr;
  timeline_.finish(m.turn);
  // planted: a dispatch that was held is forgotten
  carry_out_held();
  carry_out_ready();
  publish();
}

void DeviceState::carry_out_held() {
  const auto is_free = [&](msg::Ticket turn) { return !finds_busy(*timeline_.running(turn)); };
  while (!finds_lost()) {
    const auto next = std::ranges::find_if(held_, is_free);
    if (next == held_.end()) return;
    auto* const operation = timeline_.running(*next);
    held_.erase(next);
    carry_on(*operation);
  }
}

void DeviceState::publish() {
  auto& progress = environment().lanes[lane_];
  // planted: a lane says done too early
  const auto publish = [&] { progress.publish(timeline_.done_below()); };
  environment().gate.observer() == nullptr ? publish() : progress.in_order(publish);
  rest();
}

void DeviceState::rest() {
  // A caller that waits for a permit may hold up the operation that this lane waits for. So an idle
  // lane hands out even a few permits. A lane with mail gets here again after the next message.
  // planted: an idle lane wakes nobody
  if (environment().admission->anybody_waits() && !has_mail()) environment().admission->settle();
}

namespace {

struct DurationOf {
  std::uint32_t lane;

  msg::DurationClass operator()(const msg::TensorSlot& slot) const {
    if (slot.bytes <= msg::largest_tiny) return msg::DurationClass::tiny;
    return slot.bytes <= msg::largest_short ? msg::DurationClass::short_
                                            : msg::DurationClass::unknown;
  }
  msg::DurationClass operator()(const msg::GraphSlot& slot) const {
    return slot.instances[lane].duration;
  }
  msg::DurationClass operator()(const msg::op::Query&) const { return msg::DurationClass::tiny; }
  msg::DurationClass operator()(const msg::op::Fail&) const { return msg::DurationClass::tiny; }
  msg::DurationClass operator()(const msg::op::Fence&) const { return msg::DurationClass::tiny; }
  msg::DurationClass operator()(const msg::op::Load&) const { return msg::DurationClass::tiny; }
  msg::DurationClass operator()(const msg::op::Unload&) const {
    return msg::DurationClass::unknown;
  }
  template <class O>
  msg::DurationClass operator()(const O& operation) const {
    if constexpr (requires { operation.graph; })
      return (*this)(*operation.graph);
    else
      return (*this)(*operation.tensor);
  }
};

}  // namespace

msg::DurationClass DeviceState::next_duration() {
  // An operation that waits here might run after the next one, however long that takes.
  if (!timeline_.idle() || lost()) return msg::DurationClass::unknown;
  auto& mailbox = self().mailbox();
  mailbox.fetch();
  const auto* const next = mailbox.normal().first();
  if (next == nullptr || !mailbox.urgent().empty()) return msg::DurationClass::unknown;
  const auto& content = next->content();
  if (!content.match_elements<msg::carry_out>()) return msg::DurationClass::unknown;
  const auto& message = content.get_as<msg::carry_out>(0);
  return timeline_.may_start(message) ? std::visit(DurationOf{lane_}, message.operation)
                                      : msg::DurationClass::unknown;
}

bool DeviceState::has_mail() const { return !self().mailbox().empty(); }

void DeviceState::receive(const msg::await_turn& m) {
  ensure(m.lane != lane_ && m.wait.at.lane == lane_, "lanes wait for others");
  timeline_.when_done(m.wait, [this, m] { tell(lanes_[m.lane], msg::reached{m.wait}); });
  rest();
}

void DeviceState::receive(const msg::reached& m) {
  timeline_.reached(m.wait);
  carry_out_ready();
  publish();
}

void DeviceState::receive(const msg::end_lease& m) {
  if (finds_lost()) return;
  auto* const lease = timeline_.running(m.turn);
  if (lease == nullptr) {
    // The lease has not begun and will see this entry, or it was refused and never looks.
    // planted: a lease's early end is lost
    if (!timeline_.done(m.turn)) ended_early_.emplace(m.turn, m.revoked);
    return rest();
  }
  const auto& lend = std::get<msg::op::Lend>(lease->operation);
  take_back(*lend.tensor, *lend.lease, m.revoked, lease->stamp.ticket);
  timeline_.finish(m.turn);
  carry_out_ready();
  publish();
}

void DeviceState::receive(const msg::survey_lane& m) {
  if (lost()) return;  // some queued operations were dropped
  auto pending = timeline_.pending();
  // Operations in the mailbox have arrived too, and wait for this lane.
  auto& mailbox = self().mailbox();
  mailbox.fetch();
  mailbox.normal().for_each([&](const caf::mailbox_element& element) {
    const auto& content = element.content();
    if (!content.match_elements<msg::carry_out>()) return;
    const auto& waiting = content.get_as<msg::carry_out>(0);
    pending.push_back(timeline_.describe(waiting, "its turn on lane " + std::to_string(lane_),
                                         environment().now()));
  });
  m.survey->answer(std::move(pending));
  rest();
}

}  // namespace polychron::actors
