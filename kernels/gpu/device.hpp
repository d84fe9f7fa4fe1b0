// A GPU as oneDNN's OpenCL runtime gives it: its engine, its name, and its memory.
//
// Every error of the driver becomes an Error here. Out of memory is out_of_memory. Any other
// failure is context_lost: after it nothing on the device can be trusted.
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <cstddef>
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <span>
#include <string>

#include "polychron/result.hpp"

namespace polychron::kernels::gpu {

/// An opened device. Backends, plans and their memory share it. Thread-safe, as OpenCL is.
struct Gpu {
  dnnl::engine engine;
  cl_context context = nullptr;    ///< the engine's, which keeps it
  std::string name;                ///< "Intel(R) UHD Graphics 770, driver 22.43"
  std::size_t sub_group_size = 0;  ///< the largest number of work items in a sub-group
  std::size_t memory_bytes = 0;    ///< of the device
};

/// Opens the first GPU that oneDNN can use. Loads every OpenCL driver of the machine; some leave
/// threads running. Returns not_supported with the reason.
Result<std::shared_ptr<const Gpu>> open_gpu();

/// Throws the Error of a failed OpenCL call.
void check(cl_int status, const char* call);

/// The error of work on the device. Except for want of memory, the device cannot be trusted any
/// more.
Error of_device(const Error& error);
Error of_device(const dnnl::error& error);

/// The queue behind a stream. Commands run in their order.
cl_command_queue queue_of(const dnnl::stream& stream);

/// Bytes in the device's memory. The host reaches them by copies.
class DeviceMemory {
 public:
  /// Indeterminate bytes. Throws Error.
  DeviceMemory(const Gpu& gpu, std::size_t bytes);
  DeviceMemory(DeviceMemory&& other) noexcept;
  DeviceMemory& operator=(DeviceMemory&&) = delete;
  ~DeviceMemory();

  std::size_t bytes() const noexcept { return bytes_; }
  /// The memory's address for primitives. Do not dereference it.
  std::byte* handle() const noexcept { return reinterpret_cast<std::byte*>(memory_); }
  // Each runs after the queue's earlier commands. The host may have fewer bytes: then the first
  // ones.
  void write(cl_command_queue queue, std::span<const std::byte> bytes);
  void read(cl_command_queue queue, std::span<std::byte> bytes) const;
  void clear(cl_command_queue queue);
  void copy_from(cl_command_queue queue, const DeviceMemory& other, std::size_t bytes);

 private:
  cl_mem memory_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace polychron::kernels::gpu
