#include "polychron/error.hpp"

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace polychron {

std::string_view to_string(ErrorKind kind) noexcept {
  constexpr std::array<std::string_view, 12> names{
      "type_error",     "invalid_state", "not_supported", "operation_error",
      "quota_exceeded", "out_of_memory", "bad_data",      "graph_invalid",
      "context_lost",   "aborted",       "timed_out",     "internal"};
  return names[static_cast<std::size_t>(kind)];
}

namespace {

/// `text` with its control bytes escaped, for what(), which is one line: names come from models.
std::string one_line(std::string_view text) {
  std::string line;
  for (const char character : text) {
    const auto byte = static_cast<unsigned char>(character);
    if (byte >= 0x20 && byte != 0x7f) {
      line += character;
    } else {
      constexpr std::string_view digits = "0123456789abcdef";
      line += {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
    }
  }
  return line;
}

}  // namespace

struct Error::State {
  ErrorKind kind;
  std::string message;
  std::string operation;
  std::string label;
  std::uint64_t ticket = 0;
  std::string object;
  bool ran = true;
  std::optional<Error> cause;
  std::size_t depth = 1;  // errors in the chain, including this one
  std::string text;       // what(): derived from the above by render()

  // "read of tensor 'logits' (ticket 9) failed: <message> <cause>"
  void render() {
    text.clear();
    if (!operation.empty()) {
      text += operation;
      if (!label.empty()) text += " '" + label + "'";
      if (!object.empty()) text += " of " + object;
      if (ticket != 0) text += " (ticket " + std::to_string(ticket) + ")";
      text += ran ? " failed: " : " not run: ";
    } else if (!object.empty()) {
      text += object + ": ";
    }
    text += message;
    if (cause) text += (message.empty() ? "" : " ") + std::string(cause->what());
    text = one_line(text);
  }
};

Error::Error(ErrorKind kind, std::string message) {
  auto state = std::make_shared<State>();
  state->kind = kind;
  state->message = std::move(message);
  state->render();
  state_ = std::move(state);
}

namespace detail {

// Never destroyed, as handles may outlive any static.
const Error& out_of_memory_error() noexcept {
  static const Error& error = *new Error(ErrorKind::out_of_memory, "out of memory");
  return error;
}

namespace {
[[maybe_unused]] const Error& made_early = out_of_memory_error();
}

void refuse(ErrorKind kind, std::string_view message) {
  with_errors([&] { throw Error(kind, std::string(message)); });
  __builtin_unreachable();
}

}  // namespace detail

Error::Error(std::shared_ptr<const State> state) : state_(std::move(state)) {}

ErrorKind Error::kind() const noexcept { return state_->kind; }
const std::string& Error::message() const noexcept { return state_->message; }
const std::string& Error::operation() const noexcept { return state_->operation; }
const std::string& Error::label() const noexcept { return state_->label; }
std::uint64_t Error::ticket() const noexcept { return state_->ticket; }
const std::string& Error::object() const noexcept { return state_->object; }
const Error* Error::cause() const noexcept { return state_->cause ? &*state_->cause : nullptr; }
bool Error::ran() const noexcept { return state_->ran; }
const char* Error::what() const noexcept { return state_->text.c_str(); }

const Error& Error::root() const noexcept {
  const Error* error = this;
  while (error->cause() != nullptr) error = error->cause();
  return *error;
}

Error Error::with_operation(std::string operation, std::string label, std::uint64_t ticket) const {
  auto state = std::make_shared<State>(*state_);
  state->operation = std::move(operation);
  state->label = std::move(label);
  state->ticket = ticket;
  state->render();
  return Error(std::move(state));
}

Error Error::with_object(std::string object) const {
  auto state = std::make_shared<State>(*state_);
  state->object = std::move(object);
  state->render();
  return Error(std::move(state));
}

Error Error::caused_by(Error cause) const {
  // An error follows the data through any number of dispatches; its text must stay bounded.
  constexpr std::size_t most = 16;
  auto state = std::make_shared<State>(*state_);
  if (cause.state_->depth >= most) {
    state->message += (state->message.empty() ? "" : " ") + std::string("(a long chain) ...");
    state->cause = cause.root();
  } else {
    state->cause = std::move(cause);
  }
  state->depth = state->cause->state_->depth + 1;
  state->render();
  return Error(std::move(state));
}

Error Error::not_run() const {
  auto state = std::make_shared<State>(*state_);
  state->ran = false;
  state->render();
  return Error(std::move(state));
}

std::string describe_bytes(std::uint64_t bytes) {
  constexpr std::array<const char*, 5> units{" bytes", " KiB", " MiB", " GiB", " TiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < units.size(); ++unit) value /= 1024;
  auto tenths = std::to_string(static_cast<std::uint64_t>(value * 10 + 0.5));
  const auto digit = tenths.back();
  tenths.pop_back();
  if (tenths.empty()) tenths = "0";
  return tenths + (digit == '0' ? "" : std::string(".") + digit) + units[unit];
}

std::string describe_object(std::string_view type, std::string_view label, std::uint64_t id) {
  std::string text(type);
  text += label.empty() ? " #" + std::to_string(id) : " '" + std::string(label) + "'";
  return text;
}

}  // namespace polychron
