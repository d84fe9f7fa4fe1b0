// Rules of the errors that calls may throw or be rejected with, and of the calls that must be
// refused (docs/contract.md: lifetimes, endings, load, call by call).
#include "tests/rules/story.hpp"

namespace polychron::rules {

namespace {

using Change = std::function<void(Story&)>;

Error of_kind(ErrorKind kind) { return failure("", kind); }

/// A call that throws `kind`, which only `excuse` allows.
Case thrown_only(const std::string& rule, ErrorKind kind, stress::Call call, Change excuse,
                 Change otherwise = {}) {
  return told(rule, "threw: ", [=](Story& s, bool broken) {
    if (broken ? bool(otherwise) : true) (broken ? otherwise : excuse)(s);
    auto& made = s.make(call);
    made.thrown = of_kind(kind);
    made.submitted = false;
  });
}
/// A read of tensor 0 that is rejected with the same.
Case rejected_only(const std::string& rule, const Error& error, stress::Call call, Change excuse) {
  return told(rule, "was rejected", [=](Story& s, bool broken) {
    if (!broken) excuse(s);
    s.ask(call, rejects(error));
  });
}

Change few_places(bool blocks) {
  return [blocks](Story& s) {
    s.program.max_in_flight = 1;
    s.program.blocks = blocks;
  };
}
Change destroys(Kind kind, std::size_t object = 0) {
  return [=](Story& s) { s.destroy(kind, object); };
}

void add_thrown(std::vector<Case>& cases) {
  const stress::Call write{.kind = Kind::write, .tensor = 0, .value = 1};
  const stress::Call dispatch{.kind = Kind::dispatch, .tensor = 1, .inputs = {0}};
  const stress::Call compute{.kind = Kind::compute};
  const auto state = ErrorKind::invalid_state;
  cases.push_back(thrown_only("a write is refused: no tensor", state, write,
                              destroys(Kind::destroy_tensor), destroys(Kind::destroy_tensor, 1)));
  cases.push_back(thrown_only("a dispatch is refused: no output", state, dispatch,
                              destroys(Kind::destroy_tensor, 1),
                              destroys(Kind::destroy_tensor, 2)));
  cases.push_back(thrown_only("a dispatch is refused: no input", state, dispatch,
                              destroys(Kind::destroy_tensor, 0),
                              destroys(Kind::destroy_tensor, 2)));
  cases.push_back(thrown_only("a dispatch is refused: no graph", state, dispatch,
                              destroys(Kind::destroy_graph), destroys(Kind::destroy_graph, 1)));
  cases.push_back(thrown_only("a compute is refused: no graph", state, compute,
                              destroys(Kind::destroy_graph), destroys(Kind::destroy_graph, 1)));
  cases.push_back(thrown_only(
      "a write is refused: on lease", state, write, [](Story& s) { s.lend(0, true); },
      [](Story& s) { s.lend(0); }));
  cases.push_back(thrown_only("a scope is refused: no context", state, {.kind = Kind::push_scope},
                              destroys(Kind::destroy_context), destroys(Kind::destroy_tensor)));
  cases.push_back(thrown_only(
      "the context is lost only by a fault", ErrorKind::context_lost, write,
      [](Story& s) { s.fault(FaultPoint::execute, ErrorKind::context_lost); },
      [](Story& s) { s.fault(FaultPoint::execute, ErrorKind::out_of_memory); }));
  cases.push_back(thrown_only(
      "constant tensors are for builders: not to be written", ErrorKind::type_error,
      {.kind = Kind::write, .tensor = 3}, [](Story& s) { s.constant(3); },
      [](Story& s) { s.create(3); }));
  cases.push_back(thrown_only(
      "constant tensors are for builders: no inputs", ErrorKind::type_error,
      {.kind = Kind::dispatch, .tensor = 1, .inputs = {3}}, [](Story& s) { s.constant(3); },
      [](Story& s) { s.create(3); }));
  cases.push_back(thrown_only("a call finds no place only if they are few",
                              ErrorKind::quota_exceeded, write, few_places(false),
                              [](Story& s) { s.program.blocks = false; }));
  cases.push_back(thrown_only(
      "a call that waits finds a place, unless for a lease", ErrorKind::quota_exceeded, write,
      [](Story& s) {
        few_places(true)(s);
        s.lend(1);
      },
      few_places(true)));
  cases.push_back(
      told("a call times out only by its deadline", "threw: ", [](Story& s, bool broken) {
        auto& made = s.write(0, 1);
        made.call.deadline = broken ? 0 : 5;
        made.thrown = of_kind(ErrorKind::timed_out);
      }));
  cases.push_back(
      told("a call is aborted only by its cancellation", "threw: ", [](Story& s, bool broken) {
        auto& made = s.write(0, 1);
        made.call.cancellation = broken ? 2 : 1;
        made.thrown = of_kind(ErrorKind::aborted);
        s.cancel(1);
      }));
  cases.push_back(
      told("a call that threw has done nothing", "gave 7, expected 0", [](Story& s, bool broken) {
        auto& made = s.write(0, 7);
        made.call.deadline = 5;
        made.thrown = of_kind(ErrorKind::timed_out);
        s.read(0, gives(broken ? 7 : 0));
      }));
}

void add_rejected(std::vector<Case>& cases) {
  const stress::Call read{.kind = Kind::read, .tensor = 0}, query{.kind = Kind::query};
  const stress::Call lend{.kind = Kind::lend, .tensor = 0}, compute{.kind = Kind::compute};
  for (const auto& call : {read, query, lend})
    cases.push_back(told(to_string(call) + " is refused for its own tensor's sake", "was rejected",
                         [=](Story& s, bool broken) {
                           s.ask(call, rejects(refusal()));
                           s.destroy(Kind::destroy_tensor, broken ? 1 : 0);
                         }));
  cases.push_back(rejected_only("a compute is refused for its graph's sake", refusal("graph #1"),
                                compute, destroys(Kind::destroy_graph)));
  cases.push_back(
      told("a refusal is of the kind of what there is", "was rejected", [](Story& s, bool broken) {
        const auto kind = broken ? ErrorKind::operation_error : ErrorKind::invalid_state;
        s.read(0, rejects(Error(kind, "told").with_object("tensor #1")));
        s.destroy(Kind::destroy_tensor);
      }));
  cases.push_back(told("a refusal names what it is about", "was rejected without its name",
                       [](Story& s, bool broken) {
                         const Error bare(ErrorKind::invalid_state, "it is destroyed");
                         s.read(0, rejects(broken ? bare : bare.with_object("tensor #1")));
                         s.read(0, rejects(broken ? bare : bare.with_operation("read")));
                         s.destroy(Kind::destroy_tensor);
                       }));
  cases.push_back(told("a refusal speaks of the context only if that ends",
                       "was refused, and the context lives", [](Story& s, bool broken) {
                         const Error gone(ErrorKind::invalid_state, "the context is destroyed");
                         s.read(0, rejects(gone.with_operation("read")));
                         s.destroy(Kind::destroy_tensor);
                         if (!broken) s.destroy(Kind::destroy_context);
                       }));
  cases.push_back(told("so does what is thrown", "was refused, and the context lives",
                       [](Story& s, bool broken) {
                         auto& made = s.write(0, 1);
                         made.submitted = false;
                         made.thrown = Error(ErrorKind::invalid_state, "the context is destroyed");
                         s.destroy(Kind::destroy_tensor);
                         if (!broken) s.destroy(Kind::destroy_context);
                       }));
  cases.push_back(told("a pop without a scope speaks of that", "was refused, and the context lives",
                       [](Story& s, bool broken) {
                         s.pop(rejects(Error(ErrorKind::invalid_state,
                                             broken ? "the context is destroyed" : "no scope")));
                       }));
  cases.push_back(told("a limit may be the context's", "", [](Story& s, bool) {
    few_places(false)(s);
    auto& made = s.write(0, 1);
    made.submitted = false;
    made.thrown = Error(ErrorKind::quota_exceeded, "the context has 1 operations in flight");
  }));
  cases.push_back(told("what was lent comes back, whatever happens", "kept what it was lent",
                       [](Story& s, bool broken) {
                         auto answer = rejects(refusal("graph #1"));
                         answer.kept = broken;
                         s.compute(1, answer);
                         s.destroy(Kind::destroy_graph);
                       }));
  cases.push_back(told(
      "as the context ends nothing but that is said", "was rejected", [](Story& s, bool broken) {
        const auto kind = broken ? ErrorKind::operation_error : ErrorKind::invalid_state;
        s.query(0, rejects(of_kind(kind)));
        s.destroy(Kind::destroy_context);
      }));
  cases.push_back(told("a lost context says so", "was rejected", [](Story& s, bool broken) {
    s.fault(FaultPoint::execute, broken ? ErrorKind::out_of_memory : ErrorKind::context_lost);
    s.query(0, rejects(of_kind(ErrorKind::context_lost)));
  }));
  cases.push_back(
      told("the end is the context's, not a tensor's", "was rejected", [](Story& s, bool broken) {
        s.query(0, rejects(of_kind(ErrorKind::invalid_state)));
        if (!broken) s.destroy(Kind::destroy_context);
      }));
  cases.push_back(rejected_only("a call finds no place only if they are few",
                                of_kind(ErrorKind::quota_exceeded), query, few_places(false)));
  cases.push_back(told(
      "few places are an excuse for no other error", "was rejected", [](Story& s, bool broken) {
        few_places(false)(s);
        const auto kind = broken ? ErrorKind::operation_error : ErrorKind::quota_exceeded;
        s.query(0, rejects(of_kind(kind)));
      }));
  cases.push_back(
      told("constant tensors are not to be read", "was rejected", [](Story& s, bool broken) {
        s.constant(3);
        s.create(4);
        s.read(broken ? 4 : 3, rejects(of_kind(ErrorKind::type_error)));
      }));
  cases.push_back(told("a constant tensor is an excuse for no other error", "was rejected",
                       [](Story& s, bool broken) {
                         s.constant(3);
                         const auto kind = broken ? ErrorKind::aborted : ErrorKind::type_error;
                         s.read(3, rejects(of_kind(kind)));
                       }));
}

void add_refused(std::vector<Case>& cases) {
  const char* const answered = "was answered";
  cases.push_back(told("a destroyed tensor is not read", answered, [](Story& s, bool broken) {
    s.destroy(Kind::destroy_tensor, broken ? 0 : 1);
    s.read(0, gives(0));
  }));
  cases.push_back(told("a destroyed tensor's read is rejected", "", [](Story& s, bool) {
    s.destroy(Kind::destroy_tensor);
    s.read(0, rejects(refusal()));
  }));
  cases.push_back(
      told("a destroyed tensor has no error to ask for", answered, [](Story& s, bool broken) {
        s.destroy(Kind::destroy_tensor, broken ? 0 : 1);
        s.query(0);
      }));
  cases.push_back(told("a destroyed graph computes nothing", answered, [](Story& s, bool broken) {
    s.destroy(Kind::destroy_graph, broken ? 0 : 1);
    s.compute(7, gives(g0(7)));
  }));
  cases.push_back(told("a compute whose graph was destroyed says so", "", [](Story& s, bool) {
    s.destroy(Kind::destroy_graph);
    s.compute(7, rejects(failure("c0.1", ErrorKind::operation_error)));
  }));
  cases.push_back(told("a dispatch of a destroyed tensor leaves its output errored",
                       "expected an error of c0.1", [](Story& s, bool broken) {
                         s.destroy(Kind::destroy_tensor);
                         s.dispatch(0, 1);
                         s.read(1, broken ? gives(g0(0)) : rejects(read_error("c0.1")));
                       }));
  cases.push_back(told("a dispatch of a destroyed graph leaves its output errored",
                       "expected an error of c0.1", [](Story& s, bool broken) {
                         s.destroy(Kind::destroy_graph);
                         s.dispatch(0, 1);
                         s.read(1, broken ? gives(g0(0)) : rejects(read_error("c0.1")));
                       }));
  cases.push_back(
      told("a write as its tensor is destroyed is done, or not", "", [](Story& s, bool was_done) {
        s.write(0, 7);
        s.read(0, gives(was_done ? 7 : 0));
        s.destroy(Kind::destroy_tensor);
      }));
  cases.push_back(told("after the end nothing is answered", "was answered after the end",
                       [](Story& s, bool broken) {
                         if (broken) s.destroy(Kind::destroy_context);
                         s.ask({.kind = Kind::pending});
                         if (!broken) s.destroy(Kind::destroy_context);
                       }));
  cases.push_back(told("after the end calls are rejected", "", [](Story& s, bool) {
    s.destroy(Kind::destroy_context);
    s.destroy(Kind::destroy_context);
    s.query(0, rejects(of_kind(ErrorKind::invalid_state)));
  }));
  cases.push_back(
      told("the end is the first one", "was answered after the end", [](Story& s, bool broken) {
        if (broken) s.destroy(Kind::destroy_context);
        s.query(0);
        s.destroy(Kind::destroy_context);
      }));
}

}  // namespace

std::vector<Case> refusal_cases() {
  std::vector<Case> cases;
  add_thrown(cases);
  add_rejected(cases);
  add_refused(cases);
  return cases;
}

}  // namespace polychron::rules
