#include "observe/stress/subject.hpp"

#include "observe/stress/call_executor.hpp"

namespace polychron::stress {

void Subject::collect(bool all) {
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
  // Half of the leases are taken from their futures now, so that their holders hear of a
  // revocation. The others are taken when they are returned: those holders ask late.
  for (auto& lent : lents)
    if (!lent.heard && lent.future && lent.future->ready()) {
      lent.heard = true;
      if (footprints != nullptr) footprints->touch(Part::leases, 0);
      if (lent.made % 2 == 0) CallExecutor::settle(*this, lent);
    }
}

}  // namespace polychron::stress
