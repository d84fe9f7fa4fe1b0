#include "http/connections.hpp"

#include <algorithm>
#include <tuple>

namespace polychron::server {

namespace {

std::size_t most_running(std::size_t most) { return most - most / 16; }

}  // namespace

Peer peer_of(const boost::asio::ip::address& address) {
  Peer peer{};
  if (address.is_v4() || address.to_v6().is_v4_mapped()) {
    const auto bytes =
        address.is_v4() ? address.to_v4().to_bytes()
                        : make_address_v4(boost::asio::ip::v4_mapped, address.to_v6()).to_bytes();
    std::copy(bytes.begin(), bytes.end(), peer.begin() + 12);
  } else {
    const auto bytes = address.to_v6().to_bytes();
    std::copy_n(bytes.begin(), 8, peer.begin());
  }
  return peer;
}

Connections::Place Connections::first_to_end(const Count* of) {
  const auto rank = [](const Entry& entry) {
    return std::tuple(~entry.peer->second.open, entry.since);
  };
  auto first = entries_.end();
  for (auto each = entries_.begin(); each != entries_.end(); ++each) {
    if (each->state > State::transferring || (of && of != &each->peer->second)) continue;
    if (first == entries_.end() || rank(*each) < rank(*first)) first = each;
  }
  return first;
}

void Connections::end(Place place) {
  place->close(place->state == State::idle ? End::if_idle : End::unless_running);
  set(place, State::ending);
}

std::optional<Connections::Place> Connections::enter(const Peer& peer,
                                                     std::function<void(End)> close) {
  const std::lock_guard lock(mutex_);
  const auto known = peers_.try_emplace(peer).first;
  const auto place = entries_.insert(entries_.end(), {known, std::move(close)});
  for (auto* count : {&known->second, &all_}) ++count->all, ++count->open;
  const auto make_room = [&](const Count& count, std::size_t most, const Count* of) {
    while (count.open > most) {
      const auto first = first_to_end(of);
      if (first == place) return false;  // all others run
      end(first);
    }
    return true;
  };
  if (make_room(known->second, limits_.most_of_address, &known->second) &&
      make_room(all_, limits_.most, nullptr))
    return place;
  forget(place);
  return std::nullopt;
}

void Connections::end_one() {
  const std::lock_guard lock(mutex_);
  if (const auto first = first_to_end(nullptr); first != entries_.end()) end(first);
}

void Connections::remove(Place place) {
  const std::lock_guard lock(mutex_);
  forget(place);
}

void Connections::forget(Place place) {
  set(place, State::ending);
  --all_.all;
  if (--place->peer->second.all == 0) peers_.erase(place->peer);
  entries_.erase(place);
}

void Connections::set(Place place, State state) {
  for (auto* count : {&place->peer->second, &all_}) {
    if (place->state == State::ending) ++count->open;
    if (place->state == State::running) --count->running;
    if (state == State::ending) --count->open;
    if (state == State::running) ++count->running;
  }
  place->state = state;
  place->since = std::chrono::steady_clock::now();
}

void Connections::wait(Place place, State state) {
  const std::lock_guard lock(mutex_);
  set(place, state);
}

bool Connections::run(Place place, bool is_health_check) {
  const std::lock_guard lock(mutex_);
  if (place->state == State::running) return true;  // a call beside others
  const bool fits = all_.running < most_running(limits_.most) &&
                    place->peer->second.running < most_running(limits_.most_of_address);
  if (!fits && !is_health_check) return false;
  set(place, State::running);
  return true;
}

void Connections::end_all(End which) {
  const std::lock_guard lock(mutex_);
  for (const auto& each : entries_) each.close(which);
}

std::size_t Connections::size() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

}  // namespace polychron::server
