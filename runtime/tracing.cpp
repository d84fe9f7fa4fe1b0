// Recordings of a runtime: start, stop and output.
#include <cstdlib>
#include <string>

#include "base/new_file.hpp"
#include "observe/recording/file.hpp"
#include "polychron/trace.hpp"
#include "runtime/local_port.hpp"
#include "runtime/runtime_state.hpp"

namespace polychron {

void save_trace(std::span<const std::byte> trace, const std::filesystem::path& path) {
  detail::with_errors([&] {
    try {
      NewFile file(path);
      file.write(trace);
      file.put_in_place();
    } catch (const Error& error) {
      throw error.with_operation("save_trace", path.string());
    }
  });
}

namespace detail {

void RuntimeState::make_recorder() {
  recorder_ = std::make_shared<recording::Recorder>([now = host_.now]() -> recording::Time {
    return (now ? now() : msg::Clock::now()).time_since_epoch().count();
  });
}

void RuntimeState::obey_environment() {
  const char* const path = std::getenv("POLYCHRON_TRACE");
  if (path == nullptr || *path == '\0') return;
  // Each runtime of a process has its own file: FILE, FILE.2, ...
  static msg::Guarded<std::size_t> runtimes(0);
  const auto number = runtimes.with([](auto& count) { return ++count; });
  trace_file_ = path;
  if (number > 1) trace_file_ += "." + std::to_string(number);
  start_trace({});
}

void RuntimeState::write_for_environment() noexcept {
  if (trace_file_.empty()) return;
  try {
    save_trace(trace(), trace_file_);
  } catch (const std::exception& error) {
    log_->tell(LogLevel::warning, "runtime", error.what());
  }
}

void RuntimeState::start_trace(const TraceOptions& options) {
  process_.check();
  recorder_->begin({options.max_bytes, options.steps, options.calls});
  listen(true);
}

void RuntimeState::stop_trace() noexcept {
  if (process_.forked()) return;
  recorder_->end();
  listen(false);
}

void RuntimeState::listen(bool on) {
  ports_.with([on](auto& ports) {
    for (const auto& weak : ports)
      if (const auto port = weak.lock()) port->listen(on);
  });
}

std::vector<std::byte> RuntimeState::trace() const {
  process_.check();
  return recording::file_of(recorder_->contents(), recorder_->now());
}

}  // namespace detail
}  // namespace polychron
