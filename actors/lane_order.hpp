// Stamping: which lane carries an operation out, and what it must wait for on other lanes.
//
// Dependent work keeps its order: an operation goes to the lane of the latest operation that it
// depends on and that may not be done yet, and waits for the others; independent work goes to the
// lane with the least to do. With one lane all this costs one comparison. What is remembered of a
// tensor is bounded by the number of lanes, whatever is in flight.
#pragma once

#include <algorithm>
#include <vector>

#include "actors/environment.hpp"
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
      : environment_(std::move(environment)), issued_(environment_->lanes.size(), 0) {}

  using Touched = boost::container::small_vector<Uses*, 8>;

  /// The next ticket, for an operation that reads and writes these.
  msg::Stamp stamp(const Touched& reads, const Touched& writes);
  msg::Stamp stamp_read(Uses& uses) { return stamp({&uses}, {}); }
  msg::Stamp stamp_write(Uses& uses) { return stamp({}, {&uses}); }
  /// The next ticket on this very lane, for a fence.
  msg::Stamp stamp_on(std::uint32_t lane) { return {++last_ticket_, {lane, ++issued_[lane]}, {}}; }
  msg::Ticket last_ticket() const { return last_ticket_; }

 private:
  bool done(const Uses::Use& use) const {
    return use.ticket == 0 || environment_->lanes[use.at.lane].done_below.load(
                                  std::memory_order_acquire) > use.at.turn;
  }
  std::uint32_t least_loaded() const;
  const msg::Placed* prescribed(msg::Ticket ticket) const;

  EnvironmentRef environment_;
  std::vector<msg::Ticket> issued_;
  msg::Ticket last_ticket_ = 0;
};

}  // namespace polychron::actors
