// A language model: a queue of generations, of which `chats` run at once and share steps.
//
// Owns: its context, as OnnxEngine does, and the generations that wait.
// Invariants: generations begin in the order in which they came; one that nobody waits for any more
// leaves the queue at the next token of another one.
#pragma once

#include <list>
#include <memory>
#include <mutex>

#include "models/engine.hpp"

namespace polychron::server {

class TextEngine final : public Engine, public std::enable_shared_from_this<TextEngine> {
 public:
  /// True for a file of GGUF, and for an ONNX model with a tokenizer and past keys and values.
  /// Throws Error.
  static bool takes(const EngineOrigin& origin);
  /// Loads the file and builds its graphs. Blocks. Throws Error.
  static std::shared_ptr<Engine> load(const EngineOrigin& origin, const EngineHost& host);

  /// `prompt` and `text`, BYTES [1]: a request without a Generation gets the most probable text.
  const Signature& signature() const override { return signature_; }
  Future<EngineOutcome> infer(EngineRequest&& request) override;
  std::vector<Context> contexts() const override { return {model_.context()}; }
  const text::Model* language_model() const override { return &model_; }
  std::string platform() const override { return platform_; }

 private:
  struct Job;
  using Jobs = std::list<std::shared_ptr<Job>>;

  TextEngine(const EngineHost& host, text::Model model, std::string platform);
  /// Begins those for which there is room.
  void begin();
  void run(const std::shared_ptr<Job>& job);
  void end(const std::shared_ptr<Job>& job, EngineOutcome&& outcome);
  /// Refuses those in the queue that nobody waits for any more.
  void drop_left();

  const Signature signature_;
  const std::shared_ptr<ModelMetrics> metrics_;
  TextMetrics& counts_;
  const text::Model model_;
  const std::string platform_;
  std::mutex mutex_;
  Jobs waiting_;  ///< oldest first
  std::size_t running_ = 0;
};

}  // namespace polychron::server
