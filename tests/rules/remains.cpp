// Rules of what may be left of a world (docs/contract.md: lifetimes, load).
#include "tests/rules/story.hpp"

namespace polychron::rules {

namespace {

using stress::Remains;
using stress::Rest;

Case left(const std::string& rule, const char* refusal, Rest rest,
          std::function<void(Remains&, bool)> leave) {
  return {rule, refusal, [=](bool broken) {
            Remains remains{.rest = rest, .stats = {}};
            leave(remains, broken);
            return stress::check(remains);
          }};
}

}  // namespace

std::vector<Case> remains_cases() {
  std::vector<Case> cases;
  for (const auto rest : {Rest::answered, Rest::destroyed, Rest::ended})
    cases.push_back(left("at rest no place is taken", "1 places are taken", rest,
                         [](Remains& r, bool broken) { r.stats.in_flight = broken; }));
  cases.push_back(left("what was destroyed is gone: tensors", "1 tensors are left", Rest::destroyed,
                       [](Remains& r, bool broken) { r.stats.tensors = broken; }));
  cases.push_back(left("what was destroyed is gone: graphs", "1 graphs are left", Rest::destroyed,
                       [](Remains& r, bool broken) { r.stats.graphs = broken; }));
  cases.push_back(left("what was destroyed is gone: bytes", "1 bytes are left", Rest::destroyed,
                       [](Remains& r, bool broken) { r.stats.bytes = broken; }));
  cases.push_back(left("what was destroyed is gone: storage", "storage of 8 bytes is left",
                       Rest::destroyed,
                       [](Remains& r, bool broken) { r.storage = broken ? 8 : 0; }));
  cases.push_back(left("what storage takes is counted", "7 bytes are counted, 8 at most",
                       Rest::answered, [](Remains& r, bool broken) {
                         r.storage = r.peak_storage = r.stats.peak_bytes = 8;
                         r.stats.bytes = broken ? 7 : 8;
                       }));
  cases.push_back(left("the most that storage took is counted", "storage has 0, and had 8",
                       Rest::answered, [](Remains& r, bool broken) {
                         r.peak_storage = 8;
                         r.stats.peak_bytes = broken ? 7 : 8;
                       }));
  cases.push_back(left("the context hears of every end", "heard of the end of 1 objects, of 2",
                       Rest::destroyed, [](Remains& r, bool broken) {
                         r.begun = 2;
                         r.gone = broken ? 1 : 2;
                       }));
  cases.push_back(left("what was not destroyed is there", "", Rest::answered, [](Remains& r, bool) {
    r.stats.tensors = r.stats.graphs = r.stats.bytes = r.begun = 1;
    r.actors = {"device"};
  }));
  cases.push_back(left("a lost context counts nothing", "", Rest::destroyed, [](Remains& r, bool) {
    r.lost = true;
    r.stats.tensors = r.stats.graphs = r.stats.bytes = r.begun = 1;
  }));
  cases.push_back(left("the end gives everything back", "1 bytes are left at the end", Rest::ended,
                       [](Remains& r, bool broken) { r.stats.bytes = broken; }));
  cases.push_back(left("the end frees all storage", "storage of 8 bytes is left at the end",
                       Rest::ended, [](Remains& r, bool broken) { r.storage = broken ? 8 : 0; }));
  cases.push_back(
      left("every actor ends", "device stays", Rest::ended, [](Remains& r, bool broken) {
        if (broken) r.actors = {"device"};
      }));
  return cases;
}

}  // namespace polychron::rules
