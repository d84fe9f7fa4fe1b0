// Stamping: which lane carries an operation out, and what it must wait for on other lanes.
//
// Dependent work keeps its order: an operation goes to the lane of the latest operation that it
// depends on and that may not be done yet, and waits for the others; independent work goes to the
// lane with the least to do, and if that says little to the lane that had its tensors last: so what
// belongs to one request stays on one lane. With one lane all this costs one comparison. What is
// remembered of a tensor is bounded by the number of lanes, whatever is in flight.
#pragma once

#include <algorithm>
#include <vector>

#include "actors/environment.hpp"
#include "messages/operation.hpp"
#include "messages/stamp.hpp"

namespace polychron::actors {

/// The operations on a tensor or graph that later ones may have to wait for. Kept by the context.
struct Uses {
  struct Use {
    msg::Ticket ticket = 0;
    msg::LaneTurn at;
  };
  msg::Object object = nullptr;
  Use last_write;
  /// The latest of each lane since then: what that lane does to the object is done in order.
  boost::container::small_vector<Use, 1> reads_since;
};

class LaneOrder {
 public:
  explicit LaneOrder(EnvironmentRef environment)
      : environment_(std::move(environment)),
        issued_(environment_->lanes.size(), 0),
        load_(environment_->lanes.size(), 0) {}

  using Touched = boost::container::small_vector<Uses*, 8>;

  /// The next ticket, for an operation O that reads and writes these; `bytes`: of the tensor.
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
  /// The next ticket on this very lane, for a fence.
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
  /// Of the lanes that have little more to do than the one with the least: the lane of `last`, or
  /// else the first.
  std::uint32_t choose(const Uses::Use& last) const;
  const msg::Placed* prescribed(msg::Ticket ticket) const;

  EnvironmentRef environment_;
  std::vector<msg::Ticket> issued_;
  std::vector<std::uint64_t> load_;  ///< the weight of these
  msg::Ticket last_ticket_ = 0;
};

}  // namespace polychron::actors
