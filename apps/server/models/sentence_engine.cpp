#include "models/sentence_engine.hpp"

#include <utility>

namespace polychron::server {

namespace {

/// The texts of a request, run by run.
struct SentenceJob {
  EngineRequest request;
  std::vector<SentenceModel::Run> runs;
  std::size_t next = 0;
  EngineAnswer answer;
  Promise<EngineOutcome> promise{};
};

class SentenceEngine final : public Engine, public std::enable_shared_from_this<SentenceEngine> {
 public:
  SentenceEngine(std::shared_ptr<Engine> engine, const EngineOrigin& origin)
      : engine_(std::move(engine)) {
    try {
      model_.emplace(origin.file.parent_path(), engine_->signature(), origin.config.context_length);
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& error) {
      why_none_ = error.what();  // tensors are served all the same
    }
  }

  const Signature& signature() const override { return engine_->signature(); }
  std::vector<Context> contexts() const override { return engine_->contexts(); }
  GraphCounts graphs() const override { return engine_->graphs(); }
  std::string platform() const override { return engine_->platform(); }
  const SentenceModel* sentence_model() const override { return model_ ? &*model_ : nullptr; }
  std::string why_no_sentences() const override { return why_none_; }

  Future<EngineOutcome> infer(EngineRequest&& request) override {
    if (!request.sentences) return engine_->infer(std::move(request));
    const auto job = std::make_shared<SentenceJob>();
    job->request = std::move(request);
    job->runs = model_->runs_of(*job->request.sentences);
    auto future = job->promise.future();
    run(job);
    return future;
  }

 private:
  void run(const std::shared_ptr<SentenceJob>& job) try {
    const auto& whole = job->request;
    EngineRequest part;
    part.label = whole.label;
    part.inputs = model_->inputs_of(job->runs[job->next], *whole.sentences);
    part.outputs = {model_->output()};
    for (const auto& each : part.inputs) part.bindings[each.name] = each.shape;
    part.deadline = whole.deadline;
    part.begin_by = job->next == 0 ? whole.begin_by : whole.deadline;
    part.cancellation = whole.cancellation;
    engine_->infer(std::move(part))
        .then([self = shared_from_this(), job](Result<EngineOutcome> outcome) {
          self->take(job, std::move(outcome));
        });
  } catch (...) {
    job->promise.resolve(current_refusal(job->request.label));
  }

  void take(const std::shared_ptr<SentenceJob>& job, Result<EngineOutcome> outcome) try {
    auto& answer = outcome.value().value();
    job->answer.computed += answer.computed;
    for (const auto& each : answer.outputs)
      if (each.name == model_->output())
        model_->take(job->runs[job->next], *job->request.sentences, each, job->answer.vectors);
    if (++job->next < job->runs.size()) return run(job);
    job->promise.resolve(std::move(job->answer));
  } catch (...) {
    job->promise.resolve(current_refusal(job->request.label));
  }

  const std::shared_ptr<Engine> engine_;
  std::optional<SentenceModel> model_;
  std::string why_none_;
};

}  // namespace

bool has_tokenizer(const EngineOrigin& origin) {
  std::error_code failed;
  return origin.file.filename() == "model.onnx" &&
         std::filesystem::exists(origin.file.parent_path() / "tokenizer.json", failed);
}

std::shared_ptr<Engine> with_sentences(std::shared_ptr<Engine> engine, const EngineOrigin& origin) {
  if (!has_tokenizer(origin)) return engine;
  return std::make_shared<SentenceEngine>(std::move(engine), origin);
}

}  // namespace polychron::server
