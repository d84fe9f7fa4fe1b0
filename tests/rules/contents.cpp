// Rules of the contents of tensors, and of the answers that follow from them (docs/contract.md:
// order, errors, conditions).
#include "tests/rules/story.hpp"

namespace polychron::rules {

namespace {

/// A dispatch or write that may fail by a fault, and whether the failure was reported.
void heard(Story& s, const std::string& label) { s.history.uncaptured.push_back(failure(label)); }

void add_order(std::vector<Case>& cases) {
  cases.push_back(told("a read sees what was written before it", "gave 8, expected 7",
                       [](Story& s, bool broken) {
                         s.write(0, 7);
                         s.read(0, gives(broken ? 8 : 7));
                       }));
  cases.push_back(told("a read sees nothing that was written after it", "gave 9, expected 7",
                       [](Story& s, bool broken) {
                         s.write(0, 7);
                         s.read(0, gives(broken ? 9 : 7));
                         s.write(0, 9);
                       }));
  cases.push_back(told("what was never written reads as zero", "gave 1, expected 0",
                       [](Story& s, bool broken) { s.read(2, gives(broken ? 1 : 0)); }));
  cases.push_back(
      told("what was created reads as zero", "gave 1, expected 0", [](Story& s, bool broken) {
        s.create(3);
        s.read(3, gives(broken ? 1 : 0));
      }));
  cases.push_back(told("a dispatch computes from what its input holds by then", "gave",
                       [](Story& s, bool broken) {
                         s.write(0, 7);
                         s.dispatch(0, 1);
                         s.write(0, 9);
                         s.read(1, gives(g0(broken ? 9 : 7)));
                       }));
  cases.push_back(
      told("a dispatch takes its inputs by their names", "gave", [](Story& s, bool broken) {
        s.write(0, 7);
        s.write(1, 8);
        s.make({.kind = Kind::dispatch, .tensor = 2, .inputs = {0, 1}, .graph = 1});
        const std::vector<std::uint64_t> right{7, 8}, wrong{8, 7};
        s.read(2, gives(stress::symbolic_result("g1", 0, broken ? wrong : right)));
      }));
  cases.push_back(told("a compute computes from its buffers", "gave",
                       [](Story& s, bool broken) { s.compute(7, gives(g0(broken ? 8 : 7))); }));
  cases.push_back(told("a reply comes", "was never answered", [](Story& s, bool broken) {
    auto& read = s.read(0, gives(0));
    if (broken) read.answer.reset();
  }));
  cases.push_back(told("a call that throws needs no reply", "", [](Story& s, bool) {
    s.destroy(Kind::destroy_tensor, 0);
    auto& read = s.read(0, {});
    read.answer.reset();
    read.has_reply = false;
    read.thrown = refusal();
  }));
}

/// Whatever may fail by a fault fails by none else.
void add_faults(std::vector<Case>& cases) {
  using Tell = std::function<void(Story&)>;
  const Answer failed = rejects(failure("c0.0"));
  const std::vector<std::tuple<std::string, std::vector<FaultPoint>, Tell>> calls{
      {"a read", {FaultPoint::read}, [=](Story& s) { s.read(0, failed); }},
      {"a creation",
       {FaultPoint::allocate, FaultPoint::adopt},
       [=](Story& s) { s.create(3, failed); }},
      {"a build", {FaultPoint::compile}, [=](Story& s) { s.ask({.kind = Kind::build}, failed); }},
      {"a compute",
       {FaultPoint::allocate, FaultPoint::adopt, FaultPoint::execute, FaultPoint::instantiate},
       [=](Story& s) { s.compute(7, failed); }},
      {"a write",
       {FaultPoint::allocate, FaultPoint::adopt},
       [](Story& s) {
         s.write(0, 7);
         heard(s, "c0.0");
         s.read(0, rejects(read_error("c0.0")));
       }},
      {"a dispatch",
       {FaultPoint::execute, FaultPoint::instantiate},
       [](Story& s) {
         s.dispatch(0, 1);
         heard(s, "c0.0");
         s.read(1, rejects(read_error("c0.0")));
       }},
      {"a list of what is pending", {}, [=](Story& s) { s.ask({.kind = Kind::pending}, failed); }},
      {"a query", {}, [=](Story& s) { s.query(0, failed); }},
      {"a lease", {}, [=](Story& s) { s.ask({.kind = Kind::lend}, failed); }},
      {"a pop",
       {},
       [=](Story& s) {
         s.push(ErrorFilter::internal);
         s.pop(failed);
       }},
  };
  for (const auto& [name, points, call] : calls) {
    const auto tell = call;  // Clang 14 captures no structured bindings
    if (points.empty())
      cases.push_back(told(name + " does not fail", "was rejected", [tell](Story& s, bool broken) {
        if (broken) tell(s);
      }));
    for (const auto point : points)
      cases.push_back(told(name + " fails by its own faults alone", "was rejected",
                           [tell, point](Story& s, bool broken) {
                             const bool compiles = point == FaultPoint::compile;
                             s.fault(broken ? (compiles ? FaultPoint::read : FaultPoint::compile)
                                            : point);
                             tell(s);
                           }));
  }
}

void add_errors(std::vector<Case>& cases) {
  cases.push_back(told("a write that failed leaves its tensor errored", "expected an error of c0.0",
                       [](Story& s, bool broken) {
                         s.fault(FaultPoint::allocate);
                         s.write(0, 7);
                         heard(s, "c0.0");
                         s.read(0, broken ? gives(7) : rejects(read_error("c0.0")));
                       }));
  cases.push_back(told("a write of whose failure nobody heard has not failed", "was rejected",
                       [](Story& s, bool broken) {
                         s.fault(FaultPoint::allocate);
                         s.write(0, 7);
                         s.read(0, broken ? rejects(read_error("c0.0")) : gives(7));
                       }));
  cases.push_back(told("a dispatch that failed leaves its output errored",
                       "expected an error of c0.0", [](Story& s, bool broken) {
                         s.fault(FaultPoint::execute);
                         s.dispatch(0, 1);
                         heard(s, "c0.0");
                         s.read(1, broken ? gives(g0(0)) : rejects(read_error("c0.0")));
                       }));
  cases.push_back(told("a dispatch of whose failure nobody heard has not failed", "was rejected",
                       [](Story& s, bool broken) {
                         s.fault(FaultPoint::execute);
                         s.dispatch(0, 1);
                         s.read(1, broken ? rejects(read_error("c0.0")) : gives(g0(0)));
                       }));
  cases.push_back(told("a rejected read names what errored its tensor", "was rejected",
                       [](Story& s, bool broken) {
                         s.fault(FaultPoint::execute);
                         s.dispatch(0, 1);
                         s.dispatch(0, 2);
                         heard(s, "c0.0");
                         heard(s, "c0.1");
                         s.read(1, rejects(read_error(broken ? "c0.1" : "c0.0")));
                       }));
  cases.push_back(told("an errored input errors the output", "expected an error of c0.0",
                       [](Story& s, bool broken) {
                         s.fault(FaultPoint::execute);
                         s.dispatch(0, 1);
                         heard(s, "c0.0");
                         s.dispatch(1, 2);
                         s.read(2, broken ? gives(g0(0)) : rejects(read_error("c0.0")));
                       }));
  cases.push_back(told("a write makes a tensor ready", "was rejected", [](Story& s, bool broken) {
    s.fault(FaultPoint::execute);
    s.dispatch(0, 1);
    heard(s, "c0.0");
    s.write(1, 7);
    s.read(1, broken ? rejects(read_error("c0.0")) : gives(7));
  }));
  cases.push_back(told("a dispatch fails each time only by an inherent fault", "was rejected",
                       [](Story& s, bool broken) {
                         s.fault(FaultPoint::execute, ErrorKind::operation_error, !broken);
                         s.dispatch(0, 1);
                         s.read(1, rejects(read_error("g0")));
                       }));
  cases.push_back(
      told("a query finds the error of its tensor", "found no error", [](Story& s, bool broken) {
        s.fault(FaultPoint::execute);
        s.dispatch(0, 1);
        heard(s, "c0.0");
        s.query(1, broken ? Answer{} : finds(failure("c0.0")));
      }));
  cases.push_back(told("a query finds the error that there is, and no other",
                       "found: ", [](Story& s, bool broken) {
                         s.fault(FaultPoint::execute);
                         s.dispatch(0, 1);
                         heard(s, "c0.0");
                         s.query(1, finds(failure(broken ? "c0.7" : "c0.0")));
                       }));
  cases.push_back(
      told("a query of what is ready finds nothing", "found: ", [](Story& s, bool broken) {
        s.query(1, broken ? finds(failure("c0.0")) : Answer{});
      }));
  cases.push_back(
      told("who failed as the context ended cannot be known", "", [](Story& s, bool fails) {
        s.fault(FaultPoint::execute);
        s.fault(FaultPoint::allocate);
        s.write(0, 7);
        s.dispatch(2, 1);
        s.read(0, fails ? rejects(read_error("c0.0")) : gives(7));
        s.read(1, fails ? rejects(read_error("c0.1")) : gives(g0(0)));
        s.destroy(Kind::destroy_context);
      }));
}

void add_conditions(std::vector<Case>& cases) {
  const char* const done = "was done, cancelled or late as it was";
  for (const auto kind : {Kind::write, Kind::dispatch, Kind::compute}) {
    const stress::Call call{.kind = kind, .tensor = 1, .inputs = {0}, .value = 7};
    const auto make = [call](Story& s) -> Made& {
      if (call.kind != Kind::compute) return s.make(call);
      return s.ask(call, gives(g0(7)));
    };
    const auto name = to_string(call);
    cases.push_back(told(name + ": late", done, [=](Story& s, bool broken) {
      auto& made = make(s);
      made.call.deadline = 3;
      made.time = broken ? 4 : 3;
    }));
    cases.push_back(told(name + ": without a deadline", "",
                         [=](Story& s, bool late) { make(s).time = late ? 4 : 0; }));
    cases.push_back(told(name + ": cancelled before", done, [=](Story& s, bool broken) {
      if (broken) s.cancel(1);
      make(s).call.cancellation = 1;
      if (!broken) s.cancel(1);
    }));
    cases.push_back(told(name + ": of another cancellation", done, [=](Story& s, bool broken) {
      s.cancel(1);
      make(s).call.cancellation = broken ? 1 : 2;
    }));
    cases.push_back(told(name + ": it was skipped", "", [=](Story& s, bool late) {
      s.cancel(1);
      const auto label = s.next();
      auto& made = make(s);
      if (late)
        made.call.deadline = 1, made.time = 2;
      else
        made.call.cancellation = 1;
      if (made.answer) return void(made.answer = rejects(failure(label, ErrorKind::aborted)));
      heard(s, label);
      s.read(1, rejects(read_error(label)));
    }));
  }
  cases.push_back(told("nothing errored is read as data", "expected an error of c0.0",
                       [](Story& s, bool broken) {
                         s.fault(FaultPoint::allocate);
                         s.write(0, 7);
                         heard(s, "c0.0");
                         s.read(0, broken ? gives(0) : rejects(read_error("c0.0")));
                       }));
  cases.push_back(
      told("a dispatch of what may be either gives either", "", [](Story& s, bool happened) {
        s.write(0, 7);
        s.dispatch(0, 1);
        s.read(1, gives(g0(happened ? 7 : 0)));
        s.destroy(Kind::destroy_tensor);
      }));
  cases.push_back(told("a write that threw was not done late", "", [](Story& s, bool) {
    auto& made = s.write(0, 7);
    made.call.deadline = 1;
    made.time = 2;
    made.thrown = failure("c0.0", ErrorKind::timed_out);
  }));
  cases.push_back(told("an operation with an errored input is not reported as cancelled", "",
                       [](Story& s, bool) {
                         s.fault(FaultPoint::execute);
                         s.cancel(1);
                         s.dispatch(0, 1);
                         heard(s, "c0.1");
                         s.dispatch(1, 2).call.cancellation = 1;
                         s.read(2, rejects(read_error("c0.1")));
                       }));
  cases.push_back(
      told("a compute is skipped only for a reason", "was rejected", [](Story& s, bool broken) {
        const auto late = failure("c0.0", ErrorKind::timed_out);
        s.compute(7, rejects(late)).call.deadline = broken ? 0 : 1;
      }));
}

}  // namespace

std::vector<Case> contents_cases() {
  std::vector<Case> cases;
  add_order(cases);
  add_faults(cases);
  add_errors(cases);
  add_conditions(cases);
  return cases;
}

}  // namespace polychron::rules
