// A model whose requests have lengths of their own: a session for each shape, kept while it is of
// use. Link with polychron::onnx. docs/variable-lengths.md says when to use it.
//
//   const onnx::Sessions sessions(context, onnx::load("model.onnx"),
//                                 {.most = 32, .round_up = {{"width", 32}}});
//   const auto session = sessions.at({{"width", {300}}});  // of width 320
#pragma once

#include <cstddef>
#include <cstdint>
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
  /// Sessions that are kept, 1 or more: of more, the one that was asked for longest ago goes. Runs
  /// of it that are on their way end as if it were there.
  std::size_t most = 16;
  /// By symbol: requests get a session of the next multiple, so that few sessions serve many
  /// lengths. The caller pads inputs to Session::inputs(), and knows what to leave out of the
  /// outputs.
  std::map<std::string, std::uint32_t> round_up{};
  /// What all sessions have in common. Their labels have their bindings behind this one's.
  SessionOptions session{};
};

/// Handle to a model's sessions on a context. Copies are handles to the same ones; dropping the
/// last one drops what it keeps. A default-constructed handle is refused by every call.
///
/// Weights: the model is loaded once, and what is alike in the graphs' weights is in memory once.
///
/// Thread-safety: every method may be called from any thread at any time. Threads that ask for the
/// same session wait for one build; threads that ask for another session do not wait for it.
class Sessions {
 public:
  /// A handle to nothing, which every call refuses (type_error).
  Sessions() = default;
  /// Builds nothing yet. Throws type_error if `most` is 0, or `round_up` has a symbol that the
  /// model does not have, or 0.
  Sessions(const Context& context, const Model& model, const SessionsOptions& options = {});
  /// False for a handle to nothing: default-constructed or moved away.
  explicit operator bool() const noexcept { return state_ != nullptr; }

  /// The session for these values of free dimensions (ImportOptions::bindings), rounded up. Waits
  /// if it is being built; builds it if there is none. Throws what Session's constructor throws;
  /// the next call then tries again.
  Session at(const std::map<std::string, Shape>& bindings) const;
  /// Begins to build it, unless there is one, and returns while the context compiles it. Imports it
  /// on the caller's thread. at() then throws what goes wrong.
  void prepare(const std::map<std::string, Shape>& bindings) const;
  /// `bindings` as at() binds them.
  std::map<std::string, Shape> rounded(const std::map<std::string, Shape>& bindings) const;

  /// The model, as its file tells it.
  const Summary& summary() const;
  /// The one that they run on.
  Context context() const;
  /// Sessions that are kept now, those that are being built among them.
  std::size_t size() const;

 private:
  detail::SessionsState& state() const;
  std::shared_ptr<detail::SessionsState> state_;
};

}  // namespace polychron::onnx
