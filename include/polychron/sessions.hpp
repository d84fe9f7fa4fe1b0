// A cache of sessions, one for each input shape, for requests of varying lengths. Link with
// polychron::onnx. docs/variable-lengths.md says when to use it.
//
//   const onnx::Sessions sessions(context, onnx::load("model.onnx"),
//                                 {.most = 32, .round_up = {{"width", 32}}});
//   const auto session = sessions.at({{"width", {300}}});  // of width 320
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>

#include "polychron/session.hpp"

namespace polychron::onnx {

namespace detail {
class SessionsState;
}

/// Options of Sessions.
struct SessionsOptions {
  /// The most sessions and refusals to keep, at least 1. Beyond it the least recently used one is
  /// dropped when another one is built; its runs in flight still finish.
  std::size_t most = 16;
  /// The most bytes that the kept sessions may take: Graph::memory(), with the weights, which they
  /// share, counted once. Beyond it the least recently used ones are dropped. A session that takes
  /// more alone is refused (type_error).
  std::uint64_t most_bytes = std::numeric_limits<std::uint64_t>::max();
  /// By symbol: sizes are rounded up to the next multiple, so that few sessions serve many lengths.
  /// The caller pads its inputs to Session::inputs(), and drops the padding from the outputs.
  std::map<std::string, std::uint32_t> round_up{};
  /// The options of every session. A session's label is this label followed by its bindings.
  SessionOptions session{};
  /// Takes the imports of get() and prepare(), and runs each once: a thread pool, for callers that
  /// must not wait for an import. A task that it drops rejects the replies that wait for it. Empty:
  /// they import on their caller's thread.
  std::function<void(std::function<void()>)> executor{};
};

/// Handle to a model's sessions on a context. Copies are handles to the same cache; dropping the
/// last one drops the cached sessions. Every call refuses a default-constructed handle.
///
/// Weights: the model is loaded once, and equal weights of the graphs are in memory once.
///
/// Thread-safety: every method may be called from any thread at any time. Threads that ask for the
/// same session share one build; those in at() wait for it. Other threads do not wait.
class Sessions {
 public:
  /// A handle to nothing, which every call refuses (type_error).
  Sessions() = default;
  /// Builds nothing yet. Throws type_error if `most` is 0, or if `round_up` has a multiple of 0 or
  /// a symbol that the model does not have.
  Sessions(const Context& context, const Model& model, const SessionsOptions& options = {});
  /// False for a handle to nothing: default-constructed or moved away.
  explicit operator bool() const noexcept { return state_ != nullptr; }

  /// The session for these values of free dimensions (ImportOptions::bindings), rounded up. Builds
  /// it if there is none, or waits for the build under way. Throws what Session's constructor
  /// throws. A type_error, not_supported, bad_data or graph_invalid is kept as a session is,
  /// because another build would meet it again; after other errors the next call builds again. If a
  /// build runs out of memory, the kept sessions are dropped to make room for that. Not for threads
  /// of the executor.
  Session at(const std::map<std::string, Shape>& bindings) const;
  /// The same, without waiting: the reply is there at once if the session is. Rejects with what
  /// at() throws. The import runs where SessionsOptions::executor says, and the context compiles.
  /// Replies settle even if the last handle is dropped meanwhile.
  Future<Session> get(const std::map<std::string, Shape>& bindings) const;
  /// Runs the session of the inputs' shapes, as Session::run() does without bindings. The outputs
  /// of a rounded shape have its size: `inputs` are padded already.
  Future<NamedValues> run(NamedValues&& inputs, const RunOptions& options = {}) const;
  /// get() without a reply: starts to build that session, unless it exists.
  void prepare(const std::map<std::string, Shape>& bindings) const;
  /// `bindings`, rounded up as at() does.
  std::map<std::string, Shape> rounded(const std::map<std::string, Shape>& bindings) const;

  /// The summary of the model's file.
  const Summary& summary() const;
  /// The context that the sessions run on.
  Context context() const;
  /// The number of sessions and refusals in the cache, including those being built.
  std::size_t size() const;

 private:
  detail::SessionsState& state() const;
  std::shared_ptr<detail::SessionsState> state_;
};

}  // namespace polychron::onnx
