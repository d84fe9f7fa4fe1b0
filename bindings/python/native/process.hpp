// The process: its one runtime, its worker thread, and its use of the GIL.
#pragma once

#include <functional>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <polychron/polychron.hpp>
#include <polychron/trace.hpp>

namespace binding {

namespace nb = nanobind;

/// The GIL is released while this lives. No thread of the library ever takes the GIL.
///
/// Once the interpreter ends, threads other than the ending one stay in the destructor for ever.
/// CPython 3.11 to 3.13 would end them by an exception that no C++ frame survives.
class Released {
 public:
  Released() : state_(PyEval_SaveThread()) {}
  ~Released();
  Released(const Released&) = delete;
  Released& operator=(const Released&) = delete;

 private:
  PyThreadState* const state_;
};

/// `call()` without the GIL: for every wait, and for every copy above a page.
template <class F>
auto without_gil(F&& call) {
  const Released released;
  return call();
}

inline constexpr std::size_t page = 4096;

/// Starts the runtime at the first call. Throws invalid_state once the interpreter ends.
polychron::Runtime& runtime();
/// Runs tasks one after the other on a thread of its own, which starts with the first: imports.
std::function<void(std::function<void()>)> worker();
/// For atexit: rejects all replies, waits for running kernels, and stops every thread.
void close();

/// Starts a recording of the process. Throws invalid_state if one is under way.
void start_recording(const polychron::TraceOptions& options);
/// Ends it, and writes it to `path`. Needs the GIL.
void save_recording(const std::string& path);

/// True once another thread ends the interpreter.
bool ending() noexcept;

/// A number that a forked child raises. Any thread.
unsigned generation() noexcept;

/// Any thread: `view` is no longer used. The next call with the GIL releases it.
void let_go(Py_buffer* view) noexcept;
/// Releases what was let go. Needs the GIL.
void release_views();

}  // namespace binding
