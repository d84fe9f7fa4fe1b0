#include "process.hpp"

#include <pthread.h>
#include <unistd.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "shared/worker.hpp"

namespace binding {

using polychron::Error;
using polychron::ErrorKind;

namespace {

/// Never destroyed: threads may use it until the process is gone. A forked child makes a new one.
struct Process {
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<polychron::Runtime> runtime;
  std::shared_ptr<bindings::Worker> worker = std::make_shared<bindings::Worker>();
  std::vector<Py_buffer*> unused;
  bool recording = false;
  std::optional<pthread_t> ending;  ///< the thread that ends the interpreter
  std::size_t returning = 0;        ///< threads that are taking the GIL
};

unsigned forks = 0;
Process* own = [] {
  pthread_atfork(nullptr, nullptr, [] {
    ++forks;
    own = new Process;
  });
  return new Process;
}();

/// With own->mutex.
bool ends_elsewhere() { return own->ending && pthread_equal(*own->ending, pthread_self()) == 0; }

}  // namespace

bool ending() noexcept {
  const std::lock_guard lock(own->mutex);
  return ends_elsewhere();
}

Released::~Released() {
  bool ends = false;
  {
    const std::lock_guard lock(own->mutex);
    ends = ends_elsewhere();
    if (!ends) ++own->returning;
  }
  while (ends) pause();
  PyEval_RestoreThread(state_);
  const std::lock_guard lock(own->mutex);
  if (--own->returning == 0) own->changed.notify_all();
}

polychron::Runtime& runtime() {
  const std::lock_guard lock(own->mutex);
  if (own->ending) throw Error(ErrorKind::invalid_state, "the interpreter is ending");
  if (!own->runtime) own->runtime.emplace();
  return *own->runtime;
}

std::function<void(std::function<void()>)> worker() {
  return [worker = own->worker](std::function<void()> task) { worker->post(std::move(task)); };
}

void close() {
  const Released released;
  {
    std::unique_lock lock(own->mutex);
    own->ending = pthread_self();
    own->changed.wait(lock, [] { return own->returning == 0; });
  }
  own->worker->close();
  if (own->runtime) own->runtime->shutdown();
}

void start_recording(const polychron::TraceOptions& options) {
  auto& recorded = runtime();
  const std::lock_guard lock(own->mutex);
  if (own->recording) throw Error(ErrorKind::invalid_state, "record: a recording is under way");
  recorded.start_trace(options);
  own->recording = true;
}

void save_recording(const std::string& path) {
  without_gil([&] {
    std::vector<std::byte> bytes;
    {
      const std::lock_guard lock(own->mutex);
      // A forked child has no recording: its parent writes the file.
      if (!std::exchange(own->recording, false)) return;
      own->runtime->stop_trace();
      bytes = own->runtime->trace();
    }
    polychron::save_trace(bytes, path);
  });
}

unsigned generation() noexcept { return forks; }

void let_go(Py_buffer* view) noexcept {
  const std::lock_guard lock(own->mutex);
  try {
    own->unused.push_back(view);
  } catch (const std::bad_alloc&) {
    // Without memory for the note, the object is never freed.
  }
}

void release_views() {
  std::vector<Py_buffer*> unused;
  {
    const std::lock_guard lock(own->mutex);
    if (own->unused.empty()) return;
    unused.swap(own->unused);
  }
  for (auto* const view : unused) {
    PyBuffer_Release(view);
    delete view;
  }
}

}  // namespace binding
