// The order of a lane: arrivals, other lanes, leases. What the operations do is in
// device_operations.
#include "actors/device.hpp"

#include <cassert>

namespace polychron::actors {

DeviceState::DeviceState(device_actor::pointer self)
    : State(self),
      timeline_(
          [this](const msg::LaneTurn& other) {
            return environment().lanes[other.lane].done_below.load(std::memory_order_acquire) >
                   other.turn;
          },
          [this](const msg::LaneTurn& other) {
            tell(lanes_[other.lane], msg::await_turn{other.turn, lane_});
          }) {}

device_actor::behavior_type DeviceState::start(EnvironmentRef environment, std::uint32_t lane,
                                               caf::actor_addr context) {
  enter(std::move(environment), std::move(context));
  lane_ = lane;
  // CAF tries them in this order: the hot one comes first.
  return {
      [this](const msg::execute& m) { arrive(m); },
      [this](const msg::allocate& m) { arrive(m); },
      [this](const msg::write_bytes& m) { arrive(m); },
      [this](const msg::read_bytes& m) { arrive(m); },
      [this](const msg::query_tag& m) { arrive(m); },
      [this](const msg::lend_memory& m) { arrive(m); },
      [this](const msg::release& m) { arrive(m); },
      [this](const msg::load& m) { arrive(m); },
      [this](const msg::execute_batch& m) { arrive(m); },
      [this](const msg::fail& m) { arrive(m); },
      [this](const msg::release_plan& m) { arrive(m); },
      [this](const msg::fence& m) { arrive(m); },
      [this](const msg::await_turn& m) { await_turn(m); },
      [this](const msg::reached& m) { reached(m); },
      [this](const msg::end_lease& m) { end_lease(m); },
      [this](const msg::survey_lane& m) { survey(m); },
      [this](const msg::meet& m) { meet(m); },
  };
}

template <class M>
DeviceState::Outcome DeviceState::run_one(const M& m) {
  auto& progress = environment().lanes[lane_];
  progress.begin(m);
  const auto outcome = carry_out(m);
  progress.end();
  return outcome;
}

template <class M>
void DeviceState::arrive(const M& m) {
  assert(m.stamp.at.lane == lane_);
  if (gone_) return;
  if (timeline_.may_start(m.stamp)) {
    if (run_one(m) == Outcome::goes_on) timeline_.keep_running(m, environment().now());
    timeline_.advance();
  } else {
    timeline_.keep(m, environment().now());
  }
  if (!timeline_.idle()) carry_out_ready();
  after_progress();
}

void DeviceState::carry_out_ready() {
  while (!gone_) {
    const auto* operation = timeline_.next();
    if (operation == nullptr) return;
    const auto turn = std::visit([](const auto& m) { return m.stamp.at.turn; }, *operation);
    const auto outcome = std::visit([this](const auto& m) { return run_one(m); }, *operation);
    if (outcome == Outcome::done) {
      const bool finished = timeline_.finish(turn);
      assert(finished);
      static_cast<void>(finished);
    }
  }
}

void DeviceState::after_progress() {
  environment().lanes[lane_].done_below.store(timeline_.done_below(), std::memory_order_release);
  if (awaited_.empty()) return;
  std::erase_if(awaited_, [this](const msg::await_turn& m) {
    if (!timeline_.done(m.turn)) return false;
    tell(lanes_[m.lane], msg::reached{lane_, m.turn});
    return true;
  });
}

void DeviceState::await_turn(const msg::await_turn& m) {
  assert(m.lane != lane_);
  awaited_.push_back(m);
  after_progress();
}

void DeviceState::reached(const msg::reached& m) {
  timeline_.reached({m.lane, m.turn});
  carry_out_ready();
  after_progress();
}

void DeviceState::end_lease(const msg::end_lease& m) {
  // Not there: it has not started yet, and will see that its lease has ended.
  if (!timeline_.finish(m.turn)) return;
  carry_out_ready();
  after_progress();
}

void DeviceState::survey(const msg::survey_lane& m) {
  for (auto& operation : timeline_.pending()) (*m.survey)->add(std::move(operation));
}

void DeviceState::meet(const msg::meet& m) { lanes_ = *m.lanes; }

}  // namespace polychron::actors
