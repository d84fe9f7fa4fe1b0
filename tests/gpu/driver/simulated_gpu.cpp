// A GPU for oneDNN on machines without one: an OpenCL driver that is PoCL with a few other answers.
//
// PoCL runs OpenCL on the processor. oneDNN takes only Intel's GPUs, so this driver says that
// PoCL's device is one. It is right for tests of a device with memory of its own, which fails and
// runs out of memory. It is no evidence of speed, or of the bits that hardware computes. Limits:
// sub-groups have one work item, and there is no half precision.
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <CL/cl_icd.h>
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "tests/gpu/driver/faults.hpp"

extern "C" SimulatedGpuFaults* simulated_gpu_faults() {
  static SimulatedGpuFaults faults;
  return &faults;
}

namespace {

cl_icd_dispatch pocl{};  // PoCL's own functions

SimulatedGpuFaults& faults() { return *simulated_gpu_faults(); }

/// True if this call fails, as the faults say.
bool fails() { return faults().calls_left.fetch_sub(1) <= 0 && faults().failing.fetch_sub(1) > 0; }
cl_int failure() { return static_cast<cl_int>(faults().error.load()); }

/// PoCL's function `member`, which fails when the faults say so.
template <auto member, class Function = std::remove_reference_t<decltype(pocl.*member)>>
struct Failing;
template <auto member, class... A>
struct Failing<member, cl_int(CL_API_CALL*)(A...)> {
  static cl_int CL_API_CALL call(A... a) { return fails() ? failure() : (pocl.*member)(a...); }
};
/// One that makes something. Its last argument takes the error.
template <auto member, class Made, class... A>
struct Failing<member, Made*(CL_API_CALL*)(A...)> {
  static Made* CL_API_CALL call(A... a) {
    if (!fails()) return (pocl.*member)(a...);
    cl_int* const status = std::get<sizeof...(A) - 1>(std::tie(a...));
    if (status != nullptr) *status = failure();
    return nullptr;
  }
};
template <auto... members>
void may_fail(cl_icd_dispatch& table) {
  ((table.*members = Failing<members>::call), ...);
}

// -- the answers of an Intel GPU
// -------------------------------------------------------------------

/// Answers a question of OpenCL with `bytes`.
cl_int answer(const void* bytes, std::size_t count, std::size_t room, void* value,
              std::size_t* size) {
  if (size != nullptr) *size = count;
  if (value == nullptr) return CL_SUCCESS;
  if (room < count) return CL_INVALID_VALUE;
  std::memcpy(value, bytes, count);
  return CL_SUCCESS;
}

cl_int answer(const char* text, std::size_t room, void* value, std::size_t* size) {
  return answer(text, std::strlen(text) + 1, room, value, size);
}

/// The name of another OpenCL driver, whose GPU this one then shows instead of PoCL's processor; or
/// null.
const char* wrapped() { return std::getenv("SIMULATED_GPU_OF"); }

cl_int get_device_ids(cl_platform_id platform, cl_device_type type, cl_uint room, cl_device_id* ids,
                      cl_uint* count) {
  const bool asks = (type & (CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_DEFAULT)) != 0;
  if (!asks || faults().present == 0) return CL_DEVICE_NOT_FOUND;
  const cl_device_type its = wrapped() == nullptr ? CL_DEVICE_TYPE_CPU : CL_DEVICE_TYPE_GPU;
  return pocl.clGetDeviceIDs(platform, its, room, ids, count);
}

cl_int get_device_info(cl_device_id device, cl_device_info what, std::size_t room, void* value,
                       std::size_t* size) {
  constexpr cl_device_info sub_group_sizes = 0x4108;  // CL_DEVICE_SUB_GROUP_SIZES_INTEL
  if (what == CL_DEVICE_TYPE) {
    const cl_device_type type = CL_DEVICE_TYPE_GPU;
    return answer(&type, sizeof type, room, value, size);
  }
  if (what == CL_DEVICE_VENDOR_ID) {
    const cl_uint intel = 0x8086;
    return answer(&intel, sizeof intel, room, value, size);
  }
  if (what == sub_group_sizes) {
    const std::size_t one = 1;
    return answer(&one, sizeof one, room, value, size);
  }
  if (what == CL_DEVICE_NAME) return answer("simulated GPU", room, value, size);
  if (what == CL_DEVICE_EXTENSIONS) {
    std::size_t count = 0;
    if (const auto status = pocl.clGetDeviceInfo(device, what, 0, nullptr, &count)) return status;
    std::string text(count, '\0');
    if (const auto status = pocl.clGetDeviceInfo(device, what, count, text.data(), nullptr))
      return status;
    text.resize(std::strlen(text.c_str()));
    if (faults().sub_groups != 0)
      text += " cl_intel_subgroups cl_intel_subgroups_short cl_intel_required_subgroup_size";
    return answer(text.c_str(), room, value, size);
  }
  return pocl.clGetDeviceInfo(device, what, room, value, size);
}

cl_int get_platform_info(cl_platform_id platform, cl_platform_info what, std::size_t room,
                         void* value, std::size_t* size) {
  if (what == CL_PLATFORM_NAME) return answer("Intel(R) OpenCL", room, value, size);
  if (what == CL_PLATFORM_VENDOR) return answer("Intel(R) Corporation", room, value, size);
  return pocl.clGetPlatformInfo(platform, what, room, value, size);
}

/// oneDNN recognises a GPU's family by the binary of the first program. This is one of no known
/// family: an ELF file whose only section says so.
std::vector<unsigned char> binary_of_no_family() {
  constexpr std::size_t header = 64, section = 64, content = 28;
  std::vector<unsigned char> elf(header + section + content);
  const auto put = [&](std::size_t at, auto number) {
    std::memcpy(elf.data() + at, &number, sizeof number);
  };
  std::memcpy(elf.data(),
              "\x7f"
              "ELF\x02\x01",
              6);
  put(0x28, std::uint64_t{header});            // offset of the sections' headers
  put(0x3c, std::uint16_t{1});                 // their number
  put(header + 4, std::uint32_t{0xff000005});  // of a device's binary
  put(header + 0x18, std::uint64_t{header + section});
  put(header + 0x20, std::uint64_t{content});
  put(header + section, std::uint32_t{0x494E5443});  // its mark; the family after it is 0
  put(header + section + 16, std::uint32_t{1});      // one kernel
  return elf;
}

std::mutex probe;
int probes = 0;  // oneDNN asks for a size, then for the bytes

cl_int get_program_info(cl_program program, cl_program_info what, std::size_t room, void* value,
                        std::size_t* size) {
  const std::lock_guard lock(probe);
  static const auto elf = binary_of_no_family();
  if (probes < 2 && what == CL_PROGRAM_BINARY_SIZES) {
    probes = 1;
    const std::size_t bytes = elf.size();
    return answer(&bytes, sizeof bytes, room, value, size);
  }
  if (probes == 1 && what == CL_PROGRAM_BINARIES) {
    probes = 2;
    if (value != nullptr) std::memcpy(*static_cast<unsigned char**>(value), elf.data(), elf.size());
    if (size != nullptr) *size = sizeof(void*);
    return CL_SUCCESS;
  }
  return pocl.clGetProgramInfo(program, what, room, value, size);
}

// -- the OpenCL C of an Intel GPU
// ------------------------------------------------------------------

/// Functions of sub-groups, for sub-groups of one work item; and types without half precision.
std::string prelude() {
  std::string text;
  const auto define = [&](const std::string& what) { text += "#define " + what + "\n"; };
  for (const auto& [suffix, type] : {std::pair<std::string, std::string>{"", "uint"},
                                     {"_us", "ushort"},
                                     {"_uc", "uchar"},
                                     {"_ul", "ulong"}}) {
    const auto read = "intel_sub_group_block_read" + suffix;
    const auto write = "intel_sub_group_block_write" + suffix;
    define(read + "(p) ((p)[0])");
    define(write + "(p, v) ((p)[0] = (v))");
    for (const int width : {2, 4, 8}) {
      const auto n = std::to_string(width);
      define(read + n + "(p) (vload" + n + "(0, p))");
      define(write + n + "(p, v) (vstore" + n + "(v, 0, p))");
    }
  }
  for (const char* same :
       {"sub_group_broadcast(x, i) (x)", "intel_sub_group_shuffle(x, i) (x)",
        "sub_group_reduce_add(x) (x)", "sub_group_reduce_max(x) (x)", "sub_group_reduce_min(x) (x)",
        "sub_group_barrier(f)", "get_sub_group_local_id() 0u", "get_sub_group_size() 1u",
        "get_max_sub_group_size() 1u"})
    define(same);
  define(
      "get_sub_group_id() ((uint)(get_local_id(0) + get_local_size(0) * "
      "(get_local_id(1) + get_local_size(1) * get_local_id(2))))");
  for (const std::string width : {"", "2", "4", "8"}) {
    define("half" + width + " float" + width);
    define("as_half" + width + "(x) ((float" + width + ")(0))");
  }
  define("convert_half convert_float");
  define("convert_half_rte convert_float");
  define("atomic_load_explicit(...) (0.0f)");
  define("atomic_compare_exchange_strong_explicit(...) (true)");
  return text;
}

cl_program create_program(cl_context context, cl_uint count, const char** strings,
                          const std::size_t* lengths, cl_int* status) {
  static const std::string before = prelude();
  std::string text = before;
  for (cl_uint i = 0; i < count; ++i)
    text += lengths != nullptr && lengths[i] != 0 ? std::string(strings[i], lengths[i])
                                                  : std::string(strings[i]);
  // oneDNN's probe for Intel's hardware is in Intel's assembler. Only its binary counts, which
  // get_program_info() gives.
  if (text.find("void _(") != std::string::npos) text = "kernel void probe(global int* none) {}";
  const char* source = text.c_str();
  const std::size_t length = text.size();
  return pocl.clCreateProgramWithSource(context, 1, &source, &length, status);
}

cl_int build_program(cl_program program, cl_uint count, const cl_device_id* devices,
                     const char* options, void(CL_CALLBACK* notify)(cl_program, void*),
                     void* data) {
  if (fails()) return failure();
  if (faults().compiles == 0) return CL_BUILD_PROGRAM_FAILURE;
  // oneDNN reads the types of kernels' arguments.
  auto all = std::string(options != nullptr ? options : "") + " -cl-kernel-arg-info -w";
  constexpr std::string_view standard = "-cl-std=CL2.0";
  if (const auto at = all.find(standard); at != std::string::npos && wrapped() != nullptr)
    all.replace(at, standard.size(), "-cl-std=CL3.0");
  const auto status = pocl.clBuildProgram(program, count, devices, all.c_str(), notify, data);
  if (status != CL_SUCCESS && wrapped() != nullptr && count > 0) {
    std::string log(1 << 16, '\0');
    std::size_t size = 0;
    pocl.clGetProgramBuildInfo(program, devices[0], CL_PROGRAM_BUILD_LOG, log.size(), log.data(),
                               &size);
    std::fprintf(stderr, "%s\n%s\n", all.c_str(),
                 log.substr(0, std::min(size, std::size_t{1500})).c_str());
  }
  return status;
}

// -- memory that ends, and a device that fails
// -----------------------------------------------------

/// The memory is really gone: commands that still ran may have kept it for longer than its users.
void CL_CALLBACK give_back(cl_mem, void* bytes) {
  faults().bytes_left.fetch_add(static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(bytes)));
}

cl_mem create_buffer(cl_context context, cl_mem_flags flags, std::size_t bytes, void* host,
                     cl_int* status) {
  const auto count = static_cast<std::int64_t>(bytes);
  if (fails()) {
    if (status != nullptr) *status = failure();
    return nullptr;
  }
  if (faults().bytes_left.fetch_sub(count) < count) {
    faults().bytes_left.fetch_add(count);
    if (status != nullptr) *status = CL_MEM_OBJECT_ALLOCATION_FAILURE;
    return nullptr;
  }
  const auto memory = pocl.clCreateBuffer(context, flags, bytes, host, status);
  if (memory == nullptr)
    faults().bytes_left.fetch_add(count);
  else
    pocl.clSetMemObjectDestructorCallback(
        memory, give_back, reinterpret_cast<void*>(static_cast<std::intptr_t>(count)));
  return memory;
}

cl_int enqueue_kernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                      const std::size_t* offset, const std::size_t* global,
                      const std::size_t* local, cl_uint waits, const cl_event* events,
                      cl_event* event) {
  faults().kernels.fetch_add(1);
  if (fails()) return failure();
  if (faults().kernels_left.fetch_sub(1) <= 0) return CL_DEVICE_NOT_AVAILABLE;
  return pocl.clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, waits,
                                     events, event);
}

// -- the driver
// ------------------------------------------------------------------------------------

using Address = void* (*)(const char*);

/// PoCL's own way to its functions; null if the machine has no PoCL.
Address pocl_address() {
  static const auto address = [] {
    void* library = dlopen(wrapped() == nullptr ? "libpocl.so.2" : wrapped(), RTLD_NOW);
    return library == nullptr
               ? nullptr
               : reinterpret_cast<Address>(dlsym(library, "clGetExtensionFunctionAddress"));
  }();
  return address;
}

/// Replaces functions in PoCL's table, which each of its objects begins with.
void replace(cl_icd_dispatch& table) {
  pocl = table;
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(&table) / page * page;
  const auto end = reinterpret_cast<std::uintptr_t>(&table + 1);
  mprotect(reinterpret_cast<void*>(begin), end - begin, PROT_READ | PROT_WRITE);
  using Table = cl_icd_dispatch;
  may_fail<&Table::clCreateCommandQueue, &Table::clCreateCommandQueueWithProperties,
           &Table::clCreateKernel, &Table::clSetKernelArg, &Table::clFinish,
           &Table::clEnqueueReadBuffer, &Table::clEnqueueWriteBuffer, &Table::clEnqueueFillBuffer,
           &Table::clEnqueueCopyBuffer, &Table::clWaitForEvents>(table);
  table.clGetDeviceIDs = get_device_ids;
  table.clGetDeviceInfo = get_device_info;
  table.clGetPlatformInfo = get_platform_info;
  table.clGetProgramInfo = get_program_info;
  table.clBuildProgram = build_program;
  table.clCreateProgramWithSource = create_program;
  table.clCreateBuffer = create_buffer;
  table.clEnqueueNDRangeKernel = enqueue_kernel;
}

}  // namespace

// The three functions that OpenCL's loader asks a driver for.

extern "C" CL_API_ENTRY cl_int CL_API_CALL clIcdGetPlatformIDsKHR(cl_uint room,
                                                                  cl_platform_id* platforms,
                                                                  cl_uint* count) {
  using Platforms = cl_int (*)(cl_uint, cl_platform_id*, cl_uint*);
  const auto address = pocl_address();
  const auto find =
      address == nullptr ? nullptr : reinterpret_cast<Platforms>(address("clIcdGetPlatformIDsKHR"));
  cl_platform_id platform = nullptr;
  if (find == nullptr || find(1, &platform, nullptr) != CL_SUCCESS)
    return CL_PLATFORM_NOT_FOUND_KHR;
  static std::once_flag once;
  std::call_once(once, [&] { replace(**reinterpret_cast<cl_icd_dispatch**>(platform)); });
  if (platforms != nullptr && room > 0) *platforms = platform;
  if (count != nullptr) *count = 1;
  return CL_SUCCESS;
}

extern "C" CL_API_ENTRY cl_int CL_API_CALL clGetPlatformInfo(cl_platform_id platform,
                                                             cl_platform_info what,
                                                             std::size_t room, void* value,
                                                             std::size_t* size) {
  if (what == CL_PLATFORM_ICD_SUFFIX_KHR) return answer("SIM", room, value, size);
  return get_platform_info(platform, what, room, value, size);
}

extern "C" CL_API_ENTRY void* CL_API_CALL clGetExtensionFunctionAddress(const char* name) {
  if (std::string_view(name) == "clIcdGetPlatformIDsKHR")
    return reinterpret_cast<void*>(clIcdGetPlatformIDsKHR);
  const auto address = pocl_address();
  return address == nullptr ? nullptr : address(name);
}
