#include "observe/replay/script.hpp"

#include <algorithm>

#include "messages/abandoned_write.hpp"
#include "observe/replay/errors.hpp"
#include "observe/replay/known_objects.hpp"
#include "observe/replay/turns.hpp"
#include "observe/trace/errors.hpp"
#include "polychron/error.hpp"

namespace polychron::replay {

namespace {

class Writer {
 public:
  explicit Writer(const trace::JoinedTrace& joined) : joined_(joined), records_(joined.records) {}

  Script write() {
    if (!records_.unknown.empty())
      refuse("another version of the library made it, which has '" + records_.unknown.front() +
             "'");
    if (records_.dropped != 0)
      refuse("it lacks " + std::to_string(records_.dropped) +
             " records that there was no room for (TraceOptions::max_bytes)");
    if (records_.contexts.empty())
      refuse(
          "it does not have the beginning of any context, or has gaps (start the recording before "
          "the contexts are made; Context::set_traced leaves a context out)");
    if (records_.called.empty())
      refuse("it has no calls (TraceOptions::calls was none, or nobody called)");
    script_.operators = records_.operators;
    script_.contents =
        !records_.given_back.empty() ||
        std::ranges::any_of(records_.answered, [](const auto& r) { return r.digest != 0; }) ||
        std::ranges::any_of(records_.called, [](const auto& r) { return !r.contents.empty(); });
    add_contexts();
    find_roles();
    add_calls();
    add_outcomes();
    add_losses();
    add_unheard();
    script_.order = order_of(joined_, roles_, script_.calls);
    return std::move(script_);
  }

 private:
  using Key = std::pair<std::uint64_t, std::uint64_t>;  ///< context, and a number in it

  [[noreturn]] static void refuse(const std::string& why) {
    throw Error(ErrorKind::bad_data, "it cannot be run again: " + why).with_operation("replay");
  }
  template <class Message>
  static bool is(const recording::Sent& sent) {
    return sent.about.message == recording::message_number<Message>;
  }

  void add_contexts() {
    constexpr std::uint32_t most_lanes = 256;
    for (const auto& [number, context] : records_.contexts) {
      if (context.lanes == 0 || context.lanes > most_lanes) refuse("its lanes");
      contexts_[number] = script_.contexts.size();
      script_.contexts.push_back({context.label, context.lanes, {}, {}, {}, {}});
    }
  }
  std::size_t context(std::uint64_t number) const {
    const auto known = contexts_.find(number);
    if (known == contexts_.end()) refuse("a context in it has no name");
    return known->second;
  }

  void find_roles() {
    for (const auto& r : records_.began)
      if (r.kind == "context" || r.kind == "compiler")
        roles_[{r.context, r.actor}] = {context(r.context), std::string(r.kind), 0};
    for (const auto& [key, name] : records_.objects)
      if (const auto known = contexts_.find(key.context); known != contexts_.end())
        roles_[{key.context, name.actor}] = {known->second, key.graph ? "graph" : "tensor", key.id};
    for (const auto& [thread, r] : records_.sent)
      if (is<msg::carry_out>(r))
        roles_[{r.context, r.to}] = {context(r.context), "device", r.footprint.lane};
  }

  /// The callers: of each context's handlings of submits, by their logical times.
  std::map<Key, std::uint64_t> callers() const {
    std::map<Key, std::uint64_t> threads;
    for (std::size_t i = 0; i < records_.handled.size(); ++i) {
      const auto& r = records_.handled[i];
      const auto sent = joined_.sent_of_handled[i];
      if (sent && r.kind == recording::message_number<msg::submit>)
        threads[{r.context, r.clock}] = records_.sent[*sent].thread;
    }
    return threads;
  }

  void add_calls() {
    const auto threads = callers();
    std::map<std::size_t, KnownObjects> known;
    for (const auto& r : records_.called) {
      Call call;
      call.context = context(r.context);
      call.bytes = r.call;
      call.clock = r.clock;
      call.inputs = r.inputs, call.outputs = r.outputs;
      call.contents = r.contents;
      const auto by = threads.lower_bound({r.context, r.clock});
      if (by != threads.end() && by->first.first == r.context) call.thread = by->second;
      calls_[{r.context, r.clock}] = script_.calls.size();
      try {
        const auto made = decoded(call.bytes, script_);
        known[call.context].check(made, call, script_.calls.size());
        call.ends = std::holds_alternative<msg::DestroyContext>(made);
      } catch (const Error& error) {
        refuse(error.message());
      }
      script_.calls.push_back(std::move(call));
    }
  }

  /// When the calls that destroy contexts were made: the context was lost by that, unless it was
  /// before. One whose actor never came to that call has none yet.
  void add_losses() {
    for (const auto& [thread, r] : records_.sent) {
      if (!is<msg::submit>(r)) continue;
      if (r.about.what != recording::call_number<msg::DestroyContext>) continue;
      if (auto* const call = end_of(context(r.context))) call->lost_clock = r.clock;
    }
    for (const auto& r : records_.lost) {
      if (r.ticket != 0) continue;  // by an operation
      auto* call = end_of(context(r.context));
      if (call == nullptr) {
        call = &script_.calls.emplace_back();
        call->context = context(r.context);
        call->ends = call->untaken = true;
      }
      call->lost_clock = r.clock;
    }
  }
  Call* end_of(std::size_t number) {
    const auto call = std::ranges::find_if(
        script_.calls, [&](const Call& c) { return c.ends && c.context == number; });
    return call == script_.calls.end() ? nullptr : &*call;
  }

  /// The message by which an operation was issued; nullptr if it was not seen.
  const recording::Sent* issued(std::uint64_t context, std::uint64_t ticket) const {
    const auto known = joined_.issued.find({context, ticket});
    return known == joined_.issued.end() ? nullptr : &records_.sent[known->second].record;
  }
  template <class O>
  static bool issues(const recording::Sent* sent) {
    return sent != nullptr && sent->about.what == recording::operation_number<O>;
  }
  /// The call that an operation was issued for, which was when it was taken. A plan is loaded when
  /// it is compiled, not when that was called.
  Call* call_of(std::uint64_t context, std::uint64_t ticket) {
    const auto* const sent = issued(context, ticket);
    if (sent == nullptr || issues<msg::op::Load>(sent)) return nullptr;
    const auto after = calls_.upper_bound({context, sent->clock});
    if (after == calls_.begin() || std::prev(after)->first.first != context) return nullptr;
    return &script_.calls[std::prev(after)->second];
  }

  void add_outcomes() {
    for (const auto& [key, index] : joined_.issued) {
      const auto& r = records_.sent[index].record;
      auto& placed = script_.contexts[context(r.context)].placement[r.about.ticket];
      placed.lane = r.footprint.lane;
      const auto& waits = r.footprint.waits;
      for (std::size_t i = 0; i + 1 < waits.size(); i += 2)
        placed.waits.push_back({static_cast<std::uint32_t>(waits[i]), waits[i + 1]});
    }
    for (const auto& [thread, r] : records_.sent) {
      if (r.about.error.empty() || is<msg::carry_out>(r) || is<msg::submit>(r)) continue;
      if (is<msg::compiled>(r)) {
        script_.contexts[context(r.context)].not_built.try_emplace(
            r.footprint.graph, inner_error(trace::errors_in(r.about.error)));
        continue;
      }
      const bool invalid =
          is<msg::graph_became>(r) && r.about.what == recording::outcome_number<msg::Invalid>;
      add_error(r.context, r.about.ticket, r.about.error, invalid);
    }
    for (const auto& r : records_.answered) {
      add_error(r.context, r.ticket, r.error, false);
      if (issues<msg::op::Write>(issued(r.context, r.ticket)))
        if (auto* const call = call_of(r.context, r.ticket)) call->given_up = true;
    }
    for (const auto& r : records_.carried)
      if (r.submitted) script_.contexts[context(r.context)].submitted.insert(r.ticket);
    for (const auto& r : records_.carried)
      if (r.operation == recording::operation_number<msg::op::Read> ||
          r.operation == recording::operation_number<msg::op::Compute>)
        script_.answered_before.emplace(context(r.context), r.ticket);
    for (const auto& r : records_.answered)
      script_.answered_before.erase({context(r.context), r.ticket});
    for (const auto& r : records_.given_back)
      if (auto* const call = call_of(r.context, r.ticket)) call->given_back = r.contents;
  }

  void add_unheard() {
    const auto count = [this](const recording::Sent& r, int by) {
      const auto to = roles_.find({r.context, r.to});
      if ((is<msg::await_turn>(r) || is<msg::reached>(r)) && to != roles_.end())
        script_.unheard[{to->second, r.about.message, ticket_of(r, roles_)}] += by;
    };
    for (const auto& [thread, r] : records_.sent) count(r, 1);
    for (const auto& match : joined_.sent_of_handled)
      if (match) count(records_.sent[*match].record, -1);
    std::erase_if(script_.unheard, [](const auto& entry) { return entry.second == 0; });
  }

  void add_error(std::uint64_t in, std::uint64_t ticket, std::string_view lines, bool invalid) {
    const auto chain = trace::errors_in(lines);
    // An error that names no operation is no failure: a lease that was revoked left its tensor
    // without bytes.
    if (chain.empty() || chain.front().operation.empty()) return;
    if (const auto* const sent = issued(in, ticket); issues<msg::op::Load>(sent)) {
      script_.contexts[context(in)].not_loaded.try_emplace(sent->footprint.graph,
                                                           inner_error(chain));
      return;
    }
    auto* const call = call_of(in, ticket);
    if (call == nullptr) return;
    call->inherent |= invalid;
    const auto& first = chain.front();
    if (first.message == msg::its_caller_gave_up) return;  // and had no other reason
    const bool not_started = !first.ran && chain.size() == 1;
    if (not_started && first.kind == "timed_out") call->expired = true;
    if (not_started && first.kind == "aborted") call->cancelled = true;
    // An inherited error strikes nothing: nothing was tried.
    if (!call->fault && !call->expired && !call->cancelled) call->fault = inner_error(chain);
  }

  const trace::JoinedTrace& joined_;
  const trace::Records& records_;
  Script script_;
  std::map<std::uint64_t, std::size_t> contexts_;
  std::map<Key, Role> roles_;
  std::map<Key, std::size_t> calls_;  ///< by context and logical time
};

}  // namespace

Script script_of(const trace::JoinedTrace& joined) { return Writer(joined).write(); }

}  // namespace polychron::replay
