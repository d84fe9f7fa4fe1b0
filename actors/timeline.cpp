#include "actors/timeline.hpp"

#include <algorithm>

#include "base/invariant.hpp"
#include "messages/names.hpp"

namespace polychron::actors {

/// An unfinished operation. It waits for `blockers` things: groups ahead of its own and other
/// lanes. A fence, or a question of another lane, also waits for the entries that name it as
/// dependent.
struct Timeline::Entry {
  msg::carry_out message;
  msg::Clock::time_point since;
  std::size_t blockers = 0;
  bool running = false;
  bool granted = false;  ///< it is a lease that is out
  std::vector<Entry*> dependents;
  std::vector<msg::Wait> waits;  ///< not reached yet
  std::function<void()> tell;    ///< only of a question, which has no message

  msg::Ticket turn() const { return message.stamp.at.turn; }
};

/// Operations on one object that may run in parallel: one writer, or readers.
struct Timeline::Group {
  bool exclusive = false;
  std::vector<msg::Ticket> members;  ///< their turns, including those already done
  std::size_t left = 0;              ///< members that are not done
};

Timeline::Timeline(std::function<bool(const msg::Wait&)> done_elsewhere, Ask ask)
    : done_elsewhere_(std::move(done_elsewhere)), ask_(std::move(ask)) {}

Timeline::~Timeline() = default;

std::size_t Timeline::HashWait::operator()(const msg::Wait& wait) const noexcept {
  return std::hash<msg::Object>()(wait.object) ^
         (wait.at.turn * 0x9E3779B97F4A7C15U + wait.at.lane);
}

bool Timeline::free_for(msg::Object object, bool exclusive) const {
  const auto queue = queues_.find(object);
  if (queue == queues_.end()) return true;
  return !exclusive && queue->second.size() == 1 && !queue->second.front().exclusive;
}

bool Timeline::may_start(const msg::carry_out& arrived) const {
  const auto& stamp = arrived.stamp;
  if (stamp.at.turn != next_) return false;
  if (!std::all_of(stamp.waits.begin(), stamp.waits.end(), done_elsewhere_)) return false;
  if (entries_.empty()) return true;
  if (std::holds_alternative<msg::op::Fence>(arrived.operation)) return false;
  bool free = true;
  msg::footprint_of(arrived.operation, [&](msg::Object object, bool exclusive) {
    // planted: an operation starts although another has the object
    free = free && free_for(object, exclusive);
  });
  return free;
}

void Timeline::keep_running(msg::carry_out&& started, msg::Clock::time_point now, bool granted) {
  auto entry = std::make_unique<Entry>();
  entry->message = std::move(started);
  entry->since = now;
  entry->running = true;
  entry->granted = granted;
  msg::footprint_of(entry->message.operation, [&](msg::Object object, bool exclusive) {
    enqueue(*entry, object, exclusive);
  });
  ensure(entry->blockers == 0, "what started had nothing in its way");
  ++next_;
  entries_.emplace_hint(entries_.end(), entry->turn(), std::move(entry));
}

void Timeline::keep(msg::carry_out&& arrived, msg::Clock::time_point now) {
  const auto turn = arrived.stamp.at.turn;
  ensure(turn >= next_, "a turn arrives once");
  const bool added = early_.try_emplace(turn, std::move(arrived), now).second;
  ensure(added, "a turn arrives once");
}

void Timeline::take_turns() {
  while (!early_.empty() && early_.begin()->first == next_) {
    auto arrived = early_.extract(early_.begin());
    auto entry = std::make_unique<Entry>();
    entry->message = std::move(arrived.mapped().first);
    entry->since = arrived.mapped().second;
    admit(std::move(entry));
  }
}

void Timeline::admit(std::unique_ptr<Entry> owned) {
  auto& entry = *owned;
  const auto turn = entry.turn();
  ensure(turn == next_, "turns are taken in order");
  for (const auto& wait : entry.message.stamp.waits) {
    if (done_elsewhere_(wait)) continue;
    entry.waits.push_back(wait);
    awaited_[wait].push_back(&entry);
    ++entry.blockers;
    ask_(wait);
  }
  if (const auto* const fence = std::get_if<msg::op::Fence>(&entry.message.operation)) {
    // Tickets grow with turns on a lane, so the scope's operations are the latest ones.
    for (auto other = entries_.rbegin();
         other != entries_.rend() && other->second->message.stamp.ticket >= fence->first; ++other) {
      // planted: a fence does not wait
      if (other->second->granted) continue;
      other->second->dependents.push_back(&entry);
      ++entry.blockers;
    }
  } else {
    msg::footprint_of(entry.message.operation, [&](msg::Object object, bool exclusive) {
      enqueue(entry, object, exclusive);
    });
  }
  entries_.emplace_hint(entries_.end(), turn, std::move(owned));
  ++next_;
  if (entry.blockers == 0) ready_.insert(turn);
}

void Timeline::enqueue(Entry& entry, msg::Object object, bool exclusive) {
  auto& queue = queues_[object];
  if (queue.empty() || exclusive || queue.back().exclusive) queue.push_back({exclusive, {}, 0});
  auto& group = queue.back();
  group.members.push_back(entry.turn());
  ++group.left;
  if (queue.size() > 1) ++entry.blockers;
}

void Timeline::leave(msg::Object object) {
  const auto found = queues_.find(object);
  ensure(found != queues_.end() && found->second.front().left > 0, "who leaves was in the queue");
  auto& queue = found->second;
  if (--queue.front().left > 0) return;
  queue.pop_front();
  if (queue.empty()) {
    queues_.erase(found);
    return;
  }
  for (const auto turn : queue.front().members) unblock(*entries_.at(turn));
}

void Timeline::unblock(Entry& entry) {
  ensure(entry.blockers > 0, "who is unblocked was blocked");
  if (--entry.blockers > 0) return;
  if (entry.tell) {
    const auto question = questions_.extract(&entry);
    entry.tell();
  } else {
    ready_.insert(entry.turn());
  }
}

msg::carry_out* Timeline::next() {
  take_turns();
  while (!asked_.empty() && asked_.begin()->first < next_) {
    auto asked = asked_.extract(asked_.begin());
    when_done({{0, asked.key()}, asked.mapped().first}, std::move(asked.mapped().second));
  }
  if (ready_.empty()) return nullptr;
  const auto entry = entries_.find(*ready_.begin());
  ready_.erase(ready_.begin());
  ensure(entry != entries_.end() && !entry->second->running, "what is ready has not started");
  entry->second->running = true;
  return &entry->second->message;
}

void Timeline::finish(msg::Ticket turn) {
  const auto found = entries_.find(turn);
  ensure(found != entries_.end() && found->second->running, "what ends is under way");
  const auto entry = std::move(found->second);
  entries_.erase(found);
  msg::footprint_of(entry->message.operation, [&](msg::Object object, bool) { leave(object); });
  release_dependents(*entry);
}

void Timeline::release_dependents(Entry& entry) {
  for (auto* const dependent : std::exchange(entry.dependents, {})) unblock(*dependent);
}

void Timeline::granted(msg::Ticket turn) {
  const auto found = entries_.find(turn);
  if (found == entries_.end()) return;
  found->second->granted = true;
  // Only fences: another lane that asks about the tensor waits for the end of the lease.
  auto& dependents = found->second->dependents;
  std::vector<Entry*> fences;
  std::erase_if(dependents, [&](Entry* dependent) {
    // planted: a grant releases lanes that ask
    if (dependent->tell) return false;
    fences.push_back(dependent);
    return true;
  });
  for (auto* const fence : fences) unblock(*fence);
}

msg::carry_out* Timeline::running(msg::Ticket turn) {
  const auto found = entries_.find(turn);
  return found == entries_.end() || !found->second->running ? nullptr : &found->second->message;
}

void Timeline::reached(const msg::Wait& wait) {
  auto waiting = awaited_.extract(wait);
  if (waiting.empty()) return;
  for (auto* const entry : waiting.mapped()) {
    std::erase(entry->waits, wait);
    unblock(*entry);
  }
}

void Timeline::when_done(const msg::Wait& wait, std::function<void()> tell) {
  const auto turn = wait.at.turn;
  if (turn >= next_) {
    asked_.emplace(turn, std::pair(wait.object, std::move(tell)));
    return;
  }
  auto question = std::make_unique<Entry>();
  if (const auto queue = queues_.find(wait.object); queue != queues_.end()) {
    // Groups end in order, so the last one that began by then covers those ahead of it.
    const auto& groups = queue->second;
    const auto last = std::find_if(groups.rbegin(), groups.rend(), [&](const Group& group) {
      return group.members.front() <= turn;
    });
    if (last != groups.rend())
      for (const auto member : last->members)
        if (const auto entry = entries_.find(member); member <= turn && entry != entries_.end()) {
          entry->second->dependents.push_back(question.get());
          ++question->blockers;
        }
  }
  if (question->blockers == 0) return tell();
  question->tell = std::move(tell);
  questions_.emplace(question.get(), std::move(question));
}

PendingOperation Timeline::describe(const msg::carry_out& arrived, std::string waits_for,
                                    msg::Clock::time_point since) const {
  const auto& stamp = arrived.stamp;
  return {msg::name_of(arrived.operation),
          std::string(msg::label_of(arrived.operation)),
          msg::object_of(arrived.operation),
          stamp.ticket,
          stamp.at.lane,
          std::move(waits_for),
          since};
}

std::string Timeline::obstacle(const Entry& entry) const {
  if (!entry.waits.empty()) {
    const auto& at = entry.waits.front().at;
    return "turn " + std::to_string(at.turn) + " of lane " + std::to_string(at.lane);
  }
  const Entry* other = nullptr;
  msg::footprint_of(entry.message.operation, [&](msg::Object object, bool) {
    const auto queue = queues_.find(object);
    if (other != nullptr || queue == queues_.end()) return;
    const auto& members = queue->second.front().members;
    if (std::find(members.begin(), members.end(), entry.turn()) != members.end()) return;
    for (const auto member : members)
      if (const auto ahead = entries_.find(member); ahead != entries_.end()) {
        other = ahead->second.get();
        return;
      }
  });
  if (other == nullptr) return "what was called before it";
  const auto& message = other->message;
  return std::string(msg::name_of(message.operation)) + " (ticket " +
         std::to_string(message.stamp.ticket) + ") of " + msg::object_of(message.operation);
}

std::vector<PendingOperation> Timeline::pending() const {
  std::vector<PendingOperation> found;
  for (const auto& [turn, entry] : entries_)
    found.push_back(describe(entry->message,
                             entry->granted   ? "the end of the lease"
                             : entry->running ? "the device"
                                              : obstacle(*entry),
                             entry->since));
  for (const auto& [turn, early] : early_)
    found.push_back(describe(
        early.first, "its turn: turn " + std::to_string(next_) + " of the lane has not arrived",
        early.second));
  return found;
}

}  // namespace polychron::actors
