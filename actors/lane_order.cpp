#include "actors/lane_order.hpp"

namespace polychron::actors {

msg::Stamp LaneOrder::weighed(const Touched& reads, const Touched& writes, std::uint64_t weight) {
  msg::Stamp stamp;
  stamp.ticket = ++last_ticket_;
  stamp.weight = weight;
  if (issued_.size() == 1) {
    stamp.at = {0, ++issued_[0]};
    return stamp;
  }
  struct Pending {
    Uses::Use use;
    msg::Object object;
  };
  boost::container::small_vector<Pending, 8> pending;
  const auto* const placed = environment_->placement ? prescribed(stamp.ticket) : nullptr;
  const auto must_wait = [&](const Uses::Use& use) {
    if (!done(use)) return true;
    return placed != nullptr &&
           std::find(placed->waits.begin(), placed->waits.end(), use.at) != placed->waits.end();
  };
  Uses::Use last;
  const auto depend = [&](const Uses::Use& use, msg::Object object) {
    if (use.ticket > last.ticket) last = use;
    if (must_wait(use)) pending.push_back({use, object});
  };
  for (const auto* uses : reads) depend(uses->last_write, uses->object);
  for (const auto* uses : writes) {
    depend(uses->last_write, uses->object);
    // planted: readers of other lanes are not waited for
    for (const auto& use : uses->reads_since) depend(use, uses->object);
  }
  const auto latest =
      std::max_element(pending.begin(), pending.end(),
                       [](const auto& a, const auto& b) { return a.use.ticket < b.use.ticket; });
  auto lane = latest == pending.end() ? choose(last) : latest->use.at.lane;
  if (placed != nullptr) lane = placed->lane;
  stamp.at = {lane, ++issued_[lane]};
  load_[lane] += weight;
  for (const auto& [use, object] : pending) {
    if (use.at.lane == lane) continue;
    const auto same = std::find_if(stamp.waits.begin(), stamp.waits.end(),
                                   [other = use.at.lane, object = object](const auto& wait) {
                                     return wait.at.lane == other && wait.object == object;
                                   });
    if (same == stamp.waits.end())
      // planted: only one other lane is waited for
      stamp.waits.push_back({use.at, object});
    else
      same->at.turn = std::max(same->at.turn, use.at.turn);
  }

  const Uses::Use mine{stamp.ticket, stamp.at};
  for (auto* uses : reads) {
    const auto same = std::find_if(uses->reads_since.begin(), uses->reads_since.end(),
                                   [&](const auto& use) { return use.at.lane == lane; });
    if (same == uses->reads_since.end())
      uses->reads_since.push_back(mine);
    else
      // planted: a lane forgets that it was read since
      *same = mine;
  }
  for (auto* uses : writes) {
    uses->last_write = mine;
    uses->reads_since.clear();
  }
  return stamp;
}

const msg::Placed* LaneOrder::prescribed(msg::Ticket ticket) const {
  const auto* const placed = environment_->placement(ticket);
  return placed != nullptr && placed->lane < issued_.size() ? placed : nullptr;
}

std::uint32_t LaneOrder::choose(const Uses::Use& last) const {
  const auto load = [this](std::size_t lane) {
    return load_[lane] - environment_->lanes[lane].done.load(std::memory_order_relaxed);
  };
  auto least = load(0);
  for (std::size_t lane = 1; lane < load_.size(); ++lane) least = std::min(least, load(lane));
  // Small operations do not part dependent work: the lanes would wait for each other, and each
  // would have to be woken.
  const auto may_have_it = [&](std::size_t lane) {
    constexpr auto hardly_more = msg::weight_of_run / 2;
    return load(lane) < least + hardly_more;
  };
  if (last.ticket != 0 && may_have_it(last.at.lane)) return last.at.lane;
  std::uint32_t lane = 0;
  // Lanes make progress meanwhile; the loop takes one of them whatever their load is now.
  while (lane + 1 < load_.size() && !may_have_it(lane)) ++lane;
  return lane;
}

}  // namespace polychron::actors
