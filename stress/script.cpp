#include "stress/script.hpp"

namespace polychron::stress {

void Script::step() {
  const auto index = at_;
  to_next();
  make(index, number_);
}

void Script::make(std::size_t index, std::size_t caller) {
  if (!is_chained(index + 1)) return maker(index, caller).make();
  maker(index, caller).make([self = std::weak_ptr(self_), next = index + 1] {
    if (const auto script = self.lock()) (*script)->call_back(next);
  });
}

void Script::call_back(std::size_t index) {
  // A callback can use the tensor that it hears of.
  for (const auto& board : session_.boards) board->collect(false);
  const auto caller = session_.callers++;
  session_.calling_back.push_back(caller);
  make(index, caller);
  session_.calling_back.pop_back();
}

}  // namespace polychron::stress
