// An ONNX model: a context of its own, and a graph for each shape.
//
// Owns: its context, so that its limits, lanes and losses are its own.
#pragma once

#include <atomic>
#include <memory>
#include <polychron/session.hpp>

#include "core/batcher.hpp"

namespace polychron::server {

class OnnxEngine final : public Engine, public std::enable_shared_from_this<OnnxEngine> {
 public:
  /// Loads the file and builds the shapes that are known. Blocks. Throws Error.
  static std::shared_ptr<Engine> load(const EngineOrigin& origin, const EngineHost& host);

  const Signature& signature() const override { return signature_; }
  Future<EngineOutcome> infer(EngineRequest&& request) override;
  std::vector<Context> contexts() const override { return {context_}; }
  Shapes::Counts shapes() const override { return shapes_->counts(); }
  std::string platform() const override { return "onnx_onnxv1"; }

 private:
  /// A run's outputs as the wire has them, or why there are none.
  using Finish = std::function<void(EngineOutcome&&)>;

  OnnxEngine(const EngineOrigin& origin, EngineHost host, onnx::Model model, Context context);
  void warm();
  void build(const Bindings& bindings);
  void run_alone(EngineRequest&& request, Finish finish);
  struct RunningBatch;
  void run_batch(Batch&& batch, std::function<void()> done);
  void run_joined(const std::shared_ptr<RunningBatch>& running, Finish finish);
  void run(const onnx::Session& session, EngineRequest&& request, const Finish& finish);
  EngineOutcome answer(const onnx::Session& session, Result<NamedBuffers> outputs,
                       std::chrono::nanoseconds computed, const std::string& label) const;

  const ModelConfig config_;
  const EngineHost host_;
  const onnx::Model model_;
  const Signature signature_;
  const Context context_;
  const std::shared_ptr<Shapes> shapes_;
  std::shared_ptr<Batcher> batcher_;  ///< null: requests are not joined
  std::atomic<std::uint64_t> runs_{0};
};

}  // namespace polychron::server
