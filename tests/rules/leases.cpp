// Rules of leases (docs/contract.md: leases).
#include "tests/rules/story.hpp"

namespace polychron::rules {

namespace {

void add_memory(std::vector<Case>& cases) {
  cases.push_back(told("what the holder wrote is there after the return", "gave 0, expected 9",
                       [](Story& s, bool broken) {
                         const auto lend = s.lend(0);
                         s.give_back(lend, 9);
                         s.read(0, gives(broken ? 0 : 9));
                       }));
  cases.push_back(
      told("a lease changes nothing by itself", "gave 9, expected 7", [](Story& s, bool broken) {
        s.write(0, 7);
        s.give_back(s.lend(0));
        s.read(0, gives(broken ? 9 : 7));
      }));
  cases.push_back(told("what is called meanwhile comes after the return", "gave 9, expected 8",
                       [](Story& s, bool broken) {
                         const auto lend = s.lend(0);
                         s.write(0, 8);
                         s.give_back(lend, 9);
                         s.read(0, gives(broken ? 9 : 8));
                       }));
  cases.push_back(
      told("what a holder kept did not go back", "gave 9, expected 0", [](Story& s, bool broken) {
        auto& back = s.give_back(s.lend(0), 9);
        if (broken) back.submitted = false;
        s.read(0, gives(9));
      }));
  cases.push_back(told("a return as the tensor or the context ends may come too late", "",
                       [](Story& s, bool late) {
                         s.give_back(s.lend(0), 9);
                         s.read(0, gives(late ? 0 : 9));
                         s.destroy(Kind::destroy_context);
                       }));
  cases.push_back(told("a return before the destruction comes first", "gave 0, expected 9",
                       [](Story& s, bool broken) {
                         const auto lend = s.lend(0);
                         if (!broken) s.destroy(Kind::destroy_tensor, 1);
                         s.dispatch(0, 1);
                         s.give_back(lend, 9);
                         s.query(0);
                         s.read(0, gives(broken ? 0 : 9));
                         s.destroy(Kind::destroy_tensor, 0);
                       }));
  cases.push_back(told("a return after the destruction changes nothing, or came first", "",
                       [](Story& s, bool late) {
                         const auto lend = s.lend(0);
                         s.read(0, gives(late ? 0 : 9));
                         s.destroy(Kind::destroy_tensor, 0);
                         s.give_back(lend, 9);
                       }));
}

void add_refusing(std::vector<Case>& cases) {
  cases.push_back(
      told("a read is refused during a lease", "was answered", [](Story& s, bool broken) {
        const auto lend = s.lend(0, broken);
        s.read(0, gives(0));
        s.give_back(lend);
      }));
  cases.push_back(
      told("a read after the lease is not refused", "was rejected", [](Story& s, bool broken) {
        const auto lend = s.lend(0, true);
        if (broken) s.give_back(lend);
        s.read(0, rejects(refusal()));
        if (!broken) s.give_back(lend);
      }));
  cases.push_back(
      told("another lease's return ends none", "was answered", [](Story& s, bool broken) {
        const auto other = s.lend(0), lend = s.lend(0, true);
        s.give_back(broken ? other : lend);
        s.read(0, gives(0));
        s.give_back(broken ? lend : other);
      }));
  cases.push_back(
      told("a second lease is refused during one", "was granted", [](Story& s, bool broken) {
        const auto first = s.lend(0, true);
        if (!broken) s.give_back(first);
        s.give_back(s.lend(0));
        if (broken) s.give_back(first);
      }));
  cases.push_back(told("a lease that is refused is rejected", "", [](Story& s, bool) {
    const auto first = s.lend(0, true), second = s.lend(0);
    s.history.calls[second].answer = rejects(refusal());
    s.give_back(first);
  }));
  cases.push_back(
      told("a refused write changes nothing", "gave 7, expected 0", [](Story& s, bool broken) {
        const auto lend = s.lend(0, true);
        s.write(0, 7);
        s.give_back(lend);
        s.read(0, gives(broken ? 7 : 0));
      }));
  cases.push_back(
      told("a refused dispatch leaves the leased output alone", "gave", [](Story& s, bool broken) {
        const auto lend = s.lend(1, true);
        s.dispatch(0, 1);
        s.give_back(lend);
        s.read(1, gives(broken ? g0(0) : 0));
      }));
  cases.push_back(told("a refused dispatch leaves its other output errored",
                       "expected an error of c0.1", [](Story& s, bool broken) {
                         const auto lend = s.lend(0, true);
                         s.dispatch(0, 1);
                         s.give_back(lend);
                         s.read(1, broken ? gives(g0(0)) : rejects(read_error("c0.1")));
                       }));
  cases.push_back(
      told("a lease that waits refuses nothing", "was rejected", [](Story& s, bool broken) {
        const auto lend = s.lend(0, !broken);
        s.read(0, rejects(refusal()));
        s.give_back(lend);
      }));
}

/// Nobody knows whether a lease was out: it was not granted, or something may end it.
void add_unsure(std::vector<Case>& cases) {
  const std::vector<std::pair<std::string, std::function<void(Story&, std::size_t)>>> reasons{
      {"was not granted",
       [](Story& s, std::size_t lend) {
         s.program.max_in_flight = 1;
         s.history.calls[lend].answer = rejects(failure("", ErrorKind::quota_exceeded));
       }},
      {"may end with the context", [](Story& s, std::size_t) { s.destroy(Kind::destroy_context); }},
      {"may end with its tensor",
       [](Story& s, std::size_t lend) {
         s.destroy(Kind::destroy_tensor, s.history.calls[lend].call.tensor);
       }},
  };
  for (const auto& [why, reason] : reasons) {
    const auto unsure = [reason = reason](std::function<void(Story&, bool)> tell) {
      return [=](Story& s, bool happened) {
        const auto lend = s.lend(0, true);
        tell(s, happened);
        reason(s, lend);
      };
    };
    cases.push_back(told("reads in a lease that " + why, "", unsure([](Story& s, bool happened) {
                           s.read(0, happened ? gives(0) : rejects(refusal()));
                         })));
    cases.push_back(told("leases in a lease that " + why, "", unsure([](Story& s, bool happened) {
                           const auto second = s.lend(0);
                           if (!happened) s.history.calls[second].answer = rejects(refusal());
                         })));
    cases.push_back(told("writes in a lease that " + why, "", unsure([](Story& s, bool happened) {
                           s.write(0, 7);
                           s.read(0, gives(happened ? 7 : 0));
                         })));
    cases.push_back(
        told("dispatches in a lease that " + why, "", unsure([](Story& s, bool happened) {
               s.dispatch(0, 1);
               if (!happened) s.history.uncaptured.push_back(failure("c0.1"));
               s.read(1, happened ? gives(g0(0)) : rejects(read_error("c0.1")));
             })));
    cases.push_back(
        told("dispatches into a lease that " + why, "", unsure([](Story& s, bool happened) {
               s.dispatch(1, 0);
               s.read(0, gives(happened ? g0(0) : 0));
             })));
  }
}

void add_revocation(std::vector<Case>& cases) {
  cases.push_back(told("a lease of a destroyed tensor is revoked",
                       "was not revoked, and its tensor is destroyed", [](Story& s, bool broken) {
                         const auto lend = s.lend(0);
                         s.history.calls[lend].revoked = false;
                         s.destroy(Kind::destroy_tensor, broken ? 0 : 1);
                       }));
  cases.push_back(told("a lease that ends before its tensor is destroyed is not revoked",
                       "was revoked, and its tensor lives", [](Story& s, bool broken) {
                         const auto lend = s.lend(0);
                         s.history.calls[lend].revoked = broken;
                         s.give_back(lend);
                         s.destroy(Kind::destroy_tensor, 0);
                       }));
  cases.push_back(told("a revoked lease is of a destroyed tensor",
                       "was revoked, and its tensor lives", [](Story& s, bool broken) {
                         const auto lend = s.lend(0);
                         s.history.calls[lend].revoked = true;
                         s.destroy(Kind::destroy_tensor, broken ? 1 : 0);
                       }));
  cases.push_back(told("a lease is revoked as its context ends", "", [](Story& s, bool lives) {
    const auto lend = s.lend(0);
    s.history.calls[lend].revoked = !lives;
    if (!lives) s.destroy(Kind::destroy_context);
  }));
  cases.push_back(told(
      "an export that got no place lends nothing", "gave 0, expected 5", [](Story& s, bool broken) {
        s.program.max_in_flight = 1;
        s.program.blocks = false;
        s.ask({.kind = Kind::lend, .way = 1}, rejects(failure("", ErrorKind::quota_exceeded)))
            .submitted = false;
        s.give_back(s.lend(0, true), 5);
        s.read(0, gives(broken ? 0 : 5));
      }));
  cases.push_back(told("an export that a lease refuses leaves it in force", "was answered",
                       [](Story& s, bool broken) {
                         s.lend(0, true);
                         s.history.calls[s.lend(0, true)].answer = rejects(refusal());
                         s.read(0, broken ? gives(0) : rejects(refusal()));
                       }));
  cases.push_back(told("a lease is granted where one that would refuse it was not",
                       "gave 0, expected 5", [](Story& s, bool broken) {
                         s.program.max_in_flight = 1;
                         s.history.calls[s.lend(0, true)].answer =
                             rejects(failure("", ErrorKind::quota_exceeded));
                         s.give_back(s.lend(0), 5);
                         s.read(0, gives(broken ? 0 : 5));
                       }));
  cases.push_back(
      told("a lease is granted only of what there is", "was granted", [](Story& s, bool broken) {
        if (broken) s.destroy(Kind::destroy_tensor, 0);
        s.give_back(s.lend(0));
      }));
  cases.push_back(told("a lease is not granted of what was lent and destroyed", "was granted",
                       [](Story& s, bool broken) {
                         s.lend(0, true);
                         s.destroy(Kind::destroy_tensor, 0);
                         s.lend(broken ? 0 : 1);
                       }));
  cases.push_back(told("an export is answered", "was never answered", [](Story& s, bool broken) {
    const auto lend = s.lend(0);
    if (broken) s.history.calls[lend].answer.reset();
  }));
  for (const bool output : {false, true}) {
    const auto dispatch = [output](Story& s) -> Made& {
      return output ? s.dispatch(1, 0) : s.dispatch(0, 1);
    };
    cases.push_back(
        told("behind a lease whose tensor is destroyed nothing runs, and nobody is told", "",
             [=](Story& s, bool ran) {
               const auto lend = s.lend(0);
               dispatch(s);
               const auto told = output ? s.query(0) : s.query(1);
               if (!ran) s.history.calls.back().answer = finds(failure("c0.1"));
               s.destroy(Kind::destroy_tensor, 0);
               static_cast<void>(lend), static_cast<void>(told);
             }));
    cases.push_back(told("what waits for a return does run", "found: ", [=](Story& s, bool broken) {
      const auto lend = s.lend(0);
      dispatch(s);
      s.query(output ? 0 : 1, finds(failure("c0.1")));
      if (broken) s.give_back(lend);
      s.destroy(Kind::destroy_tensor, 0);
    }));
    cases.push_back(told("what waits for a lease of a tensor that stays does run",
                         "found: ", [=](Story& s, bool broken) {
                           s.lend(0);
                           dispatch(s);
                           s.query(output ? 0 : 1, finds(failure("c0.1")));
                           if (!broken) s.destroy(Kind::destroy_tensor, 0);
                         }));
    cases.push_back(told("what is cancelled behind a lease that stays need not be told", "",
                         [=](Story& s, bool) {
                           s.cancel(1);
                           s.lend(0);
                           dispatch(s).call.cancellation = 1;
                           s.query(output ? 0 : 1, finds(failure("c0.2")));
                           s.destroy(Kind::destroy_tensor, 0);
                         }));
  }
}

}  // namespace

std::vector<Case> lease_cases() {
  std::vector<Case> cases;
  add_memory(cases);
  add_refusing(cases);
  add_unsure(cases);
  add_revocation(cases);
  return cases;
}

}  // namespace polychron::rules
