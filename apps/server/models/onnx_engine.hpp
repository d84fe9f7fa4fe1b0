// An ONNX model: a context of its own, and a graph for each shape.
//
// Owns: its context, so that its limits, lanes and losses are its own.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <polychron/sessions.hpp>

#include "models/batcher.hpp"

namespace polychron::server {

/// The imports of one model: one after the other, so that models take turns on the builder.
class Imports : public std::enable_shared_from_this<Imports> {
 public:
  explicit Imports(const EngineHost& host) : builder_(host.builder), metrics_(host.metrics) {}
  /// Thread-safe. May throw std::bad_alloc; the task is then not taken.
  void add(std::function<void()> task);
  std::uint64_t begun() const { return begun_; }

 private:
  void run_one();

  const boost::asio::any_io_executor builder_;
  const std::shared_ptr<ModelMetrics> metrics_;
  std::atomic<std::uint64_t> begun_{0};
  std::mutex mutex_;
  std::deque<std::function<void()>> tasks_;  ///< the first one runs, or is about to
};

class OnnxEngine final : public Engine, public std::enable_shared_from_this<OnnxEngine> {
 public:
  /// Loads the file and builds the shapes that are known. Blocks. Throws Error.
  static std::shared_ptr<Engine> load(const EngineOrigin& origin, const EngineHost& host);

  const Signature& signature() const override { return signature_; }
  Future<EngineOutcome> infer(EngineRequest&& request) override;
  std::vector<Context> contexts() const override { return {context_}; }
  GraphCounts graphs() const override { return {sessions_.size(), imports_->begun()}; }
  std::string platform() const override { return "onnx_onnxv1"; }

 private:
  /// A run's outputs as the wire has them, or why there are none.
  using Finish = std::function<void(EngineOutcome&&)>;
  using UseSession = std::function<void(Result<onnx::Session>&&)>;

  OnnxEngine(const EngineOrigin& origin, EngineHost host, const onnx::Model& model,
             Context context);
  void warm();
  void build(const Bindings& bindings);
  /// Calls `use` once: at once if the session is there, else when it is built. May throw
  /// std::bad_alloc; `use` is then not called. `again`: a build without memory is tried once more,
  /// in that of the other sessions, which the library has dropped by then.
  void with_session(const Bindings& bindings, UseSession use, bool again = true);
  void run_alone(EngineRequest&& request, Finish finish);
  struct RunningBatch;
  void run_batch(Batch&& batch, std::function<void()> done);
  void run_joined(const std::shared_ptr<RunningBatch>& running, Finish finish);
  void run(const onnx::Session& session, EngineRequest&& request, const Finish& finish);
  EngineOutcome answer(const onnx::Session& session, Result<NamedBuffers> outputs,
                       std::chrono::nanoseconds computed, const std::string& label) const;

  const ModelConfig config_;
  const EngineHost host_;
  const Signature signature_;
  const Context context_;
  const std::shared_ptr<Imports> imports_;
  const onnx::Sessions sessions_;
  std::shared_ptr<Batcher> batcher_;  ///< null: requests are not joined
  std::atomic<std::uint64_t> runs_{0};
};

}  // namespace polychron::server
