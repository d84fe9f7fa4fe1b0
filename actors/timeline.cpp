#include "actors/timeline.hpp"

#include <algorithm>
#include <cassert>

namespace polychron::actors {

namespace {

template <class... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};

const msg::Stamp& stamp_of(const msg::Operation& operation) {
  return std::visit([](const auto& m) -> const msg::Stamp& { return m.stamp; }, operation);
}

/// A tensor or graph that an operation touches, and whether it changes it.
struct Touch {
  const void* what;
  bool exclusive;
};
using Footprint = boost::container::small_vector<Touch, 8>;

void touch_all(Footprint& footprint, const msg::Tensors& tensors, bool exclusive) {
  for (const auto& tensor : tensors) footprint.push_back({tensor.get(), exclusive});
}

Footprint footprint_of(const msg::Operation& operation) {
  Footprint touches;
  const auto tensor = [&](const auto& m, bool exclusive) {
    touches.push_back({m.tensor->get(), exclusive});
  };
  std::visit(Overloaded{
                 [&](const msg::allocate& m) { tensor(m, true); },
                 [&](const msg::write_bytes& m) { tensor(m, true); },
                 [&](const msg::read_bytes& m) { tensor(m, false); },
                 [&](const msg::query_tag& m) { tensor(m, false); },
                 [&](const msg::lend_memory& m) { tensor(m, true); },
                 [&](const msg::release& m) { tensor(m, true); },
                 [&](const msg::load& m) {
                   touches.push_back({m.graph->get(), true});
                 },
                 [&](const msg::execute& m) {
                   touches.push_back({m.graph->get(), false});
                   touch_all(touches, *m.inputs, false);
                   touch_all(touches, *m.outputs, true);
                 },
                 [&](const msg::execute_batch& m) {
                   touches.push_back({m.graph->get(), false});
                 },
                 [&](const msg::fail& m) { touch_all(touches, *m.outputs, true); },
                 [&](const msg::release_plan& m) {
                   touches.push_back({m.graph->get(), true});
                 },
                 [](const msg::fence&) {},
             },
             operation);
  return touches;
}

bool collide(const Footprint& a, const Footprint& b) {
  return std::any_of(a.begin(), a.end(), [&](const Touch& x) {
    return std::any_of(b.begin(), b.end(), [&](const Touch& y) {
      return x.what == y.what && (x.exclusive || y.exclusive);
    });
  });
}

std::string object_of(const msg::Operation& operation) {
  return std::visit(
      [](const auto& m) -> std::string {
        if constexpr (requires { m.tensor; })
          return (*m.tensor)->name();
        else if constexpr (requires { m.graph; })
          return (*m.graph)->name();
        else
          return "";
      },
      operation);
}

std::string label_of(const msg::Operation& operation) {
  return std::visit(
      [](const auto& m) -> std::string {
        if constexpr (requires { m.label; })
          return m.label;
        else
          return "";
      },
      operation);
}

}  // namespace

msg::Ticket Timeline::turn_of(const Entry& entry) { return stamp_of(entry.operation).at.turn; }

void Timeline::keep(msg::Operation operation, msg::Clock::time_point now) {
  const auto turn = stamp_of(operation).at.turn;
  assert(turn >= next_);
  Entry entry{std::move(operation), now, {}, false};
  if (turn != next_) {
    const bool added = early_.emplace(turn, std::move(entry)).second;
    assert(added);
    static_cast<void>(added);
    return;
  }
  admit(std::move(entry));
}

void Timeline::keep_running(msg::Operation operation, msg::Clock::time_point now) {
  assert(waiting_.empty());
  waiting_.push_back({std::move(operation), now, {}, true});
}

void Timeline::admit(Entry entry) {
  assert(turn_of(entry) == next_);
  ++next_;
  for (const auto& wait : stamp_of(entry.operation).waits)
    if (!done_elsewhere_(wait)) {
      entry.waits.push_back(wait);
      ask_(wait);
    }
  waiting_.push_back(std::move(entry));
}

const msg::Operation* Timeline::next() {
  while (!early_.empty() && early_.begin()->first == next_)
    admit(std::move(early_.extract(early_.begin()).mapped()));
  for (auto entry = waiting_.begin(); entry != waiting_.end(); ++entry) {
    if (entry->running || !entry->waits.empty() || obstacle(entry) != nullptr) continue;
    entry->running = true;
    return &entry->operation;
  }
  return nullptr;
}

const Timeline::Entry* Timeline::obstacle(std::list<Entry>::const_iterator until) const {
  if (until == waiting_.begin()) return nullptr;
  // A fence comes after everything.
  if (std::holds_alternative<msg::fence>(until->operation)) return &waiting_.front();
  const auto touches = footprint_of(until->operation);
  for (auto entry = waiting_.begin(); entry != until; ++entry)
    if (collide(touches, footprint_of(entry->operation))) return &*entry;
  return nullptr;
}

bool Timeline::finish(msg::Ticket turn) {
  const auto entry = std::find_if(waiting_.begin(), waiting_.end(),
                                  [&](const Entry& e) { return turn_of(e) == turn; });
  if (entry == waiting_.end() || !entry->running) return false;
  waiting_.erase(entry);
  return true;
}

void Timeline::reached(const msg::LaneTurn& other) {
  for (auto& entry : waiting_) std::erase(entry.waits, other);
}

bool Timeline::done(msg::Ticket turn) const {
  return turn < next_ && std::none_of(waiting_.begin(), waiting_.end(),
                                      [&](const Entry& e) { return turn_of(e) == turn; });
}

std::vector<PendingOperation> Timeline::pending() const {
  std::vector<PendingOperation> found;
  const auto add = [&](const Entry& entry, std::string waits_for) {
    const auto& stamp = stamp_of(entry.operation);
    found.push_back({msg::operation_names[entry.operation.index()], label_of(entry.operation),
                     object_of(entry.operation), stamp.ticket, stamp.at.lane, std::move(waits_for),
                     entry.since});
  };
  for (auto entry = waiting_.begin(); entry != waiting_.end(); ++entry) {
    if (entry->running) {
      add(*entry, "the end of the lease");
    } else if (!entry->waits.empty()) {
      const auto& wait = entry->waits.front();
      add(*entry, "turn " + std::to_string(wait.turn) + " of lane " + std::to_string(wait.lane));
    } else if (const auto* other = obstacle(entry)) {
      const auto& operation = other->operation;
      add(*entry, std::string(msg::operation_names[operation.index()]) + " (ticket " +
                      std::to_string(stamp_of(operation).ticket) + ") of " + object_of(operation));
    }
  }
  for (const auto& [turn, entry] : early_)
    add(entry, "its turn: turn " + std::to_string(next_) + " of the lane has not arrived");
  return found;
}

}  // namespace polychron::actors
