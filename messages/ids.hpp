// Numbers that name things within a context.
#pragma once

#include <boost/container/small_vector.hpp>
#include <cstdint>

namespace polychron::msg {

/// Position of an operation on its context's timeline: 1, 2, 3, …; 0 is no ticket.
using Ticket = std::uint64_t;
/// Chosen by the caller's handle, unique per context, never reused.
using TensorId = std::uint64_t;
using GraphId = std::uint64_t;
using LeaseId = std::uint64_t;
/// Most graphs have few inputs and outputs: they fit without an allocation.
using TensorIds = boost::container::small_vector<TensorId, 4>;

}  // namespace polychron::msg
