// The loop goes on where the runtime runs callbacks. Between two steps it looks at the generations:
// some arrive, some are cancelled, some get a cache. Pieces of prompts and joint steps take turns,
// and within each kind the generations do.
#include "apps/text/scheduler.hpp"

#include <algorithm>
#include <coroutine>
#include <exception>
#include <optional>
#include <utility>

#include "apps/text/generation.hpp"
#include "apps/text/model_state.hpp"

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

/// The generations of a loop.
class Round {
 public:
  explicit Round(const ModelState& model) : model_(model) {}

  bool take() { return model_.scheduler.take(waiting_, !waiting_.empty() || !active_.empty()); }

  /// Ends those that were cancelled or are late, whether they wait or not.
  void drop_late() {
    for (auto* jobs : {&waiting_, &active_})
      for (auto each = jobs->begin(); each != jobs->end();) {
        const auto at = each++;
        try {
          (*at)->check_time(model_.now());
        } catch (...) {
          end(*jobs, at, (*at)->current_error());
        }
      }
  }

  /// The oldest one that waits, if there is room for it.
  Job* admissible() const {
    return waiting_.empty() || is_full_ || active_.size() == model_.chats ? nullptr
                                                                          : waiting_.front().get();
  }
  Future<Tensor> create_cache(const Job& job) const {
    auto context = model_.context;
    return context.create_tensor(TensorDescriptor{
        cache_descriptor(model_.sizes, model_.context_length), true, true, job.label()});
  }
  void admit() { active_.splice(active_.end(), waiting_, waiting_.begin()); }
  /// In a handler: there is no cache for the oldest one. It waits if memory may become free.
  void refuse_cache() {
    auto error = waiting_.front()->current_error();
    is_full_ = error.root().kind() == ErrorKind::out_of_memory && !active_.empty();
    if (!is_full_) end(waiting_, waiting_.begin(), std::move(error));
  }

  /// In a handler: nobody runs these.
  void refuse_all() {
    do
      while (!waiting_.empty()) end(waiting_, waiting_.begin(), waiting_.front()->current_error());
    while (take());
  }

  /// Chooses the generations of the next step. They go to the end of the line.
  bool choose() {
    chosen_.clear();
    std::vector<Jobs::iterator> pieces, singles;
    for (auto each = active_.begin(); each != active_.end(); ++each)
      ((*each)->next_rows() > 1 ? pieces : singles).push_back(each);
    is_piece_ = !pieces.empty() && (singles.empty() || !is_piece_);
    auto& ready = is_piece_ ? pieces : singles;
    const std::size_t most = is_piece_ ? 1 : model_.joint.back().shape.rows;
    ready.resize(std::min(ready.size(), most));
    chosen_.reserve(ready.size());
    for (const auto& at : ready) {
      chosen_.push_back(at->get());
      active_.splice(active_.end(), active_, at);
    }
    if (chosen_.empty()) return false;
    const auto rows = is_piece_ ? chosen_.front()->next_rows() : chosen_.size();
    step_ = &*std::ranges::find_if(is_piece_ ? model_.pieces : model_.joint,
                                   [&](const Step& step) { return step.shape.rows >= rows; });
    return true;
  }
  const std::vector<Job*>& chosen() const { return chosen_; }
  const Step& step() const { return *step_; }
  bool needs_logits() const { return std::ranges::any_of(chosen_, &Job::needs_logits); }

  /// Runs the chosen step.
  void dispatch() const {
    const auto& [shape, graph, own_inputs, new_rows, logits] = *step_;
    std::vector<StepRow> rows(shape.rows);
    std::vector<std::int32_t> lengths(shape.chats);
    auto inputs = own_inputs;
    for (std::uint32_t i = 0; i < shape.rows; ++i) {
      const Job* const job = shape.chats == 1     ? chosen_.front()
                             : i < chosen_.size() ? chosen_[i]
                                                  : nullptr;
      const auto token = shape.chats == 1 ? i : 0;
      if (job != nullptr) rows[i].position = job->cached() + token;
      if (job != nullptr && token < job->next_rows()) rows[i].token = job->next_token(token);
      if (i >= shape.chats) continue;
      lengths[i] = job == nullptr ? 0 : static_cast<std::int32_t>(job->cached());
      inputs.emplace_back(port::cache(i), job == nullptr ? model_.spare : job->cache);
    }
    auto context = model_.context;
    for (const auto& [name, tensor] : own_inputs)
      if (name == port::length) context.write_tensor(tensor, lengths);
    model_.network->write(context, own_inputs, rows);
    NamedTensors outputs{{port::rows, new_rows}};
    if (logits) outputs.emplace_back(port::logits, logits);
    const DispatchOptions options{.label = chosen_.size() == 1 ? chosen_.front()->label()
                                                               : model_.label};
    context.dispatch(graph, inputs, outputs, options);
  }

  /// Appends the new rows of a chosen generation, of which number `i` is its first.
  void append(std::size_t i, std::span<const std::byte> rows, std::span<std::byte> cache) const {
    chosen_[i]->append(rows, step_->shape.rows, static_cast<std::uint32_t>(i),
                       chosen_[i]->next_rows(), cache);
  }

  /// Adds tokens to the chosen ones whose tokens are all in the cache.
  void add_tokens(std::span<const float> logits) {
    const auto vocabulary = model_.tokenizer.size();
    for (std::size_t i = 0; i < chosen_.size(); ++i) {
      Job& job = *chosen_[i];
      if (!job.is_read()) continue;
      std::optional<Result<Generated>> outcome;
      try {
        job.check_time(model_.now());
        if (job.add_token(logits.subspan(i * vocabulary, vocabulary))) outcome.emplace(job.take());
      } catch (...) {
        outcome.emplace(job.current_error());
      }
      if (outcome) end(active_, place_of(*std::exchange(chosen_[i], nullptr)), std::move(*outcome));
    }
  }
  /// In a handler: the step failed, or there is no memory to choose one.
  void fail() {
    while (chosen_.empty() && !active_.empty())
      end(active_, active_.begin(), active_.front()->current_error());
    for (const Job* job : chosen_)
      if (job != nullptr) end(active_, place_of(*job), job->current_error());
  }

 private:
  Jobs::iterator place_of(const Job& job) {
    return std::ranges::find_if(active_, [&](const auto& each) { return each.get() == &job; });
  }

  /// Its memory is free when the caller hears of the end.
  void end(Jobs& jobs, Jobs::iterator at, Result<Generated>&& outcome) {
    const auto promise = (*at)->promise;
    jobs.erase(at);
    is_full_ = false;
    promise.settle(std::move(outcome));
  }

  const ModelState& model_;
  Jobs waiting_;  ///< for a cache; oldest first
  Jobs active_;   ///< have one; that whose last step is longest ago comes first
  bool is_full_ = false, is_piece_ = false;
  std::vector<Job*> chosen_;
  const Step* step_ = nullptr;
};

Detached run(std::shared_ptr<const ModelState> model) {
  Round round(*model);
  auto context = model->context;
  while (round.take()) {
    round.drop_late();
    while (Job* const job = round.admissible()) {
      try {
        job->cache = co_await later(round.create_cache(*job));
        round.admit();
      } catch (...) {
        round.refuse_cache();
      }
    }
    try {
      if (!round.choose()) continue;
      round.dispatch();
      const bool has_token = round.needs_logits();
      auto reading = has_token ? context.read_tensor(round.step().logits) : Future<Buffer>();
      const auto rows = co_await later(context.read_tensor(round.step().new_rows));
      for (std::size_t i = 0; i < round.chosen().size(); ++i) {
        auto lease = co_await later(context.export_tensor(round.chosen()[i]->cache));
        round.append(i, rows.bytes(), lease.bytes());
      }
      if (!has_token) continue;
      const auto logits = co_await later(std::move(reading));
      round.add_tokens(logits.as<float>());
    } catch (...) {
      round.fail();
    }
  }
}

}  // namespace

Scheduler::Scheduler() = default;
Scheduler::~Scheduler() = default;

bool Scheduler::add(std::unique_ptr<Job> job) {
  const std::lock_guard lock(mutex_);
  arrived_.push_back(std::move(job));
  return !std::exchange(has_loop_, true);
}

bool Scheduler::take(Jobs& to, bool goes_on) {
  const std::lock_guard lock(mutex_);
  has_loop_ = goes_on || !arrived_.empty();
  to.splice(to.end(), arrived_);
  return has_loop_;
}

Future<Generated> generate(std::shared_ptr<const ModelState> model, std::vector<TokenId> prompt,
                           const GenerateOptions& options) {
  auto job = std::make_unique<Job>(*model, std::move(prompt), options);
  auto generated = job->promise.future();
  if (!model->scheduler.add(std::move(job))) return generated;
  try {
    run(model);
  } catch (...) {  // there is no memory for the loop
    Round round(*model);
    round.refuse_all();
  }
  return generated;
}

}  // namespace polychron::text::detail
