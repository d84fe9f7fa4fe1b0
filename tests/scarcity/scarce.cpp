#include "tests/scarcity/scarce.hpp"

#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <new>

namespace {

// Counts down to the call that fails; 0 and below: none will.
std::atomic<std::int64_t> library_countdown{0};
std::atomic<bool> library_hit{false};
thread_local bool tests_own = false;
thread_local std::int64_t own_countdown = 0;
thread_local bool own_hit = false;
std::atomic<std::int64_t> thread_countdown{0};
std::atomic<bool> threads_run_out{false};

std::atomic<std::int64_t> bytes_held{0};

void* counted(void* memory) noexcept {
  if (memory != nullptr)
    bytes_held.fetch_add(static_cast<std::int64_t>(malloc_usable_size(memory)),
                         std::memory_order_relaxed);
  return memory;
}

void release(void* memory) noexcept {
  if (memory != nullptr)
    bytes_held.fetch_sub(static_cast<std::int64_t>(malloc_usable_size(memory)),
                         std::memory_order_relaxed);
  std::free(memory);
}

bool fails() noexcept {
  if (tests_own) {
    if (own_countdown <= 0 || --own_countdown > 0) return false;
    return own_hit = true;
  }
  if (library_countdown.load(std::memory_order_relaxed) <= 0) return false;
  if (library_countdown.fetch_sub(1) != 1) return false;
  library_hit = true;
  return true;
}

void* allocate(std::size_t bytes, std::size_t alignment) noexcept {
  if (fails()) return nullptr;
  if (alignment <= alignof(std::max_align_t)) return counted(std::malloc(bytes == 0 ? 1 : bytes));
  return counted(std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment));
}

void* allocate_or_throw(std::size_t bytes, std::size_t alignment) {
  void* memory = allocate(bytes, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

std::size_t number(std::align_val_t alignment) { return static_cast<std::size_t>(alignment); }

}  // namespace

void* operator new(std::size_t n) { return allocate_or_throw(n, 1); }
void* operator new[](std::size_t n) { return allocate_or_throw(n, 1); }
void* operator new(std::size_t n, std::align_val_t a) { return allocate_or_throw(n, number(a)); }
void* operator new[](std::size_t n, std::align_val_t a) { return allocate_or_throw(n, number(a)); }
void* operator new(std::size_t n, const std::nothrow_t&) noexcept { return allocate(n, 1); }
void* operator new[](std::size_t n, const std::nothrow_t&) noexcept { return allocate(n, 1); }
void* operator new(std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  return allocate(n, number(a));
}
void* operator new[](std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  return allocate(n, number(a));
}
void operator delete(void* p) noexcept { release(p); }
void operator delete[](void* p) noexcept { release(p); }
void operator delete(void* p, std::size_t) noexcept { release(p); }
void operator delete[](void* p, std::size_t) noexcept { release(p); }
void operator delete(void* p, std::align_val_t) noexcept { release(p); }
void operator delete[](void* p, std::align_val_t) noexcept { release(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { release(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { release(p); }

// Large memory of zeros comes from the system. (malloc and threads' stacks do not come this way.)
extern "C" void* mmap(void* at, std::size_t bytes, int protection, int flags, int file,
                      off_t offset) noexcept {
  using Map = void* (*)(void*, std::size_t, int, int, int, off_t);
  static const auto map = reinterpret_cast<Map>(dlsym(RTLD_NEXT, "mmap"));
  void* const pages = map(at, bytes, protection, flags, file, offset);
  if (pages != MAP_FAILED)
    bytes_held.fetch_add(static_cast<std::int64_t>(bytes), std::memory_order_relaxed);
  return pages;
}
extern "C" int munmap(void* pages, std::size_t bytes) noexcept {
  using Unmap = int (*)(void*, std::size_t);
  static const auto unmap = reinterpret_cast<Unmap>(dlsym(RTLD_NEXT, "munmap"));
  bytes_held.fetch_sub(static_cast<std::int64_t>(bytes), std::memory_order_relaxed);
  return unmap(pages, bytes);
}

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*start)(void*), void* argument) {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto create = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  if (threads_run_out) return EAGAIN;
  if (thread_countdown > 0 && thread_countdown.fetch_sub(1) == 1) {
    threads_run_out = true;
    return EAGAIN;
  }
  return create(thread, attributes, start, argument);
}

namespace polychron::testing {

std::int64_t held_bytes() noexcept { return bytes_held.load(std::memory_order_relaxed); }

LibraryAllocationFails::LibraryAllocationFails(std::int64_t nth) {
  tests_own = true;
  library_hit = false;
  library_countdown = nth;
}
void LibraryAllocationFails::end() { library_countdown = 0; }
bool LibraryAllocationFails::happened() const { return library_hit; }

OwnAllocationFails::OwnAllocationFails(std::int64_t nth) {
  tests_own = true;
  own_hit = false;
  own_countdown = nth;
}
OwnAllocationFails::~OwnAllocationFails() { own_countdown = 0; }
bool OwnAllocationFails::happened() const { return own_hit; }

ThreadsRunOut::ThreadsRunOut(std::int64_t nth) { thread_countdown = nth; }
ThreadsRunOut::~ThreadsRunOut() {
  thread_countdown = 0;
  threads_run_out = false;
}
bool ThreadsRunOut::happened() const { return threads_run_out; }

}  // namespace polychron::testing
