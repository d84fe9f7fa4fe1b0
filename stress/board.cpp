#include "stress/board.hpp"

namespace polychron::stress {

void Board::collect(bool all) {
  for (auto& [made, reply] : replies) {
    auto& entry = history.calls[made];
    const bool creates = entry.call.kind == Kind::create || entry.call.kind == Kind::constant;
    if (!reply || !reply->ready() || (!all && !creates)) continue;
    entry.answer = reply->take();
    reply.reset();
    if (!creates) continue;
    if (entry.answer->error) slots[entry.call.tensor].failed = true;
    if (footprints != nullptr) footprints->touch(Part::slot, entry.call.tensor);
  }
  if (footprints == nullptr) return;
  for (auto& lent : lents)
    if (!lent.heard && lent.future && lent.future->ready()) {
      lent.heard = true;
      footprints->touch(Part::leases, 0);
    }
}

}  // namespace polychron::stress
