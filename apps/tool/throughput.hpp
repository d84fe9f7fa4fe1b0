// Measures the runs per second of concurrent clients.
#pragma once

#include <cstddef>
#include <functional>

#include "polychron/session.hpp"

namespace tool {

/// The number of runs that each client keeps in flight.
constexpr std::size_t runs_on_their_way = 8;

struct Throughput {
  double per_second = 0;  ///< the sum over all clients
  std::size_t runs = 0;   ///< number of counted runs
};

/// Sends one run; thread-safe.
using SendRun = std::function<polychron::Future<polychron::NamedBuffers>()>;
/// The time in seconds; thread-safe.
using Seconds = std::function<double()>;
/// The time of std::chrono::steady_clock.
double steady_seconds();

/// Each of `clients` threads sends runs and waits for the oldest. It warms up for `warm_up` seconds
/// and until every client has had a reply, so that lanes have their memory. Then it counts for
/// `seconds` and at least one run, from the end of one run to the end of another. A client that has
/// counted sends on until all have, so that each counts under full load. Throws the error of a
/// rejected run, once the others have counted.
Throughput measure_throughput(const SendRun& send, int clients, double warm_up, double seconds,
                              const Seconds& now = steady_seconds);

}  // namespace tool
