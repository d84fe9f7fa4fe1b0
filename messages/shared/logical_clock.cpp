#include "messages/shared/logical_clock.hpp"

namespace polychron::msg {

namespace {
thread_local constinit LogicalTime time_of_thread = 0;
}  // namespace

LogicalTime& logical_clock() noexcept { return time_of_thread; }

}  // namespace polychron::msg
