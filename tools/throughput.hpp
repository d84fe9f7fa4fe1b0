// How many runs a second clients get that send them at once.
#pragma once

#include <cstddef>
#include <functional>

#include "polychron/session.hpp"

namespace tool {

/// Each client has so many runs on their way.
constexpr std::size_t runs_on_their_way = 8;

struct Throughput {
  double per_second = 0;  ///< the sum of what each client gets
  std::size_t runs = 0;   ///< that were counted
};

/// Sends one run; thread-safe.
using SendRun = std::function<polychron::Future<polychron::NamedBuffers>()>;
/// The time in seconds; thread-safe.
using Seconds = std::function<double()>;
/// Of std::chrono::steady_clock.
double steady_seconds();

/// Each of `clients` threads sends runs and waits for the oldest: first for `warm_up` seconds and
/// until each has had one, so that lanes have their memory; then it counts for `seconds` and for
/// one run at least, from an end of a run to an end of a run. Who has counted goes on sending until
/// all have: nobody counts on lanes that others have left, or not come to. Throws what a run is
/// rejected with, once the others have counted.
Throughput measure_throughput(const SendRun& send, int clients, double warm_up, double seconds,
                              const Seconds& now = steady_seconds);

}  // namespace tool
