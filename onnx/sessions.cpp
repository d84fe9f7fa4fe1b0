#include "polychron/sessions.hpp"

#include <algorithm>
#include <list>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "onnx/problem.hpp"

namespace polychron::onnx {

namespace detail {

namespace {

using Shapes = std::map<std::string, Shape>;

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorKind::type_error, why); }

std::set<std::string> symbols_of(const Summary& model) {
  std::set<std::string> symbols;
  for (const auto& input : model.inputs)
    if (input.dimensions)
      for (const auto& dimension : *input.dimensions) symbols.insert(dimension.symbol);
  symbols.erase("");
  return symbols;
}

std::string text_of(const Shapes& bindings) {
  std::string text;
  for (const auto& [name, shape] : bindings)
    text += " " + name + "=" +
            (shape.size() == 1 ? std::to_string(shape[0]) : polychron::to_string(shape));
  return text;
}

}  // namespace

/// Invariant: at most SessionsOptions::most entries, the most recently used one first. No thread
/// builds, imports or drops a session while it holds `mutex_`.
class SessionsState {
 public:
  SessionsState(const Context& context, const Model& model, const SessionsOptions& options)
      : context_(context), model_(model), options_(options) {
    if (options.most == 0) refuse("most is 0, expected 1 or more");
    const auto symbols = symbols_of(model.summary());
    for (const auto& [symbol, multiple] : options.round_up) {
      if (!symbols.contains(symbol))
        refuse("round_up: the model has no free dimension " + quote(symbol));
      if (multiple == 0) refuse("round_up: " + quote(symbol) + " is 0, expected 1 or more");
    }
  }

  const Context& context() const noexcept { return context_; }
  const Summary& summary() const noexcept { return model_.summary(); }

  std::size_t size() const {
    process_.check();
    const std::lock_guard lock(mutex_);
    return entries_.size();
  }

  Shapes rounded(Shapes bindings) const {
    for (auto& [name, shape] : bindings) {
      const auto input = std::ranges::find(summary().inputs, name, &ValueInfo::name);
      if (input == summary().inputs.end()) {
        if (shape.size() == 1) shape[0] = rounded_up(name, shape[0]);
      } else if (input->dimensions && input->dimensions->size() == shape.size()) {
        for (std::size_t i = 0; i < shape.size(); ++i)
          shape[i] = rounded_up((*input->dimensions)[i].symbol, shape[i]);
      }
    }
    return bindings;
  }

  Session at(const Shapes& bindings) {
    const auto entry = entry_of(rounded(bindings));
    try {
      // Threads that want the same session wait here for the first one.
      const std::lock_guard lock(entry->mutex);
      begin(*entry);
      if (!entry->session) entry->session = entry->building.get();
      return *entry->session;
    } catch (...) {
      forget(entry);
      throw;
    }
  }

  void prepare(const Shapes& bindings) {
    const auto entry = entry_of(rounded(bindings));
    const std::unique_lock lock(entry->mutex, std::try_to_lock);
    if (lock) begin(*entry);  // otherwise another thread builds it
  }

 private:
  struct Entry {
    Shapes bindings;
    std::mutex mutex;  ///< guards the members below; the thread that builds holds it
    Future<Session> building;
    std::optional<Session> session;
  };
  using EntryRef = std::shared_ptr<Entry>;

  std::uint32_t rounded_up(const std::string& symbol, std::uint32_t value) const {
    const auto multiple = options_.round_up.find(symbol);
    if (multiple == options_.round_up.end()) return value;
    const auto step = std::uint64_t{multiple->second};
    const auto next = (std::uint64_t{value} + step - 1) / step * step;
    if (!std::in_range<std::uint32_t>(next))
      refuse(quote(symbol) + " of " + std::to_string(value) + " is too large to be rounded up");
    return static_cast<std::uint32_t>(next);
  }

  EntryRef entry_of(Shapes bindings) {
    process_.check();
    std::list<EntryRef> dropped;  // destroyed after the lock is released
    const std::lock_guard lock(mutex_);
    const auto known = std::ranges::find_if(
        entries_, [&](const EntryRef& entry) { return entry->bindings == bindings; });
    if (known != entries_.end()) {
      entries_.splice(entries_.begin(), entries_, known);
      return entries_.front();
    }
    entries_.push_front(std::make_shared<Entry>());
    entries_.front()->bindings = std::move(bindings);
    if (entries_.size() > options_.most)
      dropped.splice(dropped.begin(), entries_, std::prev(entries_.end()));
    return entries_.front();
  }

  void begin(Entry& entry) {
    if (entry.session || entry.building.valid()) return;
    auto options = options_.session;
    const auto label = options.label.empty() ? summary().graph_name : options.label;
    options.label = label + text_of(entry.bindings);
    for (const auto& [name, shape] : entry.bindings) options.bindings[name] = shape;
    entry.building = Session::build(context_, model_, options);
  }

  /// Removes a session that could not be built: the next request builds it again.
  void forget(const EntryRef& entry) {
    const std::lock_guard lock(mutex_);
    entries_.remove(entry);
  }

  const polychron::detail::Process process_;
  const Context context_;
  const Model model_;
  const SessionsOptions options_;
  mutable std::mutex mutex_;  ///< guards only the list
  std::list<EntryRef> entries_;
};

}  // namespace detail

using polychron::detail::with_errors;

Sessions::Sessions(const Context& context, const Model& model, const SessionsOptions& options)
    : state_(with_errors(
          [&] { return std::make_shared<detail::SessionsState>(context, model, options); })) {}

detail::SessionsState& Sessions::state() const {
  if (!state_)
    polychron::detail::refuse(
        ErrorKind::type_error,
        "the sessions handle refers to nothing: default-constructed or moved away");
  return *state_;
}

Session Sessions::at(const std::map<std::string, Shape>& bindings) const {
  return with_errors([&] { return state().at(bindings); });
}

void Sessions::prepare(const std::map<std::string, Shape>& bindings) const {
  with_errors([&] { state().prepare(bindings); });
}

std::map<std::string, Shape> Sessions::rounded(const std::map<std::string, Shape>& bindings) const {
  return with_errors([&] { return state().rounded(bindings); });
}

const Summary& Sessions::summary() const { return state().summary(); }
Context Sessions::context() const { return state().context(); }
std::size_t Sessions::size() const { return state().size(); }

}  // namespace polychron::onnx
