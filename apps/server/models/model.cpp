#include "models/model.hpp"

#include <algorithm>
#include <boost/asio/steady_timer.hpp>
#include <limits>
#include <polychron/invariant.hpp>
#include <utility>

#include "models/onnx_engine.hpp"
#include "models/sentence_engine.hpp"
#include "models/text_engine.hpp"

namespace polychron::server {

using Clock = std::chrono::steady_clock;
using std::chrono::nanoseconds;

/// A request between its admission and its outcome. It keeps the model alive, and its place among
/// those in flight until the engine is done with it, also if the client was answered before.
struct Model::Call {
  explicit Call(std::shared_ptr<Model> of) : model(std::move(of)) {
    ++model->metrics()->unfinished;
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  ~Call() {
    leave();
    --model->metrics()->unfinished;
  }
  /// Frees its place. Before the client hears of its answer: its next request would find it taken.
  void leave() {
    if (admitted.exchange(false)) model->in_flight_.fetch_sub(1, std::memory_order_relaxed);
  }

  const std::shared_ptr<Model> model;
  std::atomic<bool> admitted{false};
  std::uint64_t ahead = 0;  ///< requests in flight when it came
  std::string label, id;
  std::vector<std::string> outputs;  ///< the wanted ones
  bool has_tensors = true;           ///< as outputs
  Cancellation cancellation;
  Clock::time_point begin = Clock::now();
  std::optional<Clock::time_point> deadline;
  std::unique_ptr<boost::asio::steady_timer> timer;
  Promise<Outcome> promise;
  std::atomic<bool> settled{false};
};

namespace {

std::string label_of(const std::string& model, const InferRequest& request,
                     const CallOptions& options) {
  std::string label = "model '" + printable(model, 80) + "', request";
  if (!request.id.empty()) label += " '" + printable(request.id, 64) + "'";
  if (!options.trace.empty()) label += " of trace " + printable(options.trace, 64);
  return label;
}

std::uint64_t now_ms() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(since).count());
}

/// The time until a request's end, with so many ahead of it.
nanoseconds expected(std::uint64_t ahead, int lanes, nanoseconds usual) {
  return usual * static_cast<std::int64_t>(ahead / static_cast<std::uint64_t>(lanes) + 1);
}

/// Bursts of many clients are no overload: beyond its places a queue may have the work of this
/// time.
constexpr std::chrono::milliseconds short_wait(250);

bool is_full(std::uint64_t ahead, const ModelConfig& config, nanoseconds usual) {
  if (ahead < config.in_flight) return false;
  return usual.count() == 0 || expected(ahead, config.lanes, usual) > short_wait;
}

Future<Outcome> refused(Refusal refusal) {
  Promise<Outcome> promise;
  promise.resolve(Outcome(std::move(refusal)));
  return promise.future();
}

double size_of(const std::vector<WireTensor>& tensors) {
  double size = 0;
  for (const auto& each : tensors) size += static_cast<double>(each.bytes.size());
  return size;
}

std::string names_of(const EngineMakers& makers) {
  std::string names;
  for (const auto& [name, make] : makers) names += (names.empty() ? "'" : ", '") + name + "'";
  return names.empty() ? "none" : names;
}

}  // namespace

Model::Model(EngineOrigin origin, std::uint64_t version, EngineHost host,
             std::shared_ptr<Engine> engine)
    : origin_(std::move(origin)),
      version_(version),
      host_(std::move(host)),
      engine_(std::move(engine)) {}

std::shared_ptr<Model> Model::load(EngineOrigin origin, std::uint64_t version,
                                   const EngineHost& host, const EngineMakers& makers) {
  auto& config = origin.config;
  if (config.label.empty()) config.label = printable(origin.name, 80);
  std::shared_ptr<Engine> engine;
  if (config.code.empty()) {
    if (!config.parameters.empty())
      throw Error(ErrorKind::bad_data, "'parameters' are for models made of code");
    if (TextEngine::takes(origin)) {
      engine = TextEngine::load(origin, host);
    } else {
      if (has_tokenizer(origin)) config.shapes = std::max(config.shapes, SentenceModel::graphs);
      engine = with_sentences(OnnxEngine::load(origin, host), origin);
    }
  } else {
    const auto code = makers.find(config.code);
    if (code == makers.end())
      throw Error(ErrorKind::not_supported, "code '" + printable(config.code, 40) +
                                                "' is unknown; this server has " +
                                                names_of(makers));
    engine = code->second(origin, host);
  }
  return std::shared_ptr<Model>(new Model(std::move(origin), version, host, std::move(engine)));
}

Model::Usage Model::usage() const {
  Usage usage;
  for (const auto& context : engine_->contexts()) {
    const auto stats = context.stats();
    usage.bytes += stats.bytes;
    usage.lanes_busy += stats.running.size();
  }
  return usage;
}

int Model::retry_after_s() const {
  const auto waiting = usual_time() * static_cast<std::int64_t>(in_flight()) / config().lanes;
  return static_cast<int>(
      std::clamp<std::int64_t>(std::chrono::ceil<std::chrono::seconds>(waiting).count(), 1, 60));
}

Refusal Model::full(std::uint64_t in_flight) const {
  return {Status::too_many,
          "model '" + printable(name()) + "': " + std::to_string(in_flight) +
              " requests wait or run, at most " + std::to_string(config().in_flight) +
              ", or the work of " + std::to_string(short_wait.count()) + " ms",
          retry_after_s()};
}

void Model::refuse_if_full() {
  const auto now = in_flight();
  if (!is_full(now, config(), usual_time())) return;
  host_.metrics->last_ms = now_ms();
  host_.metrics->failure.add(nanoseconds(0));
  throw full(now);
}

std::uint64_t Model::admit(const InferRequest& request, nanoseconds timeout) {
  const auto before = in_flight_.fetch_add(1, std::memory_order_relaxed);
  check_invariant(before <= std::numeric_limits<std::uint64_t>::max() / 2,
                  "each request leaves once");
  check_invariant(config().lanes > 0, "a model has a lane");
  const auto refuse = [&](Refusal refusal) {
    in_flight_.fetch_sub(1, std::memory_order_relaxed);
    throw refusal;
  };
  if (is_full(before, config(), usual_time())) refuse(full(before));
  // A request that would only be found late is refused now, while its client can go elsewhere.
  const bool waits = before >= static_cast<std::uint64_t>(config().lanes);
  if (timeout.count() > 0 && waits && expected(before, config().lanes, usual_time()) > timeout)
    refuse({Status::too_many,
            "model '" + printable(name()) + "': request '" + printable(request.id, 64) +
                "' would wait longer than its timeout of " +
                std::to_string(timeout.count() / 1'000'000) + " ms",
            retry_after_s()});
  return before;
}

Future<Outcome> Model::infer(InferRequest&& request, const CallOptions& options) {
  const auto metrics = host_.metrics;
  metrics->last_ms = now_ms();
  const auto timeout = request.timeout ? nanoseconds(*request.timeout) : config().timeout;
  std::shared_ptr<Call> call;
  EngineRequest wanted;
  try {
    if (!request.generation && !request.sentences)
      wanted.bindings = check_request(request, signature(), config(), printable(name()));
    call = std::make_shared<Call>(shared_from_this());
    call->ahead = admit(request, timeout);
    call->admitted = true;
  } catch (Refusal& refusal) {
    metrics->failure.add(nanoseconds(0));
    return refused(std::move(refusal));
  }
  call->label = wanted.label = label_of(name(), request, options);
  call->id = request.id;
  for (const auto& each : request.outputs) wanted.outputs.push_back(each.name);
  call->outputs = wanted.outputs;
  call->cancellation = wanted.cancellation = options.cancellation;
  if (timeout.count() > 0) bound(call, timeout);
  wanted.deadline = wanted.begin_by = call->deadline;
  // One that has waited is not begun if it would end too late: the lane is for those behind it.
  if (wanted.begin_by && call->ahead >= static_cast<std::uint64_t>(config().lanes))
    *wanted.begin_by -= usual_time();
  call->has_tensors = !request.generation && !request.sentences;
  wanted.inputs = std::move(request.inputs);
  wanted.generation = std::move(request.generation);
  wanted.sentences = std::move(request.sentences);
  metrics->received.Increment(size_of(wanted.inputs));
  auto future = call->promise.future();
  start(call, std::move(wanted));
  return future;
}

/// Answers the call when its time is over, if nothing else did.
void Model::bound(const std::shared_ptr<Call>& call, nanoseconds timeout) {
  call->deadline = call->begin + timeout;
  call->timer = std::make_unique<boost::asio::steady_timer>(host_.loop, *call->deadline);
  call->timer->async_wait([call, timeout](boost::system::error_code failed) {
    if (failed || call->settled) return;
    call->cancellation.cancel();
    call->model->settle(
        call, Refusal(Status::deadline, call->label + ": timed out after " +
                                            std::to_string(timeout.count() / 1'000'000) + " ms"));
  });
}

void Model::start(const std::shared_ptr<Call>& call, EngineRequest&& request) {
  try {
    engine_->infer(std::move(request)).then([call](Result<EngineOutcome> outcome) {
      call->model->take(call, std::move(outcome));
    });
  } catch (...) {
    settle(call, current_refusal(call->label));
  }
}

void Model::take(const std::shared_ptr<Call>& call, Result<EngineOutcome>&& outcome) try {
  call->leave();
  auto& answer = outcome.value().value();
  note_time(*call, answer.computed);
  InferAnswer made{name(), std::to_string(version_),    call->id,
                   {},     std::move(answer.generated), std::move(answer.vectors)};
  if (call->has_tensors)
    made.outputs = checked_outputs(std::move(answer.outputs), call->outputs, signature(), name());
  host_.metrics->sent.Increment(size_of(made.outputs));
  settle(call, std::move(made));
} catch (...) {
  settle(call, current_refusal(call->label));
}

void Model::note_time(const Call& call, nanoseconds computed) {
  const auto time = nanoseconds(Clock::now() - call.begin);
  const auto usual = usual_time();
  // Those ahead ran in the same time.
  const auto lanes = static_cast<std::uint64_t>(config().lanes);
  const auto own =
      time * static_cast<std::int64_t>(lanes) / static_cast<std::int64_t>(lanes + call.ahead);
  usual_ns_ = usual.count() == 0 ? own.count() : usual.count() + (own - usual).count() / 16;
  if (computed.count() == 0) return;
  const auto queued = std::max(time - computed, nanoseconds(0));
  host_.metrics->compute.Observe(std::chrono::duration<double>(computed).count());
  host_.metrics->queue.Observe(std::chrono::duration<double>(queued).count());
  host_.metrics->computed.add(computed);
  host_.metrics->queued.add(queued);
}

void Model::settle(const std::shared_ptr<Call>& call, Outcome&& outcome) {
  if (call->settled.exchange(true)) return;
  if (call->timer) call->timer->cancel();
  const auto time = nanoseconds(Clock::now() - call->begin);
  auto& metrics = *host_.metrics;
  metrics.total.Observe(std::chrono::duration<double>(time).count());
  (std::holds_alternative<InferAnswer>(outcome) ? metrics.success : metrics.failure).add(time);
  call->promise.resolve(std::move(outcome));
}

}  // namespace polychron::server
