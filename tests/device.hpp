// The device of the suites that run on several: the processor, or the one that the environment
// names.
#pragma once

#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>

#include "kernels/backend.hpp"
#include "kernels/devices.hpp"
#include "polychron/runtime.hpp"

namespace polychron::testing {

inline std::string device_of_tests() {
  const char* const name = std::getenv("POLYCHRON_TEST_DEVICE");
  return name == nullptr ? "cpu" : name;
}

/// A device that its lanes wait for, also if it could work by itself. Tests hold up kernels by
/// planned faults, and worlds have one thread, which nobody could tell of an end.
struct Blocking final : kernels::ForwardingBackend {
  using ForwardingBackend::ForwardingBackend;
  bool submits() const noexcept override { return false; }
};

inline std::shared_ptr<kernels::Backend> backend_of_tests() {
  return std::make_shared<Blocking>(kernels::make_backend(device_of_tests()).value());
}

inline ContextOptions on_device_of_tests(ContextOptions options) {
  if (options.device.empty()) options.device = device_of_tests();
  return options;
}

/// True, with the reason printed, if the tests' device is none that the case can be asked of.
inline bool needs_the_processor(const char* reason) {
  const auto device = device_of_tests();
  if (device == "cpu") return false;
  std::cout << "skipped: on " << device << ": " << reason << "\n";
  return true;
}

}  // namespace polychron::testing
