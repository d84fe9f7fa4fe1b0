// A context on the simulated GPU, whose faults a test sets.
#pragma once

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "polychron/polychron.hpp"
#include "tests/gpu/simulated.hpp"

namespace polychron::testing {

inline bool has_gpu() {
  const auto reason = use_simulated_gpu();
  if (!reason.empty()) std::cout << "skipped: " << reason << "\n";
  return reason.empty();
}

/// Sets a fault of the device, and takes it back.
class Fault {
 public:
  Fault(std::atomic<std::int64_t>& of, std::int64_t value) : of_(of), before_(of.exchange(value)) {}
  Fault(const Fault&) = delete;
  Fault& operator=(const Fault&) = delete;
  ~Fault() { of_ = before_; }

 private:
  std::atomic<std::int64_t>& of_;
  const std::int64_t before_;
};

inline const OperandDescriptor four{DataType::float32, {4}};

struct Rig {
  Runtime runtime;
  Context context = runtime.create_context({.label = "gpu", .device = "gpu"}).get();

  Tensor tensor(std::string label = {}) {
    return context.create_tensor({four, true, true, std::move(label)}).get();
  }
  /// y = relu(x + w), of which both run on the device.
  Graph graph(std::vector<float> w = {1, 1, 1, 1}) {
    GraphBuilder builder(context);
    const auto x = builder.input("x", four);
    const auto sum = builder.add(x, builder.constant(four, w));
    return builder.build({{"y", builder.relu(sum)}}).get();
  }
  std::vector<float> floats(const Tensor& tensor) {
    return context.read_tensor(tensor).get().to_vector<float>();
  }
};

template <class F>
Error error_of(F&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  BOOST_FAIL("no error");
  throw std::logic_error("unreachable");
}

}  // namespace polychron::testing
