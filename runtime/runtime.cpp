#include "polychron/runtime.hpp"

#include "base/usable_cores.hpp"
#include "base/usable_memory.hpp"
#include "runtime/runtime_state.hpp"

namespace polychron {

std::uint64_t default_memory_limit() noexcept {
  try {
    static const auto usable = usable_memory();
    return usable == no_memory_limit ? usable : usable / 4 * 3;
  } catch (...) {  // no memory to look: the next call looks again
    return no_memory_limit;
  }
}

int usable_cores() noexcept { return count_usable_cores(); }

Runtime::Runtime(const RuntimeOptions& options)
    : state_(detail::with_errors([&] { return detail::RuntimeState::create(options); })) {}

Runtime::Runtime(std::shared_ptr<detail::RuntimeState> state) : state_(std::move(state)) {}

Runtime::Runtime(Runtime&&) noexcept = default;

Runtime& Runtime::operator=(Runtime&& other) noexcept {
  if (this == &other) return *this;
  if (state_) state_->shutdown();
  state_ = std::move(other.state_);
  return *this;
}

Runtime::~Runtime() {
  if (state_) state_->shutdown();
}

std::vector<RemainingActor> Runtime::shutdown(std::chrono::nanoseconds patience) {
  if (!state_) return {};
  return state_->shutdown(patience);
}

void Runtime::start_trace(const TraceOptions& options) {
  if (state_) detail::with_errors([&] { state_->start_trace(options); });
}

void Runtime::stop_trace() noexcept {
  if (state_) state_->stop_trace();
}

std::vector<std::byte> Runtime::trace() const {
  return state_ ? detail::with_errors([&] { return state_->trace(); }) : std::vector<std::byte>{};
}

std::uint64_t Runtime::callback_exceptions() const noexcept {
  return state_ ? state_->callbacks().exceptions() : 0;
}

Future<Context> Runtime::create_context_with(const ContextOptions& options) {
  return detail::with_errors([&] {
    if (state_) return state_->create_context(options);
    return detail::rejected<Future<Context>>(
        Error(ErrorKind::type_error, "this Runtime was moved from")
            .with_operation("create_context", options.label));
  });
}

}  // namespace polychron
