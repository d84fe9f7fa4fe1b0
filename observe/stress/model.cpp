#include "observe/stress/model.hpp"

#include <algorithm>

#include "observe/stress/history_facts.hpp"
#include "observe/stress/symbolic_graph.hpp"

namespace polychron::stress {

namespace {

/// A possible content of a tensor: a value, or an error whose chain has this label.
struct Content {
  std::uint64_t value = 0;
  std::string errored_by;  ///< empty: the tensor is ready
  friend auto operator<=>(const Content&, const Content&) = default;
};
using Contents = std::set<Content>;

const std::string anybody = "*";
/// True if a link of the chain is of the operation with this label.
bool names(const Error& error, const std::string& label) {
  if (label == anybody) return true;
  for (const Error* link = &error; link != nullptr; link = link->cause())
    if (link->label() == label) return true;
  return false;
}

bool is_end(const Error& error) {
  return error.root().kind() == ErrorKind::invalid_state ||
         error.root().kind() == ErrorKind::context_lost;
}

class Model {
 public:
  Model(const Program& program, const History& history)
      : program_(program), history_(history), told_(program, history) {}

  std::optional<std::string> run() {
    wrong_ = told_.wrong;
    for (std::size_t i = 0; i < program_.tensors; ++i) tensors_[i].contents = {{0, ""}};
    for (at_ = 0; at_ < history_.calls.size(); ++at_) carry_out(history_.calls[at_]);
    return wrong_;
  }

 private:
  struct Tensor {
    Contents contents;
    bool destroyed = false;
    /// Set during a lease in LeaseMode::fail: its export's index in the history.
    std::optional<std::size_t> refused_by;
    /// An export in LeaseMode::wait is never returned: later operations wait for the tensor's end.
    bool waits = false;
  };

  bool ended() const { return told_.ended_at && *told_.ended_at <= at_; }
  /// The call was late or cancelled before it began, so it is certainly skipped.
  bool must_be_skipped(const Made& made) const {
    return (made.call.deadline != 0 && made.time > made.call.deadline) ||
           already_cancelled_.contains(made.call.cancellation);
  }

  void fail(const Made& made, const std::string& what) {
    if (!wrong_)
      wrong_ = label_of(made.client, made.index) + " (" + to_string(made.call) + ") " + what;
  }

  void carry_out(const Made& made) {
    if (made.has_reply && !made.answer) return fail(made, "was never answered");
    if (made.answer && made.answer.value().kept) return fail(made, "kept what it was lent");
    if (made.thrown && !may_throw(made.call, made.thrown->root().kind()))
      return fail(made, std::string("threw: ") + made.thrown->what());
    if (made.call.foreign && made.submitted) return fail(made, "was taken");
    if (made.thrown) return speaks_of_the_end(made, *made.thrown);
    if (made.answer && made.answer.value().error)
      speaks_of_the_end(made, made.answer->error.value());
    if (ended() && made.answer && !made.answer->error)
      return fail(made, "was answered after the end");
    const auto& call = made.call;
    // The context refused it at once, and it had no effect.
    if (made.has_reply && !made.submitted) return answered(made, {}, false);
    switch (call.kind) {
      case Kind::create:
      case Kind::constant:
        tensors_[call.tensor].contents = {{0, ""}};
        return answered(made, {},
                        told_.faulty(FaultPoint::allocate) || told_.faulty(FaultPoint::adopt));
      case Kind::write:
        return write(made);
      case Kind::dispatch:
        return dispatch(made);
      case Kind::compute:
        return compute(made);
      case Kind::read:
        return read(made);
      case Kind::query:
        return query(made);
      case Kind::lend:
        return lend(made);
      case Kind::give_back:
        return give_back(made);
      case Kind::pop_scope:
        if (scopes_ == 0) return;
        --scopes_;
        return answered(made, {}, false);
      case Kind::push_scope:
        ++scopes_;
        return;
      case Kind::build:
        return answered(made, {}, told_.faulty(FaultPoint::compile));
      case Kind::destroy_tensor:
        tensors_[call.tensor].destroyed = true;
        return;
      case Kind::destroy_graph:
        destroyed_graphs_.insert(call.graph);
        return;
      case Kind::pending:
        return answered(made, {}, false);
      case Kind::cancel:
        already_cancelled_.insert(call.cancellation);
        [[fallthrough]];
      case Kind::destroy_context:
        return;
    }
  }

  /// Checks that no call is refused because of a context that lives.
  void speaks_of_the_end(const Made& made, const Error& error) {
    if (told_.may_end() || error.root().kind() != ErrorKind::invalid_state) return;
    if (std::string_view(error.what()).find("the context") != std::string_view::npos)
      fail(made, std::string("was refused, and the context lives: ") + error.what());
  }

  /// An object of the call may be refused with invalid_state.
  bool may_be_refused(const Call& call) const {
    const auto unusable = [&](std::size_t slot) {
      return told_.destroyed_at.contains(slot) || tensors_.at(slot).refused_by;
    };
    switch (call.kind) {
      case Kind::compute:
        return told_.destroys_graph(call.graph);
      case Kind::dispatch:
        return told_.destroys_graph(call.graph) || unusable(call.tensor) ||
               std::ranges::any_of(call.inputs, unusable);
      case Kind::write:
      case Kind::read:
      case Kind::query:
      case Kind::lend:
        return unusable(call.tensor);
      default:
        return false;
    }
  }
  /// Checks that constant tensors are used by builders alone, and objects with their own context.
  bool of_constant(const Call& call) const {
    const auto constant = [&](std::size_t slot) { return told_.is_constant(slot); };
    return call.foreign || constant(call.tensor) || std::ranges::any_of(call.inputs, constant);
  }

  bool may_throw(const Call& call, ErrorKind kind) const {
    switch (kind) {
      case ErrorKind::invalid_state:
        return told_.may_end() || may_be_refused(call);
      case ErrorKind::context_lost:
        return told_.may_be_lost();
      case ErrorKind::type_error:
        return of_constant(call);
      case ErrorKind::quota_exceeded:
        return told_.may_be_turned_away(call);
      case ErrorKind::timed_out:
        return call.deadline != 0;
      case ErrorKind::aborted:
        return told_.cancels(call.cancellation);
      default:
        return false;
    }
  }

  /// Checks a reply. It must be one of these values, an error that one of them is, or an error that
  /// is always allowed.
  void answered(const Made& made, const Contents& contents, bool may_fail) {
    const auto& error = made.answer.value().error;
    const auto& value = made.answer->value;
    if (value && std::ranges::none_of(contents, [v = *value](const Content& c) {
          return c.errored_by.empty() && c.value == v;
        })) {
      std::string expected;
      for (const auto& c : contents)
        expected +=
            (expected.empty() ? "" : " or ") +
            (c.errored_by.empty() ? std::to_string(c.value) : "an error of " + c.errored_by);
      return fail(made, "gave " + std::to_string(*value) + ", expected " + expected);
    }
    if (!error || may_fail) return;
    if (error->root().kind() == ErrorKind::type_error && of_constant(made.call)) return;
    if (told_.may_end() && is_end(*error)) return;
    if (error->root().kind() == ErrorKind::out_of_memory && told_.lacks_bytes(made.call)) return;
    if (error->root().kind() == ErrorKind::invalid_state && may_be_refused(made.call)) {
      if (error->operation().empty() && error->object().empty())
        fail(made, std::string("was rejected without its name: ") + error->what());
      return;
    }
    if (error->root().kind() == ErrorKind::quota_exceeded && program_.few_places()) return;
    for (const auto& c : contents)
      if (!c.errored_by.empty() && names(*error, c.errored_by)) return;
    fail(made, std::string("was rejected: ") + error->what());
  }

  const Contents& of(std::size_t slot) { return tensors_[slot].contents; }
  bool refused(std::size_t slot) { return tensors_[slot].refused_by.has_value(); }

  void write(const Made& made) {
    const auto label = label_of(made.client, made.index);
    auto& tensor = tensors_[made.call.tensor];
    if (refused(made.call.tensor) && !unsure_) return;
    Contents next;
    const bool may_fail = told_.may_be_skipped(made.call) || told_.lacks_bytes(made.call) ||
                          told_.faulty(FaultPoint::allocate) || told_.faulty(FaultPoint::adopt);
    const auto failed_itself = may_fail ? told_.failed(label) : std::optional(false);
    if (failed_itself == false && must_be_skipped(made))
      return fail(made, "was done, cancelled or late as it was");
    if (failed_itself != true) next.insert({made.call.value, ""});
    if (failed_itself != false) next.insert({0, label});
    if (refused(made.call.tensor) || told_.destroyed_at.contains(made.call.tensor))
      next.insert(tensor.contents.begin(), tensor.contents.end());
    tensor.contents = std::move(next);
  }

  void dispatch(const Made& made) {
    const auto label = label_of(made.client, made.index);
    auto& out = tensors_[made.call.tensor];
    const auto blocked = [&](std::size_t slot) {
      return tensors_[slot].destroyed || tensors_[slot].refused_by;
    };
    const bool bad = std::ranges::any_of(made.call.inputs, blocked) || blocked(made.call.tensor) ||
                     destroyed_graphs_.contains(made.call.graph);
    if (bad && !unsure_) {
      if (!out.refused_by) out.contents = {{0, label}};
      return;
    }
    Contents next;
    std::vector<std::uint64_t> values;
    combine(made.call, values, next);
    const bool skipped = bad || told_.may_be_skipped(made.call) || told_.lacks_bytes(made.call) ||
                         told_.faulty(FaultPoint::execute) || told_.faulty(FaultPoint::instantiate);
    // It waits for a lease of a tensor that is destroyed. Nobody is told, as with any errored
    // input.
    bool stranded = out.waits;
    for (const auto input : made.call.inputs) stranded |= tensors_[input].waits;
    if (told_.inherent()) next.insert({0, anybody});
    const auto failed_itself = skipped ? told_.failed(label) : std::optional(false);
    // An operation with an errored input does not get that far.
    const bool runs = std::ranges::all_of(made.call.inputs, [&](auto input) {
      return std::ranges::all_of(of(input), [](const Content& c) { return c.errored_by.empty(); });
    });
    if (failed_itself == false && runs && !stranded && must_be_skipped(made))
      return fail(made, "was done, cancelled or late as it was");
    if (failed_itself == true) next = {{0, label}};
    if (!failed_itself || stranded) next.insert({0, label});
    if (out.refused_by) next.insert(out.contents.begin(), out.contents.end());
    out.contents = std::move(next);
  }

  /// Computes the results of every combination of the inputs' possible contents.
  void combine(const Call& call, std::vector<std::uint64_t>& values, Contents& next) {
    if (values.size() == call.inputs.size()) {
      next.insert({symbolic_result("g" + std::to_string(call.graph), 0, values), ""});
      return;
    }
    for (const auto& content : of(call.inputs[values.size()])) {
      if (!content.errored_by.empty()) {
        next.insert({0, content.errored_by});
        continue;
      }
      values.push_back(content.value);
      combine(call, values, next);
      values.pop_back();
    }
  }

  void compute(const Made& made) {
    std::vector<std::uint64_t> values;
    for (std::size_t i = 0; i <= made.call.graph; ++i) values.push_back(made.call.value + i);
    Contents contents{{symbolic_result("g" + std::to_string(made.call.graph), 0, values), ""}};
    if (made.answer && !made.answer->error && destroyed_graphs_.contains(made.call.graph))
      return fail(made, "was answered");
    if (made.answer && !made.answer->error && must_be_skipped(made))
      return fail(made, "was done, cancelled or late as it was");
    answered(made, contents,
             told_.may_be_skipped(made.call) || told_.faulty(FaultPoint::adopt) ||
                 told_.faulty(FaultPoint::allocate) || told_.faulty(FaultPoint::execute) ||
                 told_.faulty(FaultPoint::instantiate) ||
                 destroyed_graphs_.contains(made.call.graph));
  }

  void read(const Made& made) {
    const auto& tensor = tensors_[made.call.tensor];
    if (tensor.destroyed || (tensor.refused_by && !unsure_)) {
      if (made.answer && !made.answer->error) fail(made, "was answered");
      return;
    }
    answered(made, of(made.call.tensor), told_.faulty(FaultPoint::read));
  }

  void query(const Made& made) {
    if (made.answer.value().error) return answered(made, {}, false);
    const auto& contents = of(made.call.tensor);
    if (tensors_[made.call.tensor].destroyed) return fail(made, "was answered");
    const auto& found = made.answer->found;
    if (std::ranges::none_of(contents, [&](const Content& c) {
          return c.errored_by.empty() ? !found : found && names(*found, c.errored_by);
        }))
      fail(made, found ? std::string("found: ") + found->what() : "found no error");
  }

  void lend(const Made& made) {
    auto& tensor = tensors_[made.call.tensor];
    const bool granted = made.answer && !made.answer->error;
    if (tensor.destroyed || tensor.refused_by) {
      if (granted && (tensor.destroyed || !unsure_)) fail(made, "was granted");
      if (!granted) return;
    }
    const auto back = told_.returned.find(at_),
               destroyed = told_.destroyed_at.find(made.call.tensor);
    const bool kept = back == told_.returned.end() ||
                      (destroyed != told_.destroyed_at.end() && destroyed->second < back->second);
    const bool gone = kept && destroyed != told_.destroyed_at.end();
    if (made.revoked == false && gone)
      return fail(made, "was not revoked, and its tensor is destroyed");
    if (made.revoked == true && !gone && !told_.may_end())
      return fail(made, "was revoked, and its tensor lives");
    // The holder keeps the memory, or the actors that have not heard of the lease yet.
    if (gone) tensor.waits = true;
    if (made.call.way == 1) {
      tensor.refused_by = at_;
      // From the call on. If the call itself was refused, for ever, which has the same effect here.
      unsure_ |= !granted || told_.may_end() || destroyed != told_.destroyed_at.end();
    }
    if (!granted) {
      if (made.answer) answered(made, of(made.call.tensor), false);
      return;
    }
    if (back == told_.returned.end()) return;
    const auto value = history_.calls[back->second].call.value;
    if (value == 0) return;
    Contents next{{value, ""}};
    if (kept || told_.may_end()) next.insert(tensor.contents.begin(), tensor.contents.end());
    tensor.contents = std::move(next);
  }

  void give_back(const Made& made) {
    auto& tensor = tensors_[made.call.tensor];
    if (tensor.refused_by == made.lent) tensor.refused_by.reset();
  }

  const Program& program_;
  const History& history_;
  const HistoryFacts told_;
  std::size_t at_ = 0;
  std::optional<std::string> wrong_;
  std::map<std::size_t, Tensor> tensors_;
  std::set<std::size_t> destroyed_graphs_;
  std::size_t scopes_ = 0;  ///< number of open scopes
  std::set<unsigned> already_cancelled_;
  bool unsure_ = false;  ///< a lease that refuses operations may be out
};

}  // namespace

std::optional<std::string> check(const Program& program, const History& history) {
  return Model(program, history).run();
}

}  // namespace polychron::stress
