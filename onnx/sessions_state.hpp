// The sessions of a model by shape, behind Sessions and behind a Session with free dimensions.
#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "onnx/bindings.hpp"
#include "polychron/process.hpp"
#include "polychron/sessions.hpp"

namespace polychron::onnx::detail {

class SessionsCache;
class SessionBuild;

/// Thread-safe. It only changes by what the cache keeps, and by destroy().
class SessionsState : public std::enable_shared_from_this<SessionsState> {
 public:
  /// `own`: the runtime of a session with a context of its own.
  SessionsState(const Context& context, const Model& model, const SessionsOptions& options,
                std::optional<Runtime> own = std::nullopt);

  const Context& context() const noexcept { return context_; }
  const Summary& summary() const noexcept { return model_.summary(); }
  const std::string& label() const noexcept { return label_; }
  /// Throws invalid_state in a forked child.
  void check_process() const { process_.check(); }
  std::size_t size() const;

  Shapes rounded(Shapes bindings) const;
  /// `elsewhere`: the import runs on the executor, if there is one.
  Future<Session> get(const Shapes& bindings, bool elsewhere);
  /// At once if the session of these shapes is there. If it throws, the caller keeps the buffers.
  Future<NamedValues> run(NamedValues&& inputs, const RunOptions& options);
  /// Refuses new runs; earlier ones still finish.
  void destroy() noexcept;
  /// Throws type_error: "input 'x' is float [n, 2]: dimension 0 is free, ...".
  [[noreturn]] void refuse_free() const;

 private:
  Shapes shapes_of(const NamedValues& inputs) const;
  Shapes free_shapes(const Shapes& bindings) const;
  std::uint32_t rounded_up(const std::string& symbol, std::uint32_t value) const;
  void start(const std::shared_ptr<SessionBuild>& build, bool elsewhere);
  void build(SessionBuild& build) const noexcept;

  const polychron::detail::Process process_;
  const std::optional<Runtime> runtime_;  ///< destroyed last
  const Context context_;
  const Model model_;
  const SessionsOptions options_;
  const std::string label_;
  const std::shared_ptr<const polychron::detail::Origin> origin_;  ///< runs the replies' callbacks
  const std::shared_ptr<SessionsCache> cache_;
  std::atomic<bool> destroyed_{false};
};

/// True if runs of this model may differ in their shapes. Throws type_error if a binding names
/// nothing or contradicts the model.
bool has_free_dimensions(const Summary& summary, const SessionOptions& options);

}  // namespace polychron::onnx::detail
