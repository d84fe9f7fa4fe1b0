// A generation: a coroutine that runs a graph for each token. It goes on where the runtime runs
// callbacks, one step after the other, and shares nothing that changes with other generations.
#include <algorithm>
#include <array>
#include <cmath>
#include <coroutine>
#include <cstring>
#include <exception>
#include <optional>
#include <utility>

#include "apps/text/model_state.hpp"
#include "apps/text/pieces.hpp"
#include "apps/text/sampler.hpp"
#include "polychron/invariant.hpp"

namespace polychron::text::detail {

namespace {

/// A coroutine that nobody awaits.
struct Detached {
  struct promise_type {
    Detached get_return_object() const noexcept { return {}; }
    std::suspend_never initial_suspend() const noexcept { return {}; }
    std::suspend_never final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() const noexcept { std::terminate(); }  // all are caught
  };
};

/// Awaits a reply, and goes on where callbacks run even if the reply is there: so generate()
/// returns at once.
template <class T>
struct Later {
  Future<T> future;
  std::optional<Result<T>> result{};

  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> waiting) {
    auto own = std::move(future);  // the coroutine may go on, and end, before then() returns
    std::move(own).then([this, waiting](Result<T> settled) {
      result.emplace(std::move(settled));
      waiting.resume();
    });
  }
  T await_resume() { return std::move(*result).value(); }
};
template <class T>
Later<T> later(Future<T> future) {
  return {std::move(future)};
}

/// The tensors of a graph's runs.
struct Ports {
  Graph graph;
  std::uint32_t rows = 0;
  Tensor embedding, angles, length, new_rows, logits;
};

/// What a generation has of its own.
struct Job {
  Job(std::shared_ptr<const ModelState> of, std::vector<TokenId> prompt,
      const GenerateOptions& given)
      : model(std::move(of)),
        tokens(std::move(prompt)),
        options(given),
        sampler(given),
        pieces(given.stop, given.on_text) {
    generated.prompt_tokens = static_cast<std::uint32_t>(tokens.size());
  }

  const std::shared_ptr<const ModelState> model;
  std::vector<TokenId> tokens;  ///< of the prompt and the text
  std::uint32_t cached = 0;     ///< of these, those whose keys and values are in the cache
  const GenerateOptions options;
  Sampler sampler;
  Pieces pieces;
  Generated generated;
  Promise<Generated> promise;
  Tensor cache;
  Ports one, several;
};

OperandDescriptor float_tensor(Shape shape) { return {DataType::float32, std::move(shape)}; }

struct Creation {
  Tensor* where;
  Future<Tensor> tensor;
};

/// Begins to create the tensors of a job.
std::vector<Creation> create_tensors(Job& job) {
  const auto& model = *job.model;
  std::vector<Creation> all;
  const auto create = [&](Tensor& where, OperandDescriptor descriptor, bool readable,
                          bool writable) {
    auto context = model.context;
    all.push_back({&where, context.create_tensor(TensorDescriptor{std::move(descriptor), readable,
                                                                  writable, job.options.label})});
  };
  const auto create_ports = [&](Ports& ports, const Graph& graph, std::uint32_t rows) {
    ports.graph = graph;
    ports.rows = rows;
    create(ports.embedding, float_tensor({rows, model.sizes.width}), false, true);
    create(ports.angles, float_tensor({2 * rows, 1, model.sizes.features / 2}), false, true);
    create(ports.length, {DataType::int32, {1}}, false, true);
    create(ports.new_rows, cache_descriptor(model.sizes, {1, rows}), true, false);
  };
  create(job.cache, cache_descriptor(model.sizes, {1, model.context_length}), true, true);
  create_ports(job.one, model.one_row, 1);
  const auto vocabulary = static_cast<std::uint32_t>(model.tokenizer.size());
  create(job.one.logits, float_tensor({1, vocabulary}), true, false);
  if (job.tokens.size() > 2) create_ports(job.several, model.several_rows, prompt_rows);
  return all;
}

void check_time(const Job& job) {
  if (job.options.cancellation && job.options.cancellation->cancelled())
    throw Error(ErrorKind::aborted, "the generation was cancelled");
  if (job.options.deadline && std::chrono::steady_clock::now() >= *job.options.deadline)
    throw Error(ErrorKind::timed_out, "the deadline passed before the text's end");
}

/// Cosines, then sines, for `rows` positions, of which the first is `first`.
std::vector<float> angles_of(const DecoderSizes& sizes, std::uint32_t first, std::uint32_t rows) {
  const auto half = sizes.features / 2;
  std::vector<float> values(std::size_t{2} * rows * half);
  for (std::uint32_t row = 0; row < rows; ++row)
    for (std::uint32_t i = 0; i < half; ++i) {
      const auto angle = (first + row) * std::pow(sizes.base, -2.0 * i / sizes.features);
      values[row * half + i] = static_cast<float>(std::cos(angle));
      values[(rows + row) * half + i] = static_cast<float>(std::sin(angle));
    }
  return values;
}

/// Runs a graph on the next `count` tokens.
void dispatch(const Job& job, const Ports& ports, std::uint32_t count) {
  const auto& model = *job.model;
  auto context = model.context;
  const auto width = model.sizes.width;
  std::vector<float> embedding(std::size_t{ports.rows} * width);  // rows behind `count` are zeros
  for (std::uint32_t i = 0; i < count; ++i)
    model.embedding.row(job.tokens[job.cached + i],
                        std::span(embedding).subspan(std::size_t{i} * width, width));
  context.write_tensor(ports.embedding, embedding);
  context.write_tensor(ports.angles, angles_of(model.sizes, job.cached, ports.rows));
  context.write_tensor(ports.length, std::array{static_cast<std::int32_t>(job.cached)});
  const NamedTensors inputs{{port::embedding, ports.embedding},
                            {port::angles, ports.angles},
                            {port::length, ports.length},
                            {port::cache, job.cache}};
  NamedTensors outputs{{port::rows, ports.new_rows}};
  if (ports.logits) outputs.emplace_back(port::logits, ports.logits);
  const DispatchOptions options{.label = job.options.label};
  context.dispatch(ports.graph, inputs, outputs, options);
}

/// Copies the first `count` of the new rows behind those in the cache.
void append(Job& job, const Ports& ports, std::uint32_t count, std::span<const std::byte> rows,
            std::span<std::byte> cache) {
  const auto& sizes = job.model->sizes;
  const auto row = sizes.features * sizeof(float);
  const auto from = ports.rows * row, to = job.model->context_length * row;
  const std::size_t heads = std::size_t{2} * sizes.layers * sizes.groups;
  check_invariant(rows.size() == heads * from && cache.size() == heads * to &&
                      job.cached + count <= job.model->context_length,
                  "new keys and values fit behind those in the cache");
  for (std::size_t i = 0; i < heads; ++i)
    std::memcpy(cache.data() + i * to + job.cached * row, rows.data() + i * from, count * row);
  job.cached += count;
}

/// Adds the next token. True if the text ends.
bool add_token(Job& job, std::span<const float> logits) {
  auto& generated = job.generated;
  const auto token = job.sampler.choose(logits);
  if (job.model->tokenizer.ends(token)) return true;
  generated.tokens.push_back(token);
  if (job.pieces.add(job.model->tokenizer.bytes_of(token))) return true;
  job.tokens.push_back(token);
  if (generated.tokens.size() < job.options.max_tokens &&
      job.tokens.size() <= job.model->context_length)
    return false;
  generated.reason = FinishReason::length;
  return true;
}

/// The exception that is being handled. Never throws: nobody could hear of it.
Error current_error(const Job& job) {
  const auto named = [&](const Error& error) {
    return error.with_operation("generate", job.options.label)
        .with_object("model '" + job.model->label + "'");
  };
  try {
    try {
      throw;
    } catch (const Error& error) {
      return named(error);
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& exception) {
      return named(Error(ErrorKind::operation_error, exception.what()));
    } catch (...) {
      return named(Error(ErrorKind::operation_error, "on_text threw an exception"));
    }
  } catch (const std::bad_alloc&) {
    return polychron::detail::out_of_memory_error();
  }
}

Detached run(std::unique_ptr<Job> own) {
  std::optional<Result<Generated>> outcome;
  try {
    auto& job = *own;
    auto context = job.model->context;
    auto creations = create_tensors(job);
    for (auto& creation : creations) *creation.where = co_await later(std::move(creation.tensor));
    for (bool ended = false; !ended;) {
      check_time(job);
      // The last token goes alone: only its logits are of use.
      const auto left = static_cast<std::uint32_t>(job.tokens.size()) - job.cached;
      const auto count = left < 3 ? 1 : std::min(left - 1, prompt_rows);
      const auto& ports = count == 1 ? job.one : job.several;
      dispatch(job, ports, count);
      auto reading = left == 1 ? context.read_tensor(ports.logits) : Future<Buffer>();
      const auto rows = co_await later(context.read_tensor(ports.new_rows));
      auto lease = co_await later(context.export_tensor(job.cache));
      append(job, ports, count, rows.bytes(), lease.bytes());
      lease.return_now();
      if (left > 1) continue;
      const auto logits = co_await later(std::move(reading));
      check_time(job);
      ended = add_token(job, logits.as<float>());
    }
    job.pieces.finish();
    job.generated.text = job.pieces.take();
    outcome.emplace(std::move(job.generated));
  } catch (...) {
    outcome.emplace(current_error(*own));
  }
  // Its memory is free when the caller hears of the end.
  const auto promise = own->promise;
  own.reset();
  promise.settle(std::move(*outcome));
}

}  // namespace

Future<Generated> generate(std::shared_ptr<const ModelState> model, std::vector<TokenId> prompt,
                           const GenerateOptions& options) {
  using polychron::detail::refuse;
  if (prompt.empty()) refuse(ErrorKind::type_error, "the prompt has no tokens");
  if (prompt.size() > model->context_length)
    refuse(ErrorKind::type_error, "the prompt has " + std::to_string(prompt.size()) +
                                      " tokens: expected at most " +
                                      std::to_string(model->context_length));
  if (options.max_tokens == 0) refuse(ErrorKind::type_error, "max_tokens: expected 1 or more");
  auto job = std::make_unique<Job>(std::move(model), std::move(prompt), options);
  auto generated = job->promise.future();
  run(std::move(job));
  return generated;
}

}  // namespace polychron::text::detail
