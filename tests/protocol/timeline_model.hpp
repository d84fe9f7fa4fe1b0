// The required order of a lane, by looking at everything each time: the model that Timeline is
// compared with. A simulated device drives both.
#pragma once

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "actors/timeline.hpp"

namespace polychron::testing {

namespace op = msg::op;

inline msg::TensorRef make_tensor(msg::TensorId id) {
  auto slot = std::make_shared<msg::TensorSlot>();
  slot->id = id;
  return slot;
}
inline msg::GraphRef make_graph(msg::GraphId id) {
  auto slot = std::make_shared<msg::GraphSlot>();
  slot->id = id;
  return slot;
}

/// An operation of lane 0, which has this ticket too unless it says another.
inline msg::carry_out turn(msg::Ticket turn, msg::Operation operation,
                           std::vector<msg::Wait> waits = {}, msg::Ticket ticket = 0) {
  msg::Stamp stamp{ticket == 0 ? turn : ticket, {0, turn}, {}};
  stamp.waits.assign(waits.begin(), waits.end());
  return {std::move(stamp), std::move(operation), {}};
}

/// An operation as the model sees it.
struct Modelled {
  msg::Ticket turn = 0, ticket = 0;
  std::vector<std::pair<msg::Object, bool>> footprint;
  std::optional<msg::Ticket> fence;  ///< its `first`
  std::vector<msg::Wait> waits;      ///< not over yet
  std::string text;                  ///< how others name it in pending()
  bool arrived = false, admitted = false, running = false, done = false;

  bool touches(msg::Object object) const {
    return std::any_of(footprint.begin(), footprint.end(),
                       [&](const auto& touched) { return touched.first == object; });
  }
  bool meets(const Modelled& other) const {
    for (const auto& [mine, changes] : footprint)
      for (const auto& [its, changed] : other.footprint)
        if (mine == its && (changes || changed)) return true;
    return false;
  }
};

class TimelineModel {
 public:
  void add(const msg::carry_out& message) {
    Modelled modelled;
    modelled.turn = message.stamp.at.turn;
    modelled.ticket = message.stamp.ticket;
    modelled.waits.assign(message.stamp.waits.begin(), message.stamp.waits.end());
    modelled.text = std::string(msg::name_of(message.operation)) + " (ticket " +
                    std::to_string(modelled.ticket) + ") of " + msg::object_of(message.operation);
    msg::footprint_of(message.operation, [&](msg::Object object, bool changes) {
      modelled.footprint.emplace_back(object, changes);
    });
    if (const auto* const fence = std::get_if<op::Fence>(&message.operation))
      modelled.fence = fence->first;
    all_.emplace(modelled.turn, std::move(modelled));
  }
  Modelled& at(msg::Ticket turn) { return all_.at(turn); }
  const std::map<msg::Ticket, Modelled>& all() const { return all_; }

  /// The first turn that has not come.
  msg::Ticket next() const {
    msg::Ticket turn = 1;
    while (all_.contains(turn) && all_.at(turn).arrived) ++turn;
    return turn;
  }
  msg::Ticket done_below() const {
    msg::Ticket turn = 1;
    while (turn < next() && all_.at(turn).done) ++turn;
    return turn;
  }
  bool may_start(const Modelled& one) const {
    if (one.turn >= next() || one.running || one.done || !one.waits.empty()) return false;
    for (const auto& [turn, other] : all_) {
      if (turn >= one.turn) break;
      if (other.done) continue;
      if (one.fence && other.ticket >= *one.fence && !other.running) return false;
      if (one.meets(other)) return false;
    }
    return true;
  }
  std::optional<msg::Ticket> first_to_start() const {
    for (const auto& [turn, one] : all_)
      if (may_start(one)) return turn;
    return std::nullopt;
  }
  /// True if the lane has done its work on the object up to the turn.
  bool over(const msg::Wait& wait) const {
    if (wait.at.turn >= next()) return false;
    return std::all_of(all_.begin(), all_.end(), [&](const auto& entry) {
      return entry.first > wait.at.turn || entry.second.done || !entry.second.touches(wait.object);
    });
  }

 private:
  std::map<msg::Ticket, Modelled> all_;
};

/// A random program of one lane: operations on a few objects, some of which wait for lane 1.
struct LaneProgram {
  std::vector<msg::TensorRef> tensors{make_tensor(1), make_tensor(2), make_tensor(3)};
  std::vector<msg::GraphRef> graphs{make_graph(1), make_graph(2)};
  std::vector<msg::carry_out> operations;

  LaneProgram(std::mt19937_64& random, std::size_t length) {
    msg::Ticket ticket = 0;
    for (msg::Ticket t = 1; t <= length; ++t) {
      ticket += 1 + random() % 3;
      std::vector<msg::Wait> waits;
      for (std::size_t i = random() % 8 == 0 ? 1 + random() % 2 : 0; i > 0; --i)
        waits.push_back({{1, 1 + random() % 4}, tensors[i].get()});
      operations.push_back(turn(t, operation(random, ticket), std::move(waits), ticket));
    }
  }
  msg::Object object(std::mt19937_64& random) const {
    const auto at = random() % (tensors.size() + graphs.size());
    if (at < tensors.size()) return tensors[at].get();
    return graphs[at - tensors.size()].get();
  }

 private:
  msg::Operation operation(std::mt19937_64& random, msg::Ticket ticket) const {
    const auto& tensor = tensors[random() % tensors.size()];
    const auto& other = tensors[random() % tensors.size()];
    const auto& graph = graphs[random() % graphs.size()];
    switch (random() % 14) {
      case 0:
        return op::Allocate{tensor, nullptr};
      case 1:
        return op::Write{tensor, nullptr, "", {}};
      case 2:
        return op::Lend{tensor, nullptr};
      case 3:
        return op::Release{tensor};
      case 4:
        return op::Load{graph};
      case 5:
        return op::Unload{graph};
      case 6:
        return op::Query{tensor};
      case 7:
        return op::Compute{graph, nullptr, "", {}};
      case 8:
        return op::Fail{{tensor}, Error(ErrorKind::internal, "")};
      case 9:
        return op::Fence{ticket, ticket - random() % std::min<msg::Ticket>(ticket, 12)};
      case 10:
      case 11:
        if (other == tensor) return op::Dispatch{graph, {}, {tensor}, "", {}};
        return op::Dispatch{graph, {other, other}, {tensor}, "", {}};
      default:
        return op::Read{tensor, nullptr};
    }
  }
};

}  // namespace polychron::testing
