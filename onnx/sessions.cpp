#include "onnx/sessions_state.hpp"

#include <algorithm>
#include <new>
#include <set>
#include <utility>
#include <vector>

#include "onnx/bindings.hpp"
#include "onnx/problem.hpp"
#include "onnx/session_state.hpp"
#include "onnx/sessions_cache.hpp"

namespace polychron::onnx {

namespace detail {

namespace {

using polychron::detail::FutureAccess;
using polychron::detail::Origin;

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

/// A build to come. If it never comes, the replies that wait for it reject.
class SessionBuild {
 public:
  SessionBuild(std::shared_ptr<SessionsCache> cache, SessionsCache::EntryRef entry)
      : cache_(std::move(cache)), entry_(std::move(entry)) {}
  SessionBuild(const SessionBuild&) = delete;
  SessionBuild& operator=(const SessionBuild&) = delete;
  ~SessionBuild() {
    if (!over_) fail(dropped_);
  }
  const Shapes& bindings() const noexcept { return entry_->bindings; }
  void wait_for(Future<Session> session) {
    check_invariant(!over_, "a build of a session ends once");
    FutureAccess::relay(std::move(session),
                        [cache = cache_, entry = entry_](const Result<Session>& result) {
                          cache->built(entry, result);
                        });
    over_ = true;
  }
  void fail(const Error& error) noexcept {
    over_ = true;
    cache_->built(entry_, error);
  }

 private:
  const std::shared_ptr<SessionsCache> cache_;
  const SessionsCache::EntryRef entry_;
  /// Made early, as a destructor must not allocate.
  const Error dropped_{ErrorKind::aborted, "the executor dropped the import of this session"};
  bool over_ = false;  ///< the cache knows, or will know, how it ends
};

SessionsState::SessionsState(const Context& context, const Model& model,
                             const SessionsOptions& options, std::optional<Runtime> own)
    : runtime_(std::move(own)),
      context_(context),
      model_(model),
      options_(options),
      label_(label_of(options.session, model)),
      origin_(FutureAccess::origin(context.lost())),
      cache_(std::make_shared<SessionsCache>(options.most, options.most_bytes)) {
  if (options.most == 0) refuse("most is 0, expected 1 or more");
  const auto symbols = symbols_of(model.summary());
  for (const auto& [symbol, multiple] : options.round_up) {
    if (!symbols.contains(symbol))
      refuse("round_up: the model has no free dimension " + quote(symbol));
    if (multiple == 0) refuse("round_up: " + quote(symbol) + " is 0, expected 1 or more");
  }
}

std::size_t SessionsState::size() const {
  check_process();
  return cache_->size();
}

Shapes SessionsState::rounded(Shapes bindings) const {
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

Future<Session> SessionsState::get(const Shapes& bindings, bool elsewhere) {
  try {
    return polychron::detail::with_errors([&] {
      check_process();
      if (destroyed_) throw Error(ErrorKind::invalid_state, "the session was destroyed");
      const auto reply = Promise<Session>::make(origin_);
      auto future = reply.future();
      if (auto entry = cache_->want(free_shapes(rounded(bindings)), reply))
        start(std::make_shared<SessionBuild>(cache_, std::move(entry)), elsewhere);
      return future;
    });
  } catch (const Error& error) {
    return polychron::detail::rejected<Future<Session>>(about_model(error, label_), origin_);
  }
}

Future<NamedValues> SessionsState::run(NamedValues&& inputs, const RunOptions& options) {
  auto session = get(shapes_of(inputs), true);
  if (session.ready()) return session.get().run(std::move(inputs), options);
  const auto reply = Promise<NamedValues>::make(origin_);
  auto future = reply.future();
  // A callback may wait at a limit, which a thread of the library must not.
  const auto kept = std::make_shared<NamedValues>(std::move(inputs));
  session.then([reply, options, kept](Result<Session> built) {
    try {
      FutureAccess::relay(
          polychron::detail::with_errors(
              [&] { return built.value().run(std::move(*kept), options); }),
          [reply](Result<NamedValues> outputs) { reply.settle(std::move(outputs)); });
    } catch (const Error& error) {
      reply.reject(error);
    }
  });
  return future;
}

/// The shapes of those that are inputs of the model.
Shapes SessionsState::shapes_of(const NamedValues& inputs) const {
  const auto& declared = summary().inputs;
  Shapes shapes;
  for (const auto& [name, descriptor, bytes] : inputs)
    if (std::ranges::find(declared, name, &ValueInfo::name) != declared.end())
      shapes[name] = descriptor.shape;
  return shapes;
}

/// The bindings beside those of the options, equal for equal shapes. Throws type_error if they
/// contradict each other.
Shapes SessionsState::free_shapes(const Shapes& bindings) const {
  const auto& fixed = options_.session.bindings;
  auto all = fixed;
  for (const auto& [name, shape] : bindings)
    if (const auto [known, is_new] = all.emplace(name, shape); !is_new && known->second != shape)
      refuse(quote(name) + " is bound to " + polychron::to_string(known->second) + ", not " +
             polychron::to_string(shape));
  auto shapes = Bindings(summary(), all).by_symbol(summary());
  std::erase_if(shapes, [&](const auto& entry) { return fixed.contains(entry.first); });
  return shapes;
}

void SessionsState::destroy() noexcept {
  destroyed_ = true;
  cache_->clear();
}

void SessionsState::refuse_free() const {
  try {
    const Bindings bindings(
        summary(),
        with_given(summary(), {options_.session.bindings, options_.session.constants, {}}));
    for (const auto& input : summary().inputs) static_cast<void>(bindings.resolve(input));
    refuse("no dimension is free");
  } catch (const Error& error) {
    throw about_model(error, label_);
  }
}

std::uint32_t SessionsState::rounded_up(const std::string& symbol, std::uint32_t value) const {
  const auto multiple = options_.round_up.find(symbol);
  if (multiple == options_.round_up.end()) return value;
  const auto step = std::uint64_t{multiple->second};
  const auto next = (std::uint64_t{value} + step - 1) / step * step;
  if (!std::in_range<std::uint32_t>(next))
    refuse(quote(symbol) + " of " + std::to_string(value) + " is too large to be rounded up");
  return static_cast<std::uint32_t>(next);
}

void SessionsState::start(const std::shared_ptr<SessionBuild>& build, bool elsewhere) {
  if (elsewhere && options_.executor)
    options_.executor([self = shared_from_this(), build] { self->build(*build); });
  else
    this->build(*build);
}

void SessionsState::build(SessionBuild& build) const noexcept {
  try {
    auto options = options_.session;
    options.label = label_ + text_of(build.bindings());
    for (const auto& [name, shape] : build.bindings()) options.bindings[name] = shape;
    build.wait_for(SessionState::build(context_, model_, options));
  } catch (const Error& error) {
    build.fail(error);
  } catch (const std::bad_alloc&) {
    build.fail(polychron::detail::out_of_memory_error());
  }
}

bool has_free_dimensions(const Summary& summary, const SessionOptions& options) {
  const Bindings bindings(summary, with_given(summary, {options.bindings, options.constants, {}}));
  return std::ranges::any_of(summary.inputs,
                             [&](const ValueInfo& input) { return bindings.is_free(input); });
}

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
  return state().get(bindings, false).get();
}

Future<Session> Sessions::get(const std::map<std::string, Shape>& bindings) const {
  return state().get(bindings, true);
}

Future<NamedValues> Sessions::run(NamedValues&& inputs, const RunOptions& options) const {
  return with_errors([&] { return state().run(std::move(inputs), options); });
}

void Sessions::prepare(const std::map<std::string, Shape>& bindings) const {
  state().check_process();
  static_cast<void>(state().get(bindings, true));
}

std::map<std::string, Shape> Sessions::rounded(const std::map<std::string, Shape>& bindings) const {
  return with_errors([&] { return state().rounded(bindings); });
}

const Summary& Sessions::summary() const { return state().summary(); }
Context Sessions::context() const { return state().context(); }
std::size_t Sessions::size() const { return state().size(); }

}  // namespace polychron::onnx
