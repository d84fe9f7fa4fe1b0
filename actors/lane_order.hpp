// Stamping: chooses the lane of an operation, and its waits for other lanes.
//
// Dependent work keeps its order: an operation goes to the lane of the latest unfinished operation
// that it depends on, and waits for the others. Independent work goes to the least loaded lane. If
// loads are close, it goes to the lane that last used its tensors, so that a request stays on one
// lane. With one lane this costs one comparison. The state for each tensor is bounded by the number
// of lanes.
#pragma once

#include <algorithm>
#include <vector>

#include "actors/environment.hpp"
#include "messages/operation.hpp"
#include "messages/stamp.hpp"

namespace polychron::actors {

/// The operations on a tensor or graph for which later ones may have to wait. The context keeps it.
struct Uses {
  struct Use {
    msg::Ticket ticket = 0;
    msg::LaneTurn at;
  };
  msg::Object object = nullptr;
  Use last_write;
  /// The latest read of each lane since the write: a lane keeps the order of its own operations.
  boost::container::small_vector<Use, 1> reads_since;
};

class LaneOrder {
 public:
  explicit LaneOrder(EnvironmentRef environment)
      : environment_(std::move(environment)),
        issued_(environment_->lanes.size(), 0),
        load_(environment_->lanes.size(), 0) {}

  using Touched = boost::container::small_vector<Uses*, 8>;

  /// Issues the next ticket, for an operation O with these reads and writes. `bytes` is the
  /// tensor's size.
  template <class O>
  msg::Stamp stamp(const Touched& reads, const Touched& writes, std::size_t bytes = 0) {
    return weighed(reads, writes, msg::weight_of<O>(bytes));
  }
  template <class O>
  msg::Stamp stamp_read(Uses& uses, std::size_t bytes = 0) {
    return stamp<O>({&uses}, {}, bytes);
  }
  template <class O>
  msg::Stamp stamp_write(Uses& uses, std::size_t bytes = 0) {
    return stamp<O>({}, {&uses}, bytes);
  }
  /// Issues the next ticket on exactly this lane, for a fence.
  msg::Stamp stamp_on(std::uint32_t lane) {
    constexpr auto weight = msg::weight_of<msg::op::Fence>();
    load_[lane] += weight;
    return {++last_ticket_, {lane, ++issued_[lane]}, {}, weight};
  }
  msg::Ticket last_ticket() const { return last_ticket_; }

 private:
  bool done(const Uses::Use& use) const {
    return use.ticket == 0 || environment_->lanes[use.at.lane].sees_done(use.at.turn);
  }
  msg::Stamp weighed(const Touched& reads, const Touched& writes, std::uint64_t weight);
  /// Chooses among the lanes that are little more loaded than the least loaded one: the lane of
  /// `last`, or else the first.
  std::uint32_t choose(const Uses::Use& last) const;
  const msg::Placed* prescribed(msg::Ticket ticket) const;

  EnvironmentRef environment_;
  std::vector<msg::Ticket> issued_;
  std::vector<std::uint64_t> load_;  ///< the weight of these
  msg::Ticket last_ticket_ = 0;
};

}  // namespace polychron::actors
