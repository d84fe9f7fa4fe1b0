#include "models/onnx_engine.hpp"

#include <algorithm>
#include <bit>
#include <boost/asio/post.hpp>
#include <utility>

#include "models/joint.hpp"

namespace polychron::server {

using std::chrono::nanoseconds;

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

/// Rows of the graph that a batch of so many runs on: few graphs serve all sizes.
std::uint32_t padded(std::uint32_t rows, std::uint32_t most) {
  return std::min(std::bit_ceil(rows), most);
}

/// They are kept beside those of the shapes that come.
std::size_t graphs_of_batches(const ModelConfig& config) {
  return config.max_batch > 1 ? static_cast<std::size_t>(std::bit_width(config.max_batch)) : 0;
}

onnx::SessionsOptions options_of(const ModelConfig& config,
                                 const std::shared_ptr<Imports>& imports) {
  onnx::SessionsOptions options;
  options.most = config.shapes + graphs_of_batches(config);
  options.most_bytes = config.memory_limit;
  options.session.label = config.label;
  options.executor = [imports](std::function<void()> task) { imports->add(std::move(task)); };
  return options;
}

/// Every 16th run is measured step by step: its time is not the queue's.
constexpr std::uint64_t measured_runs = 16;

}  // namespace

/// A batch on its lane.
struct OnnxEngine::RunningBatch {
  Batch batch;
  std::uint32_t rows = 0;      ///< of the graph
  std::function<void()> done;  ///< frees the lane

  RunningBatch() = default;
  RunningBatch(const RunningBatch&) = delete;
  RunningBatch& operator=(const RunningBatch&) = delete;
  ~RunningBatch() {
    if (done) done();
  }
  /// Before the members are told. `late`: this call comes after run_batch() has returned. Else the
  /// loop does it.
  void free_lane(const boost::asio::any_io_executor& loop, bool late) noexcept {
    const auto call = std::exchange(done, nullptr);
    if (!late) try {
        return boost::asio::post(loop, call);
      } catch (const std::bad_alloc&) {
      }
    call();
  }
};

void Imports::add(std::function<void()> task) {
  const std::lock_guard lock(mutex_);
  tasks_.push_back(std::move(task));
  if (tasks_.size() > 1) return;
  try {
    boost::asio::post(builder_, [self = shared_from_this()] { self->run_one(); });
  } catch (const std::bad_alloc&) {
    tasks_.pop_back();
    throw;
  }
}

void Imports::run_one() {
  std::function<void()> task;
  {
    const std::lock_guard lock(mutex_);
    task.swap(tasks_.front());
  }
  ++begun_;
  metrics_->builds.Increment();
  task();
  for (;;) {
    task = nullptr;
    const std::lock_guard lock(mutex_);
    tasks_.pop_front();
    if (tasks_.empty()) return;
    try {
      return boost::asio::post(builder_, [self = shared_from_this()] { self->run_one(); });
    } catch (const std::bad_alloc&) {
      // It ends without the lock: the requests that wait for it hear of it.
      task.swap(tasks_.front());
    }
  }
}

OnnxEngine::OnnxEngine(const EngineOrigin& origin, EngineHost host, const onnx::Model& model,
                       Context context)
    : config_(origin.config),
      host_(std::move(host)),
      signature_(signature_of(model.summary(), config_)),
      context_(std::move(context)),
      imports_(std::make_shared<Imports>(host_)),
      sessions_(context_, model, options_of(config_, imports_)) {}

std::shared_ptr<Engine> OnnxEngine::load(const EngineOrigin& origin, const EngineHost& host) {
  const auto model = onnx::load(origin.file);
  const auto& config = origin.config;
  ContextOptions options;
  options.label = config.label;
  options.lanes = config.lanes;
  options.threads = config.threads;
  options.memory_limit = config.memory_limit;
  // The server's own limits come first. A build and a warm-up are operations too.
  constexpr std::uint64_t many = 65'536;
  options.max_in_flight = std::max(config.in_flight, many) + 16;
  options.admission = AdmissionPolicy::fail;
  auto context = host.runtime.create_context(options).get();
  std::shared_ptr<OnnxEngine> made(new OnnxEngine(origin, host, model, std::move(context)));
  if (config.max_batch > 1 && config.batch_window.count() > 0) {
    Batcher::check(made->signature_, config);
    // Each request in the batcher keeps the engine alive, so the bare pointer is safe.
    made->batcher_ = std::make_shared<Batcher>(
        config, host.loop, [engine = made.get()](Batch&& batch, std::function<void()> done) {
          engine->run_batch(std::move(batch), std::move(done));
        });
  }
  made->warm();
  return made;
}

void OnnxEngine::warm() {
  bool is_fixed = true;  // behind the dimension of the batch
  const std::size_t first = batcher_ ? 1 : 0;
  for (const auto& input : signature_.inputs)
    for (std::size_t i = first; i < input.dimensions.size(); ++i)
      is_fixed &= input.dimensions[i].value.has_value();
  auto warm = config_.warm;
  // A model without free dimensions has one graph: build it, so that a broken model never serves.
  if (warm.empty() && is_fixed && !batcher_) warm.emplace_back();
  for (const auto& each : warm) build(each);
  if (!batcher_ || !is_fixed) return;
  for (std::uint32_t rows = 1;; rows = padded(rows + 1, config_.max_batch)) {
    Bindings bindings;
    for (const auto& input : signature_.inputs) {
      auto& shape = bindings[input.name] = {rows};
      for (std::size_t i = 1; i < input.dimensions.size(); ++i)
        shape.push_back(*input.dimensions[i].value);
    }
    build(bindings);
    if (rows == config_.max_batch) return;
  }
}

void OnnxEngine::build(const Bindings& some) {
  auto bindings = some;
  for (const auto& [name, shape] : config_.bindings) bindings.emplace(name, shape);
  Promise<onnx::Session> promise;
  with_session(bindings, [promise](auto&& session) { promise.settle(std::move(session)); });
  promise.future().get().warm_up(config_.lanes).get();
}

void OnnxEngine::with_session(const Bindings& bindings, UseSession use, bool again) {
  auto future = sessions_.get(bindings);
  // Without a detour by the loop.
  if (future.ready()) return use(future.take());
  future.then([self = shared_from_this(), bindings, use = std::move(use),
               again = again && sessions_.size() > 1](Result<onnx::Session> session) {
    if (!session && again && session.error().root().kind() == ErrorKind::out_of_memory)
      self->with_session(bindings, use, false);
    else
      use(std::move(session));
  });
}

Future<EngineOutcome> OnnxEngine::infer(EngineRequest&& request) {
  Promise<EngineOutcome> promise;
  auto future = promise.future();
  const auto rows = batcher_ ? batcher_->rows_of(request) : 0;
  if (rows > 0)
    batcher_->add({std::move(request), rows, std::move(promise)});
  else
    run_alone(std::move(request), [promise = std::move(promise)](EngineOutcome&& outcome) {
      promise.resolve(std::move(outcome));
    });
  return future;
}

/// Without a copy of the request's bytes, and with its deadline and cancellation.
void OnnxEngine::run_alone(EngineRequest&& request, Finish finish) {
  const auto bindings = request.bindings;
  const auto owned = std::make_shared<EngineRequest>(std::move(request));
  with_session(bindings, [self = shared_from_this(), owned,
                          finish = std::move(finish)](Result<onnx::Session>&& session) {
    if (session)
      self->run(*session, std::move(*owned), finish);
    else
      finish(refusal_of(session.error(), true));
  });
}

void OnnxEngine::run_batch(Batch&& batch, std::function<void()> done) {
  const auto running = std::make_shared<RunningBatch>();
  // From here on nothing throws: `finish` has all that it needs.
  running->batch.swap(batch);
  running->done.swap(done);
  for (const auto& each : running->batch) running->rows += each.rows;
  const bool alone = running->batch.size() == 1;
  if (!alone) running->rows = padded(running->rows, config_.max_batch);
  const auto finish = [running, loop = host_.loop](EngineOutcome&& outcome) {
    running->free_lane(loop, std::holds_alternative<EngineAnswer>(outcome));
    settle(std::move(running->batch), std::move(outcome), running->rows);
  };
  try {
    if (alone) return run_alone(std::move(running->batch.front().request), finish);
    run_joined(running, finish);
  } catch (...) {
    finish(current_refusal(config_.label));
  }
}

void OnnxEngine::run_joined(const std::shared_ptr<RunningBatch>& running, Finish finish) {
  const auto size = running->batch.size();
  host_.metrics->joined.Increment(static_cast<double>(size - 1));
  const auto whole = std::make_shared<EngineRequest>(
      joined(running->batch, running->rows,
             config_.label + ", " + std::to_string(size) + " joined requests"));
  with_session(whole->bindings, [self = shared_from_this(), running, whole,
                                 finish = std::move(finish)](Result<onnx::Session>&& session) {
    if (session) return self->run(*session, std::move(*whole), finish);
    // The joined shape cannot be built; the members' own may be.
    running->free_lane(self->host_.loop, false);
    for (auto& member : running->batch) try {
        self->run_alone(std::move(member.request), [promise = member.promise](EngineOutcome&& one) {
          promise.resolve(std::move(one));
        });
      } catch (const std::bad_alloc&) {
        member.refuse(Status::unavailable, "out of memory");
      }
  });
}

void OnnxEngine::run(const onnx::Session& session, EngineRequest&& request,
                     const Finish& finish) try {
  const auto label = request.label;
  if (request.cancellation.cancelled())
    return finish(Refusal(Status::cancelled, label + ": cancelled before it started"));
  NamedBuffers inputs;
  for (auto& input : request.inputs) {
    if (input.bytes.size() == 0) continue;  // not an input of the graph
    inputs.emplace_back(input.name, to_operand(input.type, std::move(input.bytes)));
  }
  onnx::RunOptions options;
  options.label = label;
  options.deadline = request.begin_by;  // the library looks at it before it begins
  options.cancellation = request.cancellation;
  options.outputs = std::move(request.outputs);
  const auto end = [self = shared_from_this(), session, label, finish](Result<NamedBuffers> outputs,
                                                                       nanoseconds computed) {
    finish(self->answer(session, std::move(outputs), computed, label));
  };
  if (runs_.fetch_add(1, std::memory_order_relaxed) % measured_runs == 0)
    return session.profile(std::move(inputs), options).then([end](Result<onnx::Profile> profile) {
      auto [outputs, computed] = measured(std::move(profile));
      end(std::move(outputs), computed);
    });
  session.run(std::move(inputs), options).then([end](Result<NamedBuffers> outputs) {
    end(std::move(outputs), nanoseconds(0));
  });
} catch (...) {
  finish(current_refusal({}, true));
}

EngineOutcome OnnxEngine::answer(const onnx::Session& session, Result<NamedBuffers> outputs,
                                 nanoseconds computed, const std::string& label) const try {
  if (!outputs) return refusal_of(outputs.error());
  EngineAnswer answer{{}, computed};
  const auto& described = session.outputs();
  for (auto& [output, bytes] : *outputs) {
    const auto is_it = [&, &of = output](const auto& each) { return each.name == of; };
    const auto known = std::find_if(signature_.outputs.begin(), signature_.outputs.end(), is_it);
    const auto shape =
        std::find_if(described.begin(), described.end(),
                     [&, &of = output](const auto& each) { return each.first == of; });
    answer.outputs.push_back(
        {output, known->type, shape->second.shape, from_operand(known->type, std::move(bytes))});
  }
  return answer;
} catch (...) {
  return current_refusal(label);
}

}  // namespace polychron::server
