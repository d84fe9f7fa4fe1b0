// Rules of the things that may be left of a world (docs/contract.md: lifetimes, load).
#include "tests/rules/story.hpp"

namespace polychron::rules {

namespace {

using stress::Phase;
using stress::QuiescentState;

Case left(const std::string& rule, const char* refusal, Phase phase,
          std::function<void(QuiescentState&, bool)> leave) {
  return {rule, refusal, [=](bool broken) {
            QuiescentState state{.phase = phase, .stats = {}};
            state.losses = phase == Phase::ended ? 1 : 0;
            leave(state, broken);
            return stress::check(state);
          }};
}

}  // namespace

std::vector<Case> quiescence_cases() {
  std::vector<Case> cases;
  for (const auto phase : {Phase::lent, Phase::answered, Phase::destroyed, Phase::ended})
    cases.push_back(left("at rest no place is taken", "1 places are taken", phase,
                         [](QuiescentState& r, bool broken) { r.stats.in_flight = broken; }));
  cases.push_back(left("at rest no question has a place", "2 places of questions", Phase::lent,
                       [](QuiescentState& r, bool broken) { r.places = broken ? 2 : 0; }));
  cases.push_back(left("at rest nobody waits", "a caller waits for admission", Phase::lent,
                       [](QuiescentState& r, bool broken) { r.waited_for = broken; }));
  cases.push_back(left("what lanes have done is no load", "a load of 3", Phase::lent,
                       [](QuiescentState& r, bool broken) { r.load = broken ? 3 : 0; }));
  cases.push_back(left("a lane at rest says so", "is at work, on: write", Phase::lent,
                       [](QuiescentState& r, bool b) {
                         if (b) r.stats.running = {{"write", 1, 0}};
                       }));
  cases.push_back(left("a closed scope has no place", "1 error scopes", Phase::answered,
                       [](QuiescentState& r, bool broken) { r.scopes = broken; }));
  cases.push_back(left("nobody keeps what a call brought along", "1 things are kept",
                       Phase::answered,
                       [](QuiescentState& r, bool broken) { r.brought = broken; }));
  cases.push_back(left("scopes may be open, and leases be out", "", Phase::lent,
                       [](QuiescentState& r, bool) { r.scopes = r.brought = 1; }));
  for (const auto phase : {Phase::lent, Phase::answered})
    cases.push_back(left("what is counted is taken", "25 bytes are counted, and taken are 24",
                         phase, [](QuiescentState& r, bool broken) {
                           r.knows_bytes = true;
                           r.storage = 8, r.planned = 16;
                           r.stats.bytes = broken ? 25 : 24;
                         }));
  cases.push_back(left("constants are counted, too", "", Phase::answered,
                       [](QuiescentState& r, bool) { r.stats.bytes = 8; }));
  cases.push_back(left("what plans keep is gone with a lost context", "", Phase::answered,
                       [](QuiescentState& r, bool) {
                         r.lost = r.knows_bytes = true;
                         r.stats.running = {{"write", 1, 0}};
                         r.stats.bytes = 8, r.load = 1;
                       }));
  cases.push_back(left("plans may outlive what is counted of them", "", Phase::destroyed,
                       [](QuiescentState& r, bool) { r.knows_bytes = true, r.planned = 16; }));
  for (const unsigned times : {0U, 2U})
    cases.push_back(
        left("a loss is told once", "the loss was told", Phase::ended,
             [times](QuiescentState& r, bool broken) { r.losses = broken ? times : 1; }));
  cases.push_back(left("what was destroyed is gone: tensors", "1 tensors are left",
                       Phase::destroyed,
                       [](QuiescentState& r, bool broken) { r.stats.tensors = broken; }));
  cases.push_back(left("what was destroyed is gone: graphs", "1 graphs are left", Phase::destroyed,
                       [](QuiescentState& r, bool broken) { r.stats.graphs = broken; }));
  cases.push_back(left("what was destroyed is gone: bytes", "1 bytes are left", Phase::destroyed,
                       [](QuiescentState& r, bool broken) { r.stats.bytes = broken; }));
  cases.push_back(left("what was destroyed is gone: storage", "storage of 8 bytes is left",
                       Phase::destroyed,
                       [](QuiescentState& r, bool broken) { r.storage = broken ? 8 : 0; }));
  cases.push_back(left("what storage takes is counted", "7 bytes are counted, 8 at most",
                       Phase::answered, [](QuiescentState& r, bool broken) {
                         r.storage = r.peak_storage = r.stats.peak_bytes = 8;
                         r.stats.bytes = broken ? 7 : 8;
                       }));
  cases.push_back(left("the most that storage took is counted", "storage has 0, and had 8",
                       Phase::answered, [](QuiescentState& r, bool broken) {
                         r.peak_storage = 8;
                         r.stats.peak_bytes = broken ? 7 : 8;
                       }));
  cases.push_back(left("the context hears of every end", "heard of the end of 1 objects, of 2",
                       Phase::destroyed, [](QuiescentState& r, bool broken) {
                         r.begun = 2;
                         r.gone = broken ? 1 : 2;
                       }));
  cases.push_back(
      left("what was not destroyed is there", "", Phase::answered, [](QuiescentState& r, bool) {
        r.stats.tensors = r.stats.graphs = r.stats.bytes = r.begun = 1;
        r.actors = {"device"};
      }));
  cases.push_back(
      left("a lost context counts nothing", "", Phase::destroyed, [](QuiescentState& r, bool) {
        r.lost = true;
        r.stats.tensors = r.stats.graphs = r.stats.bytes = r.begun = 1;
      }));
  cases.push_back(left("the end gives everything back", "1 bytes are left at the end", Phase::ended,
                       [](QuiescentState& r, bool broken) { r.stats.bytes = broken; }));
  cases.push_back(left("the end frees all storage", "storage of 8 bytes is left at the end",
                       Phase::ended,
                       [](QuiescentState& r, bool broken) { r.storage = broken ? 8 : 0; }));
  cases.push_back(
      left("every actor ends", "device stays", Phase::ended, [](QuiescentState& r, bool broken) {
        if (broken) r.actors = {"device"};
      }));
  return cases;
}

}  // namespace polychron::rules
