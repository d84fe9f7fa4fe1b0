#include "base/before_exit.hpp"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

namespace polychron {

namespace {

std::atomic<int> under_way{0};
std::atomic<bool> ending{false};

/// exit() destroys the variables of its own thread first, then all static ones.
struct OfThread {
  ~OfThread() {
    if (!ends_process) return;
    ending = true;
    while (const int left = under_way.load()) under_way.wait(left);
  }
  bool ends_process = false;
};
thread_local OfThread of_thread;

void leave() noexcept {
  under_way.fetch_sub(1);
  under_way.notify_all();
}

bool is_main_thread() noexcept { return syscall(SYS_gettid) == getpid(); }

// When the library is loaded. A forked child has none of the threads that are at work.
[[maybe_unused]] const bool main_thread_ends_process = of_thread.ends_process = is_main_thread();
[[maybe_unused]] const int at_fork = pthread_atfork(nullptr, nullptr, [] {
  under_way = 0;
  of_thread.ends_process = true;
});

}  // namespace

BeforeExit::BeforeExit() noexcept {
  under_way.fetch_add(1);
  if (!ending) return;
  leave();
  may_begin_ = false;
}

BeforeExit::~BeforeExit() {
  if (may_begin_) leave();
}

EndsProcess::EndsProcess() noexcept { of_thread.ends_process = true; }
EndsProcess::~EndsProcess() { of_thread.ends_process = false; }

}  // namespace polychron
