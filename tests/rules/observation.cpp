// Rules of the reports of failures (docs/contract.md: observation).
#include "tests/rules/story.hpp"

namespace polychron::rules {

namespace {

using enum ErrorFilter;

/// A dispatch that fails, out of memory; its label.
std::string fail(Story& s) {
  if (s.program.faults.empty()) s.fault(FaultPoint::execute);
  const auto label = s.next();
  s.dispatch(0, 1);
  return label;
}
/// A call that throws invalid_state. A scope for validation errors has a right to it.
Error throws(Story& s) {
  s.destroy(Kind::destroy_tensor, 2);
  const auto error = refusal().with_operation("write", s.next());
  auto& made = s.write(2, 1);
  made.thrown = error;
  made.submitted = false;
  return error;
}

void add_scopes(std::vector<Case>& cases) {
  cases.push_back(
      told("the handler hears what no scope takes", "the handler heard", [](Story& s, bool broken) {
        s.push(broken ? out_of_memory : validation);
        s.history.uncaptured.push_back(failure(fail(s)));
        s.pop();
      }));
  cases.push_back(
      told("a scope that is lost leaves its errors to the handler", "", [](Story& s, bool) {
        s.push(out_of_memory);
        s.history.uncaptured.push_back(failure(fail(s)));
        s.destroy(Kind::destroy_context);
      }));
  cases.push_back(told("an error is heard once", "was heard 2 times", [](Story& s, bool broken) {
    const auto error = failure(fail(s));
    s.history.uncaptured.assign(broken ? 2 : 1, error);
  }));
  cases.push_back(told("what has no label may be heard often", "", [](Story& s, bool) {
    s.history.uncaptured.assign(2, failure(""));
    s.history.uncaptured.push_back(failure("graph"));
    s.history.uncaptured.push_back(failure("graph"));
  }));
  cases.push_back(told(
      "there has to be a scope to pop", "popped a scope where none was", [](Story& s, bool broken) {
        s.pop(broken ? Answer{} : rejects(Error(ErrorKind::invalid_state, "no scope")));
      }));
  cases.push_back(
      told("a popped scope is gone", "popped a scope where none was", [](Story& s, bool broken) {
        s.push(internal);
        if (!broken) s.push(internal);
        s.pop();
        s.pop();
      }));
  cases.push_back(told("a scope that was not opened is none", "popped a scope where none was",
                       [](Story& s, bool broken) {
                         s.push(internal);
                         auto& push = s.history.calls.back();
                         if (broken) push.submitted = false;
                         if (broken) s.program.max_in_flight = 1, s.program.blocks = false;
                         if (broken) push.thrown = failure("c0.0", ErrorKind::quota_exceeded);
                         s.pop();
                       }));
  cases.push_back(told("a pop is refused only where there is no scope", "was rejected",
                       [](Story& s, bool broken) {
                         if (broken) s.push(internal);
                         s.pop(rejects(Error(ErrorKind::invalid_state, "no scope")));
                       }));
  cases.push_back(told("a scope has what its filter takes", "found what its filter does not take",
                       [](Story& s, bool broken) {
                         s.push(broken ? validation : out_of_memory);
                         s.pop(finds(failure(fail(s))));
                       }));
  cases.push_back(told("a scope has nothing from before it", "found what was called outside",
                       [](Story& s, bool broken) {
                         if (!broken) s.push(out_of_memory);
                         const auto label = fail(s);
                         if (broken) s.push(out_of_memory);
                         s.pop(finds(failure(label)));
                       }));
  cases.push_back(told("a scope has what says nothing of calls", "", [](Story& s, bool of_another) {
    s.push(out_of_memory);
    s.pop(finds(failure(of_another ? "graph" : "")));
  }));
  cases.push_back(told("the innermost scope that takes an error has it",
                       "found what a scope within it should have had", [](Story& s, bool broken) {
                         s.push(out_of_memory);
                         s.push(broken ? out_of_memory : internal);
                         const auto label = fail(s);
                         s.pop();
                         s.pop(finds(failure(label)));
                       }));
  cases.push_back(told("who heard that it failed is believed", "expected an error of c0.1",
                       [](Story& s, bool broken) {
                         s.push(out_of_memory);
                         const auto label = fail(s);
                         s.pop(finds(failure(label)));
                         s.read(1, broken ? gives(g0(0)) : rejects(read_error(label)));
                       }));
  cases.push_back(
      told("a scope keeps the first: of others nobody knows", "", [](Story& s, bool failed) {
        s.push(out_of_memory);
        const auto first = fail(s), second = s.next();
        s.dispatch(0, 2);
        s.pop(finds(failure(first)));
        s.read(2, failed ? rejects(read_error(second)) : gives(g0(0)));
      }));
}

void add_thrown_observations(std::vector<Case>& cases) {
  const char* const missed = "found nothing, and a call in its scope had thrown";
  cases.push_back(told("a scope has what was thrown in it", missed, [](Story& s, bool broken) {
    s.push(validation);
    const auto thrown = throws(s);
    s.pop(broken ? Answer{} : finds(thrown));
  }));
  cases.push_back(
      told("a scope has not what its filter does not take", missed, [](Story& s, bool broken) {
        s.push(broken ? validation : internal);
        throws(s);
        s.pop();
      }));
  cases.push_back(
      told("the innermost scope has what was thrown", missed, [](Story& s, bool broken) {
        s.push(validation);
        s.push(validation);
        const auto thrown = throws(s);
        s.pop(broken ? Answer{} : finds(thrown));
        s.pop();
      }));
  cases.push_back(told("a flood of refusals says the same", missed, [](Story& s, bool broken) {
    s.program.max_in_flight = 1;
    s.program.blocks = false;
    s.push(validation);
    if (broken) throws(s);
    s.write(0, 1).thrown = failure("", ErrorKind::quota_exceeded);
    s.pop();
  }));
  cases.push_back(
      told("a pop that is refused has found nothing", missed, [](Story& s, bool broken) {
        s.program.max_in_flight = 1;
        s.push(validation);
        throws(s);
        const Error full(ErrorKind::quota_exceeded, "too many questions");
        s.pop(broken ? Answer{} : rejects(full));
      }));
  cases.push_back(
      told("what is thrown as a context ends is lost", missed, [](Story& s, bool broken) {
        s.push(validation);
        throws(s);
        s.pop();
        if (!broken) s.destroy(Kind::destroy_context);
      }));
}

void add_heard(std::vector<Case>& cases) {
  for (const bool left : {false, true}) {
    const auto hear = [left](Story& s, const Error& error) {
      (left ? s.history.left : s.history.uncaptured).push_back(error);
    };
    cases.push_back(told("a graph is invalid only by an inherent fault", "no graph is invalid",
                         [=](Story& s, bool broken) {
                           s.fault(FaultPoint::execute, ErrorKind::operation_error, !broken);
                           hear(s, failure("c0.0", ErrorKind::graph_invalid));
                         }));
    cases.push_back(told("an invariant breaks only where something throws",
                         "an invariant is broken", [=](Story& s, bool broken) {
                           s.fault(FaultPoint::execute, ErrorKind::operation_error, false, !broken);
                           hear(s, failure("c0.0", ErrorKind::internal));
                         }));
    cases.push_back(told("what only follows from another error is not reported",
                         "what only followed from another error", [=](Story& s, bool broken) {
                           const auto cause = failure(broken ? "c0.0" : "graph");
                           hear(s, failure("c0.1", ErrorKind::operation_error).caused_by(cause));
                         }));
  }
  cases.push_back(told("a graph's failure is reported of each dispatch", "", [](Story& s, bool) {
    s.fault(FaultPoint::execute, ErrorKind::operation_error, true);
    s.history.uncaptured.push_back(
        failure("c0.1", ErrorKind::graph_invalid).caused_by(failure("c0.0")));
  }));
  cases.push_back(told("what a scope had at the end was heard", "expected an error of c0.1",
                       [](Story& s, bool broken) {
                         s.push(out_of_memory);
                         const auto label = fail(s);
                         s.read(1, broken ? gives(g0(0)) : rejects(read_error(label)));
                         s.history.left.push_back(failure(label));
                       }));
  cases.push_back(
      told("what scopes had besides at the end nobody knows", "", [](Story& s, bool failed) {
        s.push(out_of_memory);
        const auto first = fail(s), second = s.next();
        s.dispatch(0, 2);
        s.read(2, failed ? rejects(read_error(second)) : gives(g0(0)));
        s.history.left.push_back(failure(first));
      }));
  cases.push_back(told("a scope that has nothing at the end keeps nothing", "was rejected",
                       [](Story& s, bool broken) {
                         s.push(out_of_memory);
                         const auto label = fail(s);
                         s.read(1, broken ? rejects(read_error(label)) : gives(g0(0)));
                       }));
}

}  // namespace

std::vector<Case> observation_cases() {
  std::vector<Case> cases;
  add_scopes(cases);
  add_thrown_observations(cases);
  add_heard(cases);
  return cases;
}

}  // namespace polychron::rules
