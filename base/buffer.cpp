#include "polychron/buffer.hpp"

#include <sanitizer/asan_interface.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "base/large_pages.hpp"

namespace polychron {

namespace {
[[noreturn]] void throw_out_of_memory(std::size_t size) {
  throw Error(ErrorKind::out_of_memory, "out of memory, " + std::to_string(size) + " bytes asked");
}

/// Stands before a buffer's bytes.
struct Head {
  std::byte* begin;  ///< of the memory from operator new
  std::size_t size;  ///< of the buffer: to clear AddressSanitizer's marks before freeing
};

/// Memory at a multiple of Buffer::alignment, or null. Carved from unaligned memory: aligned
/// allocation in glibc 2.36 bypasses the thread cache, so that threads contend on every request.
std::byte* allocate(std::size_t size) {
  static_assert(__STDCPP_DEFAULT_NEW_ALIGNMENT__ >= sizeof(Head));
  if (size > SIZE_MAX - Buffer::alignment) return nullptr;
  auto* const begin =
      static_cast<std::byte*>(::operator new(size + Buffer::alignment, std::nothrow));
  if (begin == nullptr) return nullptr;
  const auto odd = reinterpret_cast<std::uintptr_t>(begin) % Buffer::alignment;
  auto* const bytes = begin + (Buffer::alignment - odd);
  const Head head{begin, size};
  std::memcpy(bytes - sizeof head, &head, sizeof head);
  // The gaps before and behind are not the caller's.
  ASAN_POISON_MEMORY_REGION(begin, Buffer::alignment - odd);
  ASAN_POISON_MEMORY_REGION(bytes + size, odd);
  return bytes;
}

void free_allocated(std::byte* bytes) {
  Head head{};
  ASAN_UNPOISON_MEMORY_REGION(bytes - sizeof head, sizeof head);
  std::memcpy(&head, bytes - sizeof head, sizeof head);
  ASAN_UNPOISON_MEMORY_REGION(head.begin, head.size + Buffer::alignment);
  ::operator delete(head.begin);
}

#if defined(MADV_HUGEPAGE) && defined(MADV_POPULATE_WRITE)
/// True if this page is in memory already.
bool is_there(std::byte* page) {
  unsigned char resident = 0;
  return ::mincore(page, page_bytes, &resident) == 0 && (resident & 1U) != 0;
}

void populate(std::byte* first, std::size_t bytes) {
  static_cast<void>(::madvise(first, bytes, MADV_POPULATE_WRITE));
}

void populate_large_page(std::byte* first) {
  static LargePages pages;
  const bool large = pages.wanted();
  // An earlier use of this memory may have advised the opposite.
  static_cast<void>(::madvise(first, large_page_bytes, large ? MADV_HUGEPAGE : MADV_NOHUGEPAGE));
  const auto begin = std::chrono::steady_clock::now();
  populate(first, large_page_bytes);
  if (large) pages.came(std::chrono::steady_clock::now() - begin);
}

/// Populates memory in advance. The system maps fresh memory page by page at first touch: 100 MiB
/// of weights cause 25,000 faults, a third of the time from file to first result, more on a virtual
/// machine. So all but small blocks are populated at once (Linux 5.14), and large ones in 2 MiB
/// pages if the system can, may ("madvise") and is fast with them. A piece whose ends are mapped
/// was used before and is skipped: asking costs 40 us for each MiB in small pages. Failures are
/// ignored, as the memory works without. It works piece by piece, because each request blocks all
/// other threads that map or unmap memory.
void have_pages(std::byte* bytes, std::size_t size) {
  constexpr std::size_t small = 1U << 20U;
  if (size < small) return;
  const auto begin = reinterpret_cast<std::uintptr_t>(bytes);
  each_piece(begin, size, [&](std::uintptr_t at, std::size_t count) {
    std::byte* const first = bytes + (at - begin);
    if (is_there(first) && is_there(first + (count - page_bytes))) return;
    if (size >= 2 * large_page_bytes && count == large_page_bytes)
      populate_large_page(first);
    else
      populate(first, count);
  });
}
#else
void have_pages(std::byte*, std::size_t) {}
#endif

/// The system gives pages of zeros, and memory for each when it is touched. Below this size malloc
/// is faster, as it gives memory that is there already.
constexpr std::size_t least_mapped = 1U << 20U;

Buffer zeroed(std::size_t size) {
  if (size < least_mapped) {
    auto buffer = Buffer::uninitialized(size);
    if (size != 0) std::memset(buffer.data(), 0, size);
    return buffer;
  }
  void* const pages =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) throw_out_of_memory(size);
  const auto free = [](std::byte* first, std::size_t bytes) { ::munmap(first, bytes); };
  try {
    return Buffer::adopt(static_cast<std::byte*>(pages), size, free);
  } catch (...) {
    ::munmap(pages, size);
    throw;
  }
}

}  // namespace

Buffer::Buffer(std::size_t size) : Buffer(zeroed(size)) {}

Buffer Buffer::uninitialized(std::size_t size) {
  if (size == 0) return {};
  auto* bytes = allocate(size);
  if (bytes == nullptr) throw_out_of_memory(size);
  have_pages(bytes, size);
  return {Pointer(bytes), size};
}

Buffer Buffer::copy_of(std::span<const std::byte> bytes) {
  auto copy = uninitialized(bytes.size());
  if (!bytes.empty()) std::memcpy(copy.data_.get(), bytes.data(), bytes.size());
  return copy;
}

Buffer Buffer::adopt(std::byte* data, std::size_t size, Deleter deleter) {
  auto free = [size, deleter = std::move(deleter)](std::byte* p) { deleter(p, size); };
  auto given = detail::with_errors(
      [&] { return std::make_unique<std::function<void(std::byte*)>>(std::move(free)); });
  return {Pointer(data, {std::move(given)}), size};
}

void Buffer::Free::operator()(std::byte* data) const {
  if (given)
    (*given)(data);
  else
    free_allocated(data);
}

Buffer::Buffer(Buffer&& other) noexcept
    : data_(std::move(other.data_)),
      size_(std::exchange(other.size_, 0)),
      detached_(std::exchange(other.detached_, true)) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  if (this == &other) return *this;
  data_ = std::move(other.data_);
  size_ = std::exchange(other.size_, 0);
  detached_ = std::exchange(other.detached_, true);
  return *this;
}

void Buffer::check() const {
  if (detached_)
    detail::refuse(ErrorKind::type_error, "the buffer is detached: its bytes have been moved away");
}

void Buffer::check_view(std::size_t element_size, std::size_t element_alignment) const {
  check();
  if (size_ % element_size != 0)
    detail::with_errors([&] {
      throw Error(ErrorKind::type_error, "a buffer of " + std::to_string(size_) +
                                             " bytes does not hold whole elements of " +
                                             std::to_string(element_size) + " bytes");
    });
  if (reinterpret_cast<std::uintptr_t>(data_.get()) % element_alignment != 0)
    detail::refuse(ErrorKind::type_error, "the buffer's memory is not aligned for its elements");
}

}  // namespace polychron
