#include "core/model.hpp"

#include <algorithm>
#include <boost/asio/steady_timer.hpp>
#include <utility>

namespace polychron::server {

using Clock = std::chrono::steady_clock;
using std::chrono::nanoseconds;

/// A request between its admission and its outcome. It keeps the model alive, and its place among
/// those in flight until the device is done with it, also if the client was answered before.
struct Model::Call {
  explicit Call(std::shared_ptr<Model> of) : model(std::move(of)) {}
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  ~Call() { model->in_flight_.fetch_sub(1, std::memory_order_relaxed); }

  const std::shared_ptr<Model> model;
  InferRequest request;
  onnx::Session session;
  std::string label;
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

Future<Outcome> refused(Refusal refusal) {
  Promise<Outcome> promise;
  promise.resolve(Outcome(std::move(refusal)));
  return promise.future();
}

/// The time of the steps alone, in the other form of a run.
struct Measured {
  Result<NamedBuffers> outputs;
  nanoseconds computed{0};
};

Measured measured(Result<onnx::Profile> profile) {
  if (!profile) return {profile.error(), nanoseconds(0)};
  double seconds = 0;
  for (const auto& step : profile->steps) seconds += step.seconds;
  return {std::move(profile->outputs), nanoseconds(static_cast<std::int64_t>(seconds * 1e9))};
}

/// Every 16th run is measured step by step: its time is not the queue's.
constexpr std::uint64_t measured_runs = 16;

}  // namespace

Model::Model(Origin origin, ModelConfig config, Host host, onnx::Model model, Context context)
    : origin_(std::move(origin)),
      config_(std::move(config)),
      host_(std::move(host)),
      model_(std::move(model)),
      signature_(signature_of(model_.summary(), config_)),
      context_(std::move(context)),
      shapes_(std::make_shared<Shapes>(
          context_, model_, config_.label, config_.shapes, config_.memory_limit, host_.builder,
          [metrics = host_.metrics] { metrics->builds->Increment(); })) {}

std::shared_ptr<Model> Model::load(const Origin& origin, const ModelConfig& config,
                                   const Host& host) {
  auto named = config;
  if (named.label.empty()) named.label = printable(origin.name, 80);
  auto model = onnx::load(origin.file);
  ContextOptions options;
  options.label = named.label;
  options.lanes = named.lanes;
  options.threads = named.threads;
  options.memory_limit = named.memory_limit;
  // The server's own limit comes first. A build and a warm-up are operations too.
  options.max_in_flight = named.in_flight + 16;
  options.admission = AdmissionPolicy::fail;
  auto context = host.runtime.create_context(options).get();
  std::shared_ptr<Model> made(
      new Model(origin, std::move(named), host, std::move(model), std::move(context)));
  made->warm();
  return made;
}

void Model::warm() {
  auto warm = config_.warm;
  bool is_fixed = true;
  for (const auto& input : signature_.inputs)
    for (const auto& each : input.dimensions) is_fixed &= each.value.has_value();
  // A model without free dimensions has one graph: build it, so that a broken model never serves.
  if (warm.empty() && is_fixed) warm.emplace_back();
  for (auto& bindings : warm) {
    for (const auto& [name, shape] : config_.bindings) bindings.emplace(name, shape);
    Promise<onnx::Session> promise;
    shapes_->get(bindings, [&](Result<onnx::Session> r) { promise.settle(std::move(r)); });
    const auto session = promise.future().get();
    session.warm_up(config_.lanes).get();
  }
}

int Model::retry_after_s() const {
  const auto waiting = usual_time() * static_cast<std::int64_t>(in_flight()) / config_.lanes;
  return static_cast<int>(
      std::clamp<std::int64_t>(std::chrono::ceil<std::chrono::seconds>(waiting).count(), 1, 60));
}

Refusal Model::full(std::uint64_t in_flight) const {
  return {Status::too_many,
          "model '" + printable(name()) + "': " + std::to_string(in_flight) +
              " requests wait or run, at most " + std::to_string(config_.in_flight),
          retry_after_s()};
}

void Model::refuse_if_full() {
  const auto now = in_flight();
  if (now < config_.in_flight) return;
  host_.metrics->last_ms = now_ms();
  host_.metrics->failure.add(nanoseconds(0));
  throw full(now);
}

void Model::admit(const InferRequest& request, nanoseconds timeout) {
  const auto before = in_flight_.fetch_add(1, std::memory_order_relaxed);
  const auto refuse = [&](Refusal refusal) {
    in_flight_.fetch_sub(1, std::memory_order_relaxed);
    throw refusal;
  };
  if (before >= config_.in_flight) refuse(full(before));
  // A request that would only be found late is refused now, while its client can go elsewhere.
  const auto lanes = static_cast<std::uint64_t>(config_.lanes);
  if (timeout.count() > 0 && before >= lanes) {
    const auto wait = usual_time() * static_cast<std::int64_t>(before / lanes);
    if (wait > timeout)
      refuse({Status::too_many,
              "model '" + printable(name()) + "': request '" + printable(request.id, 64) +
                  "' would wait longer than its timeout of " +
                  std::to_string(timeout.count() / 1'000'000) + " ms",
              retry_after_s()});
  }
}

Future<Outcome> Model::infer(InferRequest&& request, const CallOptions& options) {
  const auto metrics = host_.metrics;
  metrics->last_ms = now_ms();
  const auto timeout = request.timeout ? nanoseconds(*request.timeout) : config_.timeout;
  std::shared_ptr<Call> call;
  Bindings bindings;
  try {
    bindings = check_request(request, signature_, config_, printable(name()));
    admit(request, timeout);
    call = std::make_shared<Call>(shared_from_this());
  } catch (Refusal& refusal) {
    metrics->failure.add(nanoseconds(0));
    return refused(std::move(refusal));
  }
  call->label = label_of(name(), request, options);
  call->cancellation = options.cancellation;
  call->request = std::move(request);
  auto future = call->promise.future();
  if (timeout.count() > 0) {
    call->deadline = call->begin + timeout;
    call->timer = std::make_unique<boost::asio::steady_timer>(host_.timers, *call->deadline);
    call->timer->async_wait([call, timeout](boost::system::error_code failed) {
      if (failed || call->settled) return;
      call->cancellation.cancel();
      call->model->settle(
          call, Refusal(Status::deadline, call->label + ": timed out after " +
                                              std::to_string(timeout.count() / 1'000'000) + " ms"));
    });
  }
  shapes_->get(bindings, [call](Result<onnx::Session> session) {
    if (session)
      call->model->run(call, call->session = *session);
    else
      call->model->settle(call, refusal_of(session.error(), true));
  });
  return future;
}

void Model::run(const std::shared_ptr<Call>& call, const onnx::Session& session) {
  try {
    if (call->cancellation.cancelled() && !call->settled)
      throw Refusal(Status::cancelled, call->label + ": cancelled before it started");
    if (call->settled) return;
    NamedBuffers inputs;
    std::size_t received = 0;
    for (auto& input : call->request.inputs) {
      received += input.bytes.size();
      if (input.bytes.size() == 0) continue;  // not an input of the graph
      inputs.emplace_back(input.name, to_operand(input.type, std::move(input.bytes)));
    }
    host_.metrics->received->Increment(static_cast<double>(received));
    onnx::RunOptions options;
    options.label = call->label;
    options.deadline = call->deadline;
    options.cancellation = call->cancellation;
    for (const auto& each : call->request.outputs) options.outputs.push_back(each.name);
    if (runs_.fetch_add(1, std::memory_order_relaxed) % measured_runs == 0)
      return session.profile(std::move(inputs), options)
          .then([call](Result<onnx::Profile> profile) {
            auto [outputs, computed] = measured(std::move(profile));
            call->model->finish(call, std::move(outputs), computed);
          });
    session.run(std::move(inputs), options).then([call](Result<NamedBuffers> outputs) {
      call->model->finish(call, std::move(outputs), nanoseconds(0));
    });
  } catch (const Error& error) {
    settle(call, refusal_of(error, true));
  } catch (const Refusal& refusal) {
    settle(call, Refusal(refusal));
  } catch (const std::bad_alloc&) {
    settle(call, Refusal(Status::unavailable, call->label + ": out of memory", 1));
  }
}

void Model::finish(const std::shared_ptr<Call>& call, Result<NamedBuffers> result,
                   nanoseconds computed) {
  if (!result) return settle(call, refusal_of(result.error()));
  const auto time = nanoseconds(Clock::now() - call->begin);
  const auto usual = usual_time();
  usual_ns_ = usual.count() == 0 ? time.count() : usual.count() + (time - usual).count() / 16;
  if (computed.count() > 0) {
    const auto queued = std::max(time - computed, nanoseconds(0));
    host_.metrics->compute->Observe(std::chrono::duration<double>(computed).count());
    host_.metrics->queue->Observe(std::chrono::duration<double>(queued).count());
    host_.metrics->computed.add(computed);
    host_.metrics->queued.add(queued);
  }
  try {
    InferAnswer answer{name(), std::to_string(version()), call->request.id, {}};
    std::size_t sent = 0;
    for (auto& [output, bytes] : *result) {
      const auto& all = signature_.outputs;
      const auto known = std::find_if(
          all.begin(), all.end(), [&, &of = output](const auto& each) { return each.name == of; });
      const auto& described = call->session.outputs();
      const auto shape =
          std::find_if(described.begin(), described.end(),
                       [&, &of = output](const auto& each) { return each.first == of; });
      auto wire = from_operand(known->type, std::move(bytes));
      sent += wire.size();
      answer.outputs.push_back({output, known->type, shape->second.shape, std::move(wire)});
    }
    host_.metrics->sent->Increment(static_cast<double>(sent));
    settle(call, std::move(answer));
  } catch (const Error& error) {
    settle(call, refusal_of(error));
  } catch (const std::bad_alloc&) {
    settle(call, Refusal(Status::unavailable, call->label + ": out of memory", 1));
  }
}

void Model::settle(const std::shared_ptr<Call>& call, Outcome&& outcome) {
  if (call->settled.exchange(true)) return;
  if (call->timer) call->timer->cancel();
  const auto time = nanoseconds(Clock::now() - call->begin);
  auto& metrics = *host_.metrics;
  metrics.total->Observe(std::chrono::duration<double>(time).count());
  (std::holds_alternative<InferAnswer>(outcome) ? metrics.success : metrics.failure).add(time);
  call->promise.resolve(std::move(outcome));
}

}  // namespace polychron::server
