// Rules of features that only some programs have: a limit of bytes, and other contexts
// (docs/contract.md: load, call by call).
#include "tests/rules/story.hpp"

namespace polychron::rules {

namespace {

/// Few bytes, or a limit that nothing meets.
void few_bytes(Story& s, bool few) { s.program.spare_bytes = few ? 0 : 4096; }

Error no_memory() { return failure("", ErrorKind::out_of_memory); }

Made& thrown(Made& made, ErrorKind kind) {
  made.thrown = failure("", kind);
  made.submitted = false;
  return made;
}

}  // namespace

std::vector<Case> scarcity_cases() {
  std::vector<Case> cases;
  cases.push_back(told("a tensor is refused memory only if it is scarce", "was rejected",
                       [](Story& s, bool broken) {
                         few_bytes(s, !broken);
                         s.create(3, rejects(no_memory()));
                       }));
  cases.push_back(
      told("what memory is scarce for is told so", "was rejected", [](Story& s, bool broken) {
        few_bytes(s, true);
        s.create(3, rejects(failure(
                        "", broken ? ErrorKind::operation_error : ErrorKind::out_of_memory)));
      }));
  cases.push_back(told("a read needs no memory", "was rejected", [](Story& s, bool broken) {
    few_bytes(s, true);
    if (broken)
      s.read(0, rejects(no_memory()));
    else
      s.compute(1, rejects(no_memory()));
  }));
  cases.push_back(told("a write fails for memory only if it is scarce", "was rejected",
                       [](Story& s, bool broken) {
                         few_bytes(s, !broken);
                         const auto label = s.next();
                         s.write(0, 7);
                         s.history.uncaptured.push_back(failure(label));
                         s.read(0, rejects(read_error(label)));
                       }));
  cases.push_back(told("a dispatch fails for memory only if it is scarce", "was rejected",
                       [](Story& s, bool broken) {
                         few_bytes(s, !broken);
                         const auto label = s.next();
                         s.dispatch(0, 1);
                         s.history.uncaptured.push_back(failure(label));
                         s.read(1, rejects(read_error(label)));
                       }));
  cases.push_back(
      told("a write is turned away only if memory is scarce", "threw: ", [](Story& s, bool broken) {
        few_bytes(s, !broken);
        s.program.blocks = false;
        thrown(s.write(0, 1), ErrorKind::quota_exceeded);
      }));
  cases.push_back(told("a write that waits for memory is not turned away, unless for a lease",
                       "threw: ", [](Story& s, bool broken) {
                         few_bytes(s, true);
                         if (!broken) s.lend(1);
                         thrown(s.write(0, 1), ErrorKind::quota_exceeded);
                       }));
  cases.push_back(
      told("what is no write does not wait for memory", "threw: ", [](Story& s, bool broken) {
        few_bytes(s, true);
        s.program.blocks = false;
        thrown(broken ? s.dispatch(0, 1) : s.write(0, 1), ErrorKind::quota_exceeded);
      }));
  return cases;
}

std::vector<Case> context_cases() {
  std::vector<Case> cases;
  const stress::Call write{.kind = Kind::write, .tensor = 0, .value = 1, .foreign = true};
  cases.push_back(
      told("only another context's tensor is of no use", "threw: ", [write](Story& s, bool broken) {
        auto call = write;
        call.foreign = !broken;
        thrown(s.make(call), ErrorKind::type_error);
      }));
  cases.push_back(told("another context's tensor is refused at once", "was taken",
                       [write](Story& s, bool broken) {
                         thrown(s.make(write), ErrorKind::type_error).submitted = broken;
                       }));
  cases.push_back(told("a call on another context's tensor leaves this context's alone",
                       "gave 0, expected 7", [](Story& s, bool broken) {
                         s.ask({.kind = Kind::lend, .tensor = 0, .way = 1, .foreign = true},
                               rejects(failure("", ErrorKind::type_error)))
                             .submitted = false;
                         s.write(0, 7);
                         s.read(0, gives(broken ? 0 : 7));
                       }));
  return cases;
}

}  // namespace polychron::rules
