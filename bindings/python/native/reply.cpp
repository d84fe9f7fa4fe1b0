#include "reply.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

namespace binding {

using Clock = std::chrono::steady_clock;

// -- the waker ------------------------------------------------------------------------------------

Waker::Waker() : descriptor_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  if (descriptor_ < 0)
    throw polychron::Error(polychron::ErrorKind::out_of_memory, "no file descriptor is left");
}

Waker::~Waker() { ::close(descriptor_); }

void Waker::expect() {
  const std::lock_guard lock(mutex_);
  due_.reserve(due_.size() + expected_ + 1);
  ++expected_;
}

void Waker::post(std::uint64_t token) noexcept {
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    --expected_;
    first = due_.empty();
    due_.push_back(token);
  }
  // Without the lock, which the woken loop takes at once.
  if (first) eventfd_write(descriptor_, 1);
}

std::vector<std::uint64_t> Waker::take() {
  const std::lock_guard lock(mutex_);
  std::vector<std::uint64_t> empty;
  empty.reserve(expected_);
  eventfd_t ignored = 0;
  eventfd_read(descriptor_, &ignored);
  return std::exchange(due_, std::move(empty));
}

// -- the shared state -----------------------------------------------------------------------------

void Settling::check() const {
  if (made_ != generation()) throw polychron::Error(polychron::detail::forked_error());
}

void Settling::start(bool helps) {
  check();
  const std::lock_guard lock(starting_);
  if (std::exchange(started_, true)) return;
  if (helps && help())
    settle();
  else
    chain();
}

void Settling::settle() noexcept {
  const std::lock_guard lock(mutex_);
  settled_ = true;
  changed_.notify_all();
  for (const auto& [waker, token] : watchers_) waker->post(token);
  watchers_.clear();
}

bool Settling::settled() {
  check();
  const std::lock_guard lock(mutex_);
  return settled_;
}

bool Settling::wait_until(Clock::time_point latest) {
  check();
  std::unique_lock lock(mutex_);
  return changed_.wait_until(lock, latest, [this] { return settled_; });
}

void Settling::watch(std::shared_ptr<Waker> waker, std::uint64_t token) {
  check();
  const std::lock_guard lock(mutex_);
  if (!settled_) watchers_.emplace_back(waker, token);
  try {
    waker->expect();
  } catch (...) {
    if (!settled_) watchers_.pop_back();
    throw;
  }
  if (settled_) waker->post(token);
}

// -- the reply ------------------------------------------------------------------------------------

bool Pending::ready() {
  if (settling_->settled()) return true;
  without_gil([this] { settling_->start(true); });
  return settling_->settled();
}

bool Pending::wait(std::optional<double> seconds) {
  // A signal waits that long for Python to see it.
  constexpr std::chrono::milliseconds slice(50);
  constexpr double century = 3e9;
  if (ready()) return true;
  auto latest = Clock::time_point::max();
  if (seconds)
    latest = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                std::chrono::duration<double>(std::clamp(*seconds, 0.0, century)));
  while (true) {
    const auto until = std::min(latest, Clock::now() + slice);
    if (without_gil([&] { return settling_->wait_until(until); })) return true;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (Clock::now() >= latest) return false;
  }
}

void Pending::watch(std::shared_ptr<Waker> waker, std::uint64_t token) {
  without_gil([this] { settling_->start(false); });
  settling_->watch(std::move(waker), token);
}

void Pending::cancel() noexcept {
  if (cancellation_) cancellation_->cancel();
}

nb::object Pending::value() {
  release_views();
  if (!value_.is_valid()) value_ = convert();
  return value_;
}

namespace {

/// A waker as Python has it. Settling threads share the waker itself: to drop nanobind's shared_ptr
/// of it they would take the GIL, with a lock that holders of the GIL wait for.
struct PythonWaker {
  std::shared_ptr<Waker> own = std::make_shared<Waker>();
};

}  // namespace

void bind_replies(nb::module_& module) {
  nb::class_<PythonWaker>(module, "Waker")
      .def(nb::init<>())
      .def("descriptor", [](const PythonWaker& waker) { return waker.own->descriptor(); })
      .def("take", [](const PythonWaker& waker) { return waker.own->take(); });
  nb::class_<Pending>(module, "Pending")
      .def("settled", &Pending::settled)
      .def("ready", &Pending::ready)
      .def("wait", &Pending::wait, nb::arg("seconds").none())
      .def("watch", [](Pending& pending, const PythonWaker& waker,
                       std::uint64_t token) { pending.watch(waker.own, token); })
      .def("cancel", &Pending::cancel)
      .def("value", &Pending::value);
}

}  // namespace binding
