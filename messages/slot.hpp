// What the device plane passes around instead of bytes: a tensor's slot and a graph's slot.
//
// A slot is made by the context actor, travels in device-plane messages, and its contents are
// touched by device actors only, one operation at a time in timeline order; that order, not a lock,
// is what makes them safe. The last reference frees the memory.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "messages/graph.hpp"
#include "messages/memory.hpp"
#include "messages/tensor.hpp"
#include "polychron/error.hpp"
#include "polychron/graph.hpp"

namespace polychron::msg {

/// A tensor on the device timeline.
struct TensorSlot {
  TensorId id = 0;
  std::string label;
  std::size_t bytes = 0;
  std::shared_ptr<Memory> memory;  ///< null before allocate and after release
  std::optional<Error> tag;        ///< errored: what a read of it reports
  tensor_actor actor;              ///< cleared by release, which breaks the cycle

  std::string name() const { return describe_object("tensor", label, id); }
};
using TensorRef = std::shared_ptr<TensorSlot>;

/// Why every dispatch of a graph would fail: the first failure that says so. Written by the lane
/// that finds out, at most once; the other lanes see it when they next look.
class Invalidity {
 public:
  Invalidity() = default;
  Invalidity(const Invalidity&) = delete;
  Invalidity& operator=(const Invalidity&) = delete;
  ~Invalidity() { delete why_.load(); }
  void set(const Error& error) {
    auto why = std::make_unique<const Error>(error);
    const Error* none = nullptr;
    if (why_.compare_exchange_strong(none, why.get())) static_cast<void>(why.release());
  }
  /// Null as long as the graph is fine.
  const Error* get() const noexcept { return why_.load(std::memory_order_acquire); }

 private:
  std::atomic<const Error*> why_{nullptr};
};

/// A compiled graph on the device timeline.
struct GraphSlot {
  GraphId id = 0;
  std::string label;
  NamedDescriptors inputs, outputs;
  std::shared_ptr<const kernels::Plan> plan;
  Reservation constants;  ///< the plan's share of the budget
  Invalidity invalid;

  /// A lane's instance, made by the first dispatch that the lane runs.
  struct Instance {
    std::unique_ptr<kernels::PlanInstance> plan;
    Reservation arena;
  };
  std::vector<Instance> instances;  ///< one a lane; each lane opens its own only
  graph_actor actor;                ///< cleared by release_plan

  std::string name() const { return describe_object("graph", label, id); }
};
using GraphRef = std::shared_ptr<GraphSlot>;

inline std::string describe(const TensorRef& slot) { return slot ? slot->name() : "null"; }
inline std::string describe(const GraphRef& slot) { return slot ? slot->name() : "null"; }

}  // namespace polychron::msg
