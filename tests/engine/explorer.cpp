#include "tests/engine/explorer.hpp"

#include <algorithm>
#include <exception>
#include <limits>
#include <utility>

namespace testing::exploring {

namespace {

constexpr std::size_t stack_bytes = 64 << 10, most_steps = 5000;

}  // namespace

Explorer::Found Explorer::search(int bound, const std::function<void(Explorer&)>& program) {
  Found found;
  current_ = this;
  path_.clear();
  do {
    depth_ = running_ = steps_ = 0;
    costs_left_ = bound;
    now_ = 1;
    on_time_ = true;
    failure_.clear();
    for (auto& thread : threads_) stacks_.push_back(std::move(thread->stack));
    threads_.clear();
    spawn("main", [&] { program(*this); });
    swapcontext(&outside_, &threads_[0]->context);
    ++found.runs;
  } while (failure_.empty() && next_path());
  found.failure = failure_;
  return found;
}

bool Explorer::next_path() {
  path_.resize(depth_);
  while (!path_.empty() && path_.back().chosen + 1 == path_.back().options) path_.pop_back();
  if (path_.empty()) return false;
  ++path_.back().chosen;
  return true;
}

std::size_t Explorer::choose(std::size_t options) {
  if (options == 1) return 0;
  if (depth_ == path_.size()) path_.push_back({0, options});
  if (path_[depth_].options != options) fail("the program is not deterministic");
  return path_[depth_++].chosen;
}

void Explorer::enter() {
  auto& thread = *here().threads_[here().running_];
  try {
    thread.body();
  } catch (const std::exception& e) {
    here().fail(std::string("thrown: ") + e.what());
  }
  thread.body = nullptr;
  thread.ended = true;
  here().wake_all(&thread);
  here().reschedule(false, true);
}

std::size_t Explorer::spawn(std::string name, std::function<void()> body) {
  auto thread = std::make_unique<Thread>();
  thread->name = std::move(name);
  thread->body = std::move(body);
  if (stacks_.empty()) stacks_.push_back(std::make_unique<char[]>(stack_bytes));
  thread->stack = std::move(stacks_.back());
  stacks_.pop_back();
  getcontext(&thread->context);
  thread->context.uc_stack.ss_sp = thread->stack.get();
  thread->context.uc_stack.ss_size = stack_bytes;
  makecontext(&thread->context, &Explorer::enter, 0);
  threads_.push_back(std::move(thread));
  return threads_.size() - 1;
}

void Explorer::join(std::size_t thread) {
  while (!threads_[thread]->ended) block(threads_[thread].get());
}

void Explorer::fail(const std::string& why) {
  // The other threads' stacks go without their destructors: the search is over.
  if (failure_.empty()) failure_ = why + describe();
  setcontext(&outside_);
  std::abort();
}

std::string Explorer::describe() const {
  std::string text = " (after " + std::to_string(steps_) + " steps;";
  for (const auto& thread : threads_)
    text += " " + thread->name +
            (thread->ended        ? ": ended"
             : thread->blocked_on ? ": blocked"
                                  : ": runs");
  return text + ")";
}

void Explorer::point() { reschedule(true, false); }

void Explorer::yield() { reschedule(true, true); }

void Explorer::block(const void* place, std::optional<Nanoseconds> deadline) {
  auto& thread = *threads_[running_];
  thread.blocked_on = place;
  thread.deadline = deadline;
  reschedule(false, true);
}

void Explorer::wake_one(const void* place) {
  std::vector<Thread*> blocked;
  for (const auto& thread : threads_)
    if (thread->blocked_on == place) blocked.push_back(thread.get());
  if (blocked.empty()) return;
  auto& woken = *blocked[choose(blocked.size())];
  woken.blocked_on = nullptr;
  woken.deadline.reset();
}

void Explorer::wake_all(const void* place) {
  for (const auto& thread : threads_) {
    if (thread->blocked_on != place) continue;
    thread->blocked_on = nullptr;
    thread->deadline.reset();
  }
}

void Explorer::fire(std::size_t thread) {
  auto& fired = *threads_[thread];
  now_ = std::max(now_, *fired.deadline);
  fired.blocked_on = nullptr;
  fired.deadline.reset();
}

void Explorer::reschedule(bool may_stay, bool free) {
  if (++steps_ > most_steps) fail("it does not end");
  std::vector<std::size_t> runnable;
  if (may_stay) runnable.push_back(running_);
  std::optional<std::size_t> timer;
  for (std::size_t i = 0; i < threads_.size(); ++i) {
    const auto& thread = *threads_[i];
    if (thread.ended) continue;
    if (thread.blocked_on == nullptr) {
      if (i != running_ && (free || costs_left_ > 0)) runnable.push_back(i);
    } else if (thread.deadline && (!timer || *thread.deadline < *threads_[*timer]->deadline)) {
      timer = i;
    }
  }
  if (runnable.empty()) {
    if (timer) {  // nobody can run before it fires
      fire(*timer);
      return switch_to(*timer);
    }
    const bool over =
        std::ranges::all_of(threads_, [](const auto& thread) { return thread->ended; });
    if (!over) fail("nobody will ever run again");
    setcontext(&outside_);
  }
  const bool may_fire = timer && costs_left_ > 0;
  const auto chosen = choose(runnable.size() + (may_fire ? 1 : 0));
  if (chosen == runnable.size()) {
    --costs_left_;
    on_time_ = false;
    fire(*timer);
    return switch_to(*timer);
  }
  if (!free && chosen > 0) --costs_left_;
  switch_to(runnable[chosen]);
}

void Explorer::switch_to(std::size_t thread) {
  if (thread == running_) return;
  auto& before = *threads_[std::exchange(running_, thread)];
  swapcontext(&before.context, &threads_[thread]->context);
}

}  // namespace testing::exploring
