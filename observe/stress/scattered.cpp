#include "observe/stress/scattered.hpp"

#include <memory>
#include <vector>

namespace polychron::stress {

msg::Placement scattered(std::uint32_t lanes) {
  auto places = std::make_shared<std::vector<msg::Placed>>(lanes);
  for (std::uint32_t lane = 0; lane < lanes; ++lane) (*places)[lane].lane = lane;
  return [places = std::move(places)](msg::Ticket ticket) -> const msg::Placed* {
    const auto mixed = (ticket * 0x9E3779B97F4A7C15U) >> 33U;
    return mixed % 2 == 0 ? &(*places)[(mixed / 2) % places->size()] : nullptr;
  };
}

}  // namespace polychron::stress
