#include "models/text_engine.hpp"

#include <algorithm>
#include <polychron/onnx.hpp>
#include <utility>

#include "models/sentence_engine.hpp"
#include "protocol/strings.hpp"

namespace polychron::server {

using Clock = std::chrono::steady_clock;

/// A generation from its request to its outcome.
struct TextEngine::Job {
  EngineRequest request;
  bool by_tensors = false;  ///< from `prompt` to `text`
  Promise<EngineOutcome> promise{};
  Clock::time_point last = Clock::now();  ///< it came, or its last piece of text did
  bool has_text = false;

  /// Why nobody waits for it any more.
  std::optional<Refusal> left(Clock::time_point now) const {
    if (request.cancellation.cancelled())
      return Refusal(Status::cancelled, request.label + ": cancelled before it started");
    if (request.begin_by && *request.begin_by < now)
      return Refusal(Status::deadline, request.label + ": timed out before it started");
    return std::nullopt;
  }
  /// A piece of text is there. A token gives one, except where it ends within a character.
  void note(TextMetrics& metrics) {
    const auto now = Clock::now();
    const auto seconds = std::chrono::duration<double>(now - std::exchange(last, now)).count();
    (std::exchange(has_text, true) ? metrics.between : metrics.first).Observe(seconds);
  }
};

namespace {

Signature text_signature() {
  const auto string = [](const char* name) {
    return SignatureTensor{name, WireType::bytes, {onnx::Dimension{1, ""}}};
  };
  return {{string("prompt")}, {string("text")}};
}

EngineAnswer text_answer(text::Generated generated, bool by_tensors) {
  EngineAnswer answer;
  if (by_tensors)
    answer.outputs.push_back({"text", WireType::bytes, {1}, bytes_of({generated.text})});
  answer.generated = std::move(generated);
  return answer;
}

}  // namespace

TextEngine::TextEngine(const EngineHost& host, text::Model model, std::string platform)
    : signature_(text_signature()),
      metrics_(host.metrics),
      counts_(metrics_->text()),
      model_(std::move(model)),
      platform_(std::move(platform)) {}

std::shared_ptr<Engine> TextEngine::load(const EngineOrigin& origin, const EngineHost& host) {
  const auto& config = origin.config;
  if (!config.bindings.empty() || !config.sizes.empty() || !config.warm.empty())
    throw Error(ErrorKind::bad_data, "'bindings', 'sizes' and 'warm' are not for language models");
  ContextOptions options;
  options.label = config.label;
  // One lane: texts share its steps.
  options.threads = config.threads;
  options.memory_limit = config.memory_limit;
  const auto context = host.runtime.create_context(options).get();
  auto model = text::Model::load(
      context, origin.file,
      {.label = config.label, .context_length = config.context_length, .chats = config.chats});
  return std::shared_ptr<Engine>(new TextEngine(
      host, std::move(model), origin.file.extension() == ".gguf" ? "gguf" : "onnx_onnxv1"));
}

bool TextEngine::takes(const EngineOrigin& origin) {
  if (origin.file.extension() == ".gguf") return true;
  if (!has_tokenizer(origin)) return false;
  const auto model = onnx::load(origin.file);
  const auto& inputs = model.summary().inputs;
  return std::any_of(inputs.begin(), inputs.end(),
                     [](const auto& each) { return each.name == "past_key_values.0.key"; });
}

Future<EngineOutcome> TextEngine::infer(EngineRequest&& request) {
  const auto job = std::make_shared<Job>(std::move(request));
  if (!job->request.generation) {
    job->by_tensors = true;
    auto& generation = job->request.generation.emplace();
    generation.prompt = strings_of(job->request.inputs.front()).front();
  }
  auto future = job->promise.future();
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(job);
    counts_.waiting.Increment();
  }
  begin();
  return future;
}

void TextEngine::begin() {
  for (;;) {
    std::shared_ptr<Job> job;
    {
      const std::lock_guard lock(mutex_);
      if (running_ == model_.chats() || waiting_.empty()) return;
      job = std::move(waiting_.front());
      waiting_.pop_front();
      ++running_;
      counts_.waiting.Decrement();
      counts_.running.Increment();
    }
    try {
      if (auto left = job->left(Clock::now())) throw *std::move(left);
      run(job);
    } catch (...) {
      end(job, current_refusal(job->request.label, true));
    }
  }
}

void TextEngine::run(const std::shared_ptr<Job>& job) {
  const auto& request = job->request;
  const auto& generation = *request.generation;
  auto options = generation.options;
  options.label = request.label;
  options.deadline = request.deadline;
  options.cancellation = request.cancellation;
  options.on_text = [self = shared_from_this(), job](std::string_view piece) {
    job->note(self->counts_);
    if (const auto& tell = job->request.generation->options.on_text) tell(piece);
    self->drop_left();
  };
  auto generated = generation.chat.empty() ? model_.generate(generation.prompt, options)
                                           : model_.generate(generation.chat, options);
  generated.then([self = shared_from_this(), job](Result<text::Generated> result) {
    if (result) {
      self->counts_.prompt_tokens.Increment(static_cast<double>(result->prompt_tokens));
      self->counts_.tokens.Increment(static_cast<double>(result->tokens.size()));
      self->end(job, text_answer(std::move(*result), job->by_tensors));
    } else {
      self->end(job, refusal_of(result.error(), true));
    }
    self->begin();
  });
}

void TextEngine::end(const std::shared_ptr<Job>& job, EngineOutcome&& outcome) {
  {
    const std::lock_guard lock(mutex_);
    --running_;
    counts_.running.Decrement();
  }
  job->promise.resolve(std::move(outcome));
}

void TextEngine::drop_left() {
  std::list<std::pair<std::shared_ptr<Job>, Refusal>> dropped;
  {
    const std::lock_guard lock(mutex_);
    const auto now = Clock::now();
    for (auto each = waiting_.begin(); each != waiting_.end();)
      if (auto left = (*each)->left(now)) {
        dropped.emplace_back(std::move(*each), *std::move(left));
        each = waiting_.erase(each);
        counts_.waiting.Decrement();
      } else {
        ++each;
      }
  }
  for (auto& [job, refusal] : dropped) job->promise.resolve(EngineOutcome(std::move(refusal)));
}

}  // namespace polychron::server
