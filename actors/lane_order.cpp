#include "actors/lane_order.hpp"

namespace polychron::actors {

msg::Stamp LaneOrder::stamp(const Touched& reads, const Touched& writes) {
  msg::Stamp stamp;
  stamp.ticket = ++last_ticket_;
  if (issued_.size() == 1) {
    stamp.at = {0, ++issued_[0]};
    return stamp;
  }
  boost::container::small_vector<Uses::Use, 8> pending;
  const auto depend = [&](const Uses::Use& use) {
    if (!done(use)) pending.push_back(use);
  };
  for (const auto* uses : reads) depend(uses->last_write);
  for (const auto* uses : writes) {
    depend(uses->last_write);
    for (const auto& use : uses->reads_since) depend(use);
  }
  const auto latest =
      std::max_element(pending.begin(), pending.end(),
                       [](const auto& a, const auto& b) { return a.ticket < b.ticket; });
  const auto lane = latest == pending.end() ? least_loaded() : latest->at.lane;
  stamp.at = {lane, ++issued_[lane]};
  for (const auto& use : pending)
    if (use.at.lane != lane) stamp.waits.push_back(use.at);

  const Uses::Use mine{stamp.ticket, stamp.at};
  for (auto* uses : reads) {
    std::erase_if(uses->reads_since, [this](const auto& use) { return done(use); });
    uses->reads_since.push_back(mine);
  }
  for (auto* uses : writes) {
    uses->last_write = mine;
    uses->reads_since.clear();
  }
  return stamp;
}

std::uint32_t LaneOrder::least_loaded() const {
  const auto load = [this](std::size_t lane) {
    return issued_[lane] + 1 - environment_->lanes[lane].done_below.load(std::memory_order_acquire);
  };
  std::size_t best = 0;
  for (std::size_t lane = 1; lane < issued_.size(); ++lane)
    if (load(lane) < load(best)) best = lane;
  return static_cast<std::uint32_t>(best);
}

}  // namespace polychron::actors
