// Histories written by hand, for the model to judge: calls with their answers.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "observe/stress/model.hpp"
#include "observe/stress/quiescence.hpp"
#include "observe/stress/symbolic_backend.hpp"

namespace polychron::rules {

using stress::Answer;
using stress::FaultPoint;
using stress::Kind;
using stress::Made;

/// A program with its results. Each call is made when it is written, by client 0 unless another one
/// is given.
struct Story {
  stress::Program program;
  stress::History history;

  Made& make(stress::Call call, std::size_t client = 0) {
    if (program.clients.size() <= client) program.clients.resize(client + 1);
    auto& calls = program.clients[client];
    calls.push_back(call);
    Made made;
    made.client = client, made.index = calls.size() - 1, made.call = std::move(call);
    made.submitted = true;
    return history.calls.emplace_back(std::move(made));
  }
  /// Makes a call with a reply.
  Made& ask(stress::Call call, Answer answer = {}) {
    auto& made = make(std::move(call));
    made.has_reply = true;
    made.answer = std::move(answer);
    return made;
  }
  /// The label that client 0's next call will have.
  std::string next() const {
    return stress::label_of(0, program.clients.empty() ? 0 : program.clients[0].size());
  }

  Made& create(std::size_t tensor, Answer answer = {}) {
    return ask({.kind = Kind::create, .tensor = tensor}, std::move(answer));
  }
  Made& constant(std::size_t tensor) { return ask({.kind = Kind::constant, .tensor = tensor}); }
  Made& write(std::size_t tensor, std::uint64_t value) {
    return make({.kind = Kind::write, .tensor = tensor, .value = value});
  }
  /// The graph g0 of one tensor, into another.
  Made& dispatch(std::size_t input, std::size_t output) {
    return make({.kind = Kind::dispatch, .tensor = output, .inputs = {input}});
  }
  Made& compute(std::uint64_t value, Answer answer) {
    return ask({.kind = Kind::compute, .value = value}, std::move(answer));
  }
  Made& read(std::size_t tensor, Answer answer) {
    return ask({.kind = Kind::read, .tensor = tensor}, std::move(answer));
  }
  Made& query(std::size_t tensor, Answer answer = {}) {
    return ask({.kind = Kind::query, .tensor = tensor}, std::move(answer));
  }
  /// Granted, and its place in the history.
  std::size_t lend(std::size_t tensor, bool others_fail = false) {
    ask({.kind = Kind::lend, .tensor = tensor, .way = others_fail ? 1U : 0U});
    return history.calls.size() - 1;
  }
  Made& give_back(std::size_t lend, std::uint64_t value = 0) {
    auto& made =
        make({.kind = Kind::give_back, .tensor = history.calls[lend].call.tensor, .value = value});
    made.lent = lend;
    return made;
  }
  void push(ErrorFilter filter) {
    make({.kind = Kind::push_scope, .way = static_cast<unsigned>(filter)});
  }
  Made& pop(Answer answer = {}) { return ask({.kind = Kind::pop_scope}, std::move(answer)); }
  Made& destroy(Kind kind, std::size_t object = 0) {
    return make({.kind = kind, .tensor = object, .graph = object});
  }
  /// The context does not hear of it.
  Made& cancel(unsigned number) {
    auto& made = make({.kind = Kind::cancel, .cancellation = number});
    made.submitted = false;
    return made;
  }
  void fault(FaultPoint point, ErrorKind kind = ErrorKind::out_of_memory, bool inherent = false,
             bool throws = false) {
    program.faults.push_back({point, 1, kind, inherent, throws});
  }
};

inline Answer gives(std::uint64_t value) { return {.error = {}, .value = value, .found = {}}; }
inline Answer rejects(Error error) { return {.error = std::move(error), .value = {}, .found = {}}; }
inline Answer finds(Error error) { return {.error = {}, .value = {}, .found = std::move(error)}; }

/// The result of graph g0 for `value`.
inline std::uint64_t g0(std::uint64_t value) {
  return stress::symbolic_result("g0", 0, std::vector{value});
}

inline Error failure(const std::string& label, ErrorKind kind = ErrorKind::out_of_memory) {
  return Error(kind, "told by a test").with_operation("dispatch", label, 1);
}
/// A read's, of a tensor that `label` left errored.
inline Error read_error(const std::string& label) {
  return Error(ErrorKind::operation_error, "the tensor is errored")
      .with_operation("read")
      .caused_by(failure(label));
}
inline Error refusal(const std::string& object = "tensor #1") {
  return Error(ErrorKind::invalid_state, "it is destroyed")
      .with_operation("read")
      .with_object(object);
}

/// One rule: what the model says when it is broken, and nothing if everything but that is the same.
struct Case {
  std::string rule;
  const char* refusal;  ///< a part of it; empty: the case is innocent either way
  std::function<std::optional<std::string>(bool broken)> judge;
};

inline Case told(std::string rule, const char* refusal, std::function<void(Story&, bool)> tell) {
  return {std::move(rule), refusal, [tell = std::move(tell)](bool broken) {
            Story story;
            tell(story, broken);
            return stress::check(story.program, story.history);
          }};
}

std::vector<Case> contents_cases();
std::vector<Case> observation_cases();
std::vector<Case> lease_cases();
std::vector<Case> refusal_cases();
std::vector<Case> quiescence_cases();
std::vector<Case> scarcity_cases();
std::vector<Case> context_cases();

}  // namespace polychron::rules
