#include "kernels/gpu/device.hpp"

#include <algorithm>
#include <oneapi/dnnl/dnnl_ocl.hpp>
#include <utility>
#include <vector>

#include "base/invariant.hpp"
#include "kernels/onednn/library.hpp"
#include "polychron/future.hpp"

namespace polychron::kernels::gpu {

void check(cl_int status, const char* call) {
  switch (status) {
    case CL_SUCCESS:
      return;
    case CL_OUT_OF_HOST_MEMORY:
    case CL_OUT_OF_RESOURCES:
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
    case CL_INVALID_BUFFER_SIZE:
      throw Error(ErrorKind::out_of_memory, std::string("the GPU is out of memory: ") + call +
                                                " fails with " + std::to_string(status));
    default:
      throw Error(ErrorKind::context_lost, std::string("the GPU fails: ") + call +
                                               " gives OpenCL error " + std::to_string(status));
  }
}

Error of_device(const Error& error) {
  if (error.kind() == ErrorKind::out_of_memory || error.kind() == ErrorKind::context_lost)
    return error;
  return Error(ErrorKind::context_lost, "the GPU fails: " + error.message());
}

Error of_device(const dnnl::error& error) { return of_device(onednn::to_error(error)); }

#if DNNL_GPU_RUNTIME == DNNL_RUNTIME_OCL
namespace {

/// CL_DEVICE_SUB_GROUP_SIZES_INTEL, of the extension cl_intel_required_subgroup_size.
constexpr cl_device_info sub_group_sizes = 0x4108;

std::string text_of(cl_device_id device, cl_device_info what) {
  std::size_t bytes = 0;
  check(clGetDeviceInfo(device, what, 0, nullptr, &bytes), "clGetDeviceInfo");
  std::string text(bytes, '\0');
  check(clGetDeviceInfo(device, what, bytes, text.data(), nullptr), "clGetDeviceInfo");
  text.resize(std::min(text.size(), text.find('\0')));
  return text;
}

std::size_t largest_sub_group(cl_device_id device) {
  std::size_t bytes = 0;
  if (clGetDeviceInfo(device, sub_group_sizes, 0, nullptr, &bytes) != CL_SUCCESS) return 1;
  std::vector<std::size_t> sizes(bytes / sizeof(std::size_t));
  if (sizes.empty() ||
      clGetDeviceInfo(device, sub_group_sizes, bytes, sizes.data(), nullptr) != CL_SUCCESS)
    return 1;
  return *std::max_element(sizes.begin(), sizes.end());
}

}  // namespace

Result<std::shared_ptr<const Gpu>> open_gpu() {
  const auto refuse = [](const std::string& reason) {
    return Error(ErrorKind::not_supported, reason);
  };
  static const polychron::detail::Process of_the_drivers;
  if (of_the_drivers.forked()) return refuse("OpenCL's drivers do not survive a fork");
  try {
    if (dnnl::engine::get_count(dnnl::engine::kind::gpu) == 0)
      return refuse("oneDNN found no GPU that it can use");
    auto gpu = std::make_shared<Gpu>();
    gpu->engine = dnnl::engine(dnnl::engine::kind::gpu, 0);
    gpu->context = dnnl::ocl_interop::get_context(gpu->engine);
    const cl_device_id device = dnnl::ocl_interop::get_device(gpu->engine);
    gpu->name = text_of(device, CL_DEVICE_NAME) + ", driver " + text_of(device, CL_DRIVER_VERSION);
    gpu->sub_group_size = largest_sub_group(device);
    cl_ulong bytes = 0;
    check(clGetDeviceInfo(device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof bytes, &bytes, nullptr),
          "clGetDeviceInfo");
    gpu->memory_bytes = bytes;
    return std::shared_ptr<const Gpu>(std::move(gpu));
  } catch (const dnnl::error& error) {
    return refuse(std::string("oneDNN's GPU engine fails: ") + error.what());
  } catch (const Error& error) {
    return refuse(error.message());
  }
}

cl_command_queue queue_of(const dnnl::stream& stream) {
  return dnnl::ocl_interop::get_command_queue(stream);
}
#else  // Debian's oneDNN for arm64
Result<std::shared_ptr<const Gpu>> open_gpu() {
  return Error(ErrorKind::not_supported, "this oneDNN has no OpenCL");
}

cl_command_queue queue_of(const dnnl::stream&) {
  ensure(false, "a GPU was opened");
  return nullptr;
}
#endif

DeviceMemory::DeviceMemory(const Gpu& gpu, std::size_t bytes) : bytes_(bytes) {
  cl_int status = CL_SUCCESS;
  memory_ = clCreateBuffer(gpu.context, CL_MEM_READ_WRITE, std::max<std::size_t>(bytes, 1), nullptr,
                           &status);
  check(status, "clCreateBuffer");
}

DeviceMemory::DeviceMemory(DeviceMemory&& other) noexcept
    : memory_(std::exchange(other.memory_, nullptr)), bytes_(other.bytes_) {}

DeviceMemory::~DeviceMemory() {
  if (memory_ != nullptr) clReleaseMemObject(memory_);
}

void DeviceMemory::write(cl_command_queue queue, std::span<const std::byte> bytes) {
  ensure(bytes.size() <= bytes_, "a copy fits into the device's memory");
  if (bytes.empty()) return;
  check(clEnqueueWriteBuffer(queue, memory_, CL_TRUE, 0, bytes.size(), bytes.data(), 0, nullptr,
                             nullptr),
        "clEnqueueWriteBuffer");
}

void DeviceMemory::read(cl_command_queue queue, std::span<std::byte> bytes) const {
  ensure(bytes.size() <= bytes_, "a copy stays within the device's memory");
  if (bytes.empty()) return;
  check(clEnqueueReadBuffer(queue, memory_, CL_TRUE, 0, bytes.size(), bytes.data(), 0, nullptr,
                            nullptr),
        "clEnqueueReadBuffer");
}

void DeviceMemory::clear(cl_command_queue queue) {
  if (bytes_ == 0) return;
  const cl_uchar zero = 0;
  check(clEnqueueFillBuffer(queue, memory_, &zero, sizeof zero, 0, bytes_, 0, nullptr, nullptr),
        "clEnqueueFillBuffer");
  check(clFinish(queue), "clFinish");
}

void DeviceMemory::copy_from(cl_command_queue queue, const DeviceMemory& other, std::size_t bytes) {
  ensure(bytes <= bytes_ && bytes <= other.bytes_, "a copy fits into both memories");
  if (bytes == 0) return;
  check(clEnqueueCopyBuffer(queue, other.memory_, memory_, 0, 0, bytes, 0, nullptr, nullptr),
        "clEnqueueCopyBuffer");
}

}  // namespace polychron::kernels::gpu
