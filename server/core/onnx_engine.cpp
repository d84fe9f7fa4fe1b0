#include "core/onnx_engine.hpp"

#include <algorithm>
#include <utility>

namespace polychron::server {

using std::chrono::nanoseconds;

/// A request from its arrival to its outcome.
struct OnnxEngine::Run {
  std::shared_ptr<OnnxEngine> engine;
  EngineRequest request;
  onnx::Session session{};
  Promise<EngineOutcome> promise{};
};

namespace {

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

OnnxEngine::OnnxEngine(const EngineOrigin& origin, EngineHost host, onnx::Model model,
                       Context context)
    : config_(origin.config),
      host_(std::move(host)),
      model_(std::move(model)),
      signature_(signature_of(model_.summary(), config_)),
      context_(std::move(context)),
      shapes_(std::make_shared<Shapes>(
          context_, model_, config_.label, config_.shapes, config_.memory_limit, host_.builder,
          [metrics = host_.metrics] { metrics->builds->Increment(); })) {}

std::shared_ptr<Engine> OnnxEngine::load(const EngineOrigin& origin, const EngineHost& host) {
  auto model = onnx::load(origin.file);
  const auto& config = origin.config;
  ContextOptions options;
  options.label = config.label;
  options.lanes = config.lanes;
  options.threads = config.threads;
  options.memory_limit = config.memory_limit;
  // The server's own limit comes first. A build and a warm-up are operations too.
  options.max_in_flight = config.in_flight + 16;
  options.admission = AdmissionPolicy::fail;
  auto context = host.runtime.create_context(options).get();
  std::shared_ptr<OnnxEngine> made(
      new OnnxEngine(origin, host, std::move(model), std::move(context)));
  made->warm();
  return made;
}

void OnnxEngine::warm() {
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

Future<EngineOutcome> OnnxEngine::infer(EngineRequest&& request) {
  const auto run = std::make_shared<Run>(Run{shared_from_this(), std::move(request)});
  auto future = run->promise.future();
  shapes_->get(run->request.bindings, [run](Result<onnx::Session> session) {
    if (session)
      run->engine->start(run, run->session = *session);
    else
      run->promise.resolve(EngineOutcome(refusal_of(session.error(), true)));
  });
  return future;
}

void OnnxEngine::start(const std::shared_ptr<Run>& run, const onnx::Session& session) {
  const auto refuse = [&](Refusal refusal) {
    run->promise.resolve(EngineOutcome(std::move(refusal)));
  };
  auto& request = run->request;
  if (request.cancellation.cancelled())
    return refuse({Status::cancelled, request.label + ": cancelled before it started"});
  try {
    NamedBuffers inputs;
    for (auto& input : request.inputs) {
      if (input.bytes.size() == 0) continue;  // not an input of the graph
      inputs.emplace_back(input.name, to_operand(input.type, std::move(input.bytes)));
    }
    onnx::RunOptions options;
    options.label = request.label;
    options.deadline = request.deadline;
    options.cancellation = request.cancellation;
    options.outputs = request.outputs;
    const auto finish = [run](Result<NamedBuffers> outputs, nanoseconds computed) {
      run->promise.resolve(answer(*run, std::move(outputs), computed));
    };
    if (runs_.fetch_add(1, std::memory_order_relaxed) % measured_runs == 0)
      return session.profile(std::move(inputs), options)
          .then([finish](Result<onnx::Profile> profile) {
            auto [outputs, computed] = measured(std::move(profile));
            finish(std::move(outputs), computed);
          });
    session.run(std::move(inputs), options).then([finish](Result<NamedBuffers> outputs) {
      finish(std::move(outputs), nanoseconds(0));
    });
  } catch (const Error& error) {
    refuse(refusal_of(error, true));
  } catch (const std::bad_alloc&) {
    refuse({Status::unavailable, request.label + ": out of memory", 1});
  }
}

EngineOutcome OnnxEngine::answer(const Run& run, Result<NamedBuffers> outputs,
                                 nanoseconds computed) try {
  if (!outputs) return refusal_of(outputs.error());
  EngineAnswer answer{{}, computed};
  const auto& signature = run.engine->signature_.outputs;
  const auto& described = run.session.outputs();
  for (auto& [output, bytes] : *outputs) {
    const auto is_it = [&, &of = output](const auto& each) { return each.name == of; };
    const auto known = std::find_if(signature.begin(), signature.end(), is_it);
    const auto shape =
        std::find_if(described.begin(), described.end(),
                     [&, &of = output](const auto& each) { return each.first == of; });
    answer.outputs.push_back(
        {output, known->type, shape->second.shape, from_operand(known->type, std::move(bytes))});
  }
  return answer;
} catch (const Error& error) {
  return refusal_of(error);
} catch (const std::bad_alloc&) {
  return Refusal(Status::unavailable, run.request.label + ": out of memory", 1);
}

}  // namespace polychron::server
