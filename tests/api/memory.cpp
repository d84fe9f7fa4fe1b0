// The memory that tensors take, and the limit that a context has by default.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/usable_memory.hpp"
#include "tests/api/file_system_root.hpp"
#include "tests/api/fixture.hpp"
#include "tests/patience.hpp"

using namespace polychron;
using namespace polychron::testing;

namespace {

constexpr std::uint64_t mebibyte = 1U << 20U, gibibyte = 1U << 30U;

/// Of this process, in memory now.
std::uint64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t all = 0, resident = 0;
  file >> all >> resident;
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

/// A machine of 8 GiB.
struct Machine : Root {
  Machine() { write("/proc/meminfo", "MemTotal:        8388608 kB\nMemFree:         1024 kB\n"); }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(memory)

BOOST_AUTO_TEST_CASE(a_large_tensor_takes_memory_as_it_is_touched) {
  if (needs_the_processor("a simulated GPU copies what it has")) return;
  constexpr std::uint32_t bytes = 512 * mebibyte;
  Embedder e;
  const auto before = resident_bytes();
  const auto t = e.tensor(DataType::float32, {bytes / 4});
  BOOST_TEST(e.context.stats().bytes == bytes);
  BOOST_TEST(resident_bytes() < before + 64 * mebibyte);
  {
    const auto lease = e.context.export_tensor(t).get();
    const auto floats = lease.bytes();
    BOOST_TEST(reinterpret_cast<std::uintptr_t>(floats.data()) % Buffer::alignment == 0U);
    for (std::size_t i = 0; i < bytes; i += 37 * mebibyte + 5)
      BOOST_TEST(std::to_integer<int>(floats[i]) == 0);
    floats.front() = floats.back() = std::byte{7};
    BOOST_TEST(resident_bytes() < before + 128 * mebibyte);
  }
  {
    const auto lease = e.context.export_tensor(t).get();
    BOOST_TEST(std::to_integer<int>(lease.bytes().front()) == 7);
    BOOST_TEST(std::to_integer<int>(lease.bytes().back()) == 7);
  }
}

BOOST_AUTO_TEST_CASE(it_gives_all_of_it_back) {
  if (needs_the_processor("a simulated GPU copies what it has")) return;
  Embedder e;
  {
    const auto t = e.tensor(DataType::uint8, {256 * mebibyte});
    const auto lease = e.context.export_tensor(t).get();
    std::ranges::fill(lease.bytes(), std::byte{1});
  }
  const auto full = resident_bytes();
  BOOST_TEST(comes([&] { return e.context.stats().bytes == 0; }));
  BOOST_TEST(comes([&] { return resident_bytes() < full - 200 * mebibyte; }));
}

BOOST_AUTO_TEST_CASE(buffers_of_every_size_are_zeroed) {
  for (const std::size_t bytes :
       {std::size_t{0}, std::size_t{1}, std::size_t{4097}, std::size_t{mebibyte - 1},
        std::size_t{mebibyte}, std::size_t{mebibyte + 1}, std::size_t{5 * mebibyte + 3}}) {
    for (int round = 0; round < 3; ++round) {  // also in memory that was used before
      Buffer buffer(bytes);
      BOOST_TEST(buffer.size() == bytes);
      const auto zero = [](std::byte b) { return b == std::byte{0}; };
      BOOST_TEST(std::ranges::all_of(buffer.bytes(), zero), bytes << " bytes");
      std::ranges::fill(buffer.bytes(), std::byte{255});
      BOOST_TEST(reinterpret_cast<std::uintptr_t>(buffer.data()) % Buffer::alignment == 0U);
    }
  }
  throws(ErrorKind::out_of_memory, [] { Buffer(std::size_t{1} << 60U); });
}

// -- the default limit ----------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(the_default_limit_is_three_quarters_of_the_memory) {
  BOOST_TEST(default_memory_limit() == usable_memory() / 4 * 3);
  BOOST_TEST(ContextOptions().memory_limit == default_memory_limit());
  BOOST_TEST(default_memory_limit() > 0U);
  BOOST_TEST(default_memory_limit() < no_memory_limit);
}

BOOST_AUTO_TEST_CASE(without_groups_it_is_the_machines) {
  const Machine root;
  BOOST_TEST(usable_memory(root.path()) == 8 * gibibyte);
  root.write("/proc/self/cgroup", "0::/\n");
  BOOST_TEST(usable_memory(root.path()) == 8 * gibibyte);
  root.write("/proc/meminfo", "strange\n");
  BOOST_TEST(usable_memory(root.path()) == no_memory_limit);
}

BOOST_AUTO_TEST_CASE(groups_of_version_2_limit_it) {
  const Machine root;
  root.write("/proc/self/cgroup", "0::/a/b\n");
  root.write("/sys/fs/cgroup/a/b/memory.max", "max\n");
  root.write("/sys/fs/cgroup/a/b/memory.high", "max\n");
  BOOST_TEST(usable_memory(root.path()) == 8 * gibibyte);
  root.write("/sys/fs/cgroup/a/b/memory.max", "2147483648\n");
  BOOST_TEST(usable_memory(root.path()) == 2 * gibibyte);
  root.write("/sys/fs/cgroup/a/b/memory.high", "1610612736\n");
  BOOST_TEST(usable_memory(root.path()) == gibibyte + gibibyte / 2);
  root.write("/sys/fs/cgroup/a/memory.max", "1073741824\n");  // a group above
  BOOST_TEST(usable_memory(root.path()) == gibibyte);
  root.write("/sys/fs/cgroup/memory.max", "536870912\n");  // in a container
  BOOST_TEST(usable_memory(root.path()) == gibibyte / 2);
}

BOOST_AUTO_TEST_CASE(groups_of_version_1_limit_it) {
  const Machine root;
  root.write("/proc/self/cgroup", "5:cpuset:/other\n4:cpu,memory:/docker/1f\n0::/\n");
  root.write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");  // none
  BOOST_TEST(usable_memory(root.path()) == 8 * gibibyte);
  root.write("/sys/fs/cgroup/memory/docker/1f/memory.limit_in_bytes", "3221225472\n");
  BOOST_TEST(usable_memory(root.path()) == 3 * gibibyte);
  // In a container the path is the host's, and only the root is there.
  root.write("/proc/self/cgroup", "4:memory:/nowhere/2e\n");
  BOOST_TEST(usable_memory(root.path()) == 8 * gibibyte);
  root.write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "1073741824\n");
  BOOST_TEST(usable_memory(root.path()) == gibibyte);
}

BOOST_AUTO_TEST_CASE(strange_groups_are_passed_over) {
  const Machine root;
  for (const auto* content : {"", "\n", ":", "1:memory", "1:memory:", "x:y:z:w\n", "0::no/slash\n",
                              "0::///\n", "4:memory:/../..\n"}) {
    root.write("/proc/self/cgroup", content);
    BOOST_TEST(usable_memory(root.path()) == 8 * gibibyte, "'" << content << "'");
  }
}

BOOST_AUTO_TEST_CASE(a_limit_can_be_switched_off) {
  Embedder e({.memory_limit = no_memory_limit});
  BOOST_TEST(static_cast<bool>(e.context.create_tensor({{DataType::float32, {4}}}).take()));
}

BOOST_AUTO_TEST_SUITE_END()
