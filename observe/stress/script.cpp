#include "observe/stress/script.hpp"

namespace polychron::stress {

void Script::step() {
  const auto index = at_;
  to_next();
  make(index, number_);
}

void Script::make(std::size_t index, std::size_t caller) {
  if (!is_chained(index + 1)) return executor_of(index, caller).execute();
  executor_of(index, caller).execute([self = std::weak_ptr(self_), next = index + 1] {
    if (const auto script = self.lock()) (*script)->call_back(next);
  });
}

void Script::call_back(std::size_t index) {
  // A callback can use the tensor that it hears of.
  for (const auto& subject : run_state_.subjects) subject->collect(false);
  const auto caller = run_state_.callers++;
  run_state_.calling_back.push_back(caller);
  make(index, caller);
  run_state_.calling_back.pop_back();
}

}  // namespace polychron::stress
