#include "replay/turns.hpp"

#include <algorithm>
#include <set>
#include <tuple>

#include "replay/happenings.hpp"
#include "trace/errors.hpp"

namespace polychron::replay {

namespace {

using trace::name_in;

/// Times are of beginnings, and threads may be kept waiting at any place: where what followed tells
/// who was first, that counts.
class Ordering {
 public:
  explicit Ordering(Happenings& all) : all_(all), records_(all.records) {}

  std::vector<Turn> run() {
    settle_messages();
    settle_claims();
    settle_objects();
    settle_invalid();
    settle_waits();
    settle_losses();
    settle_goings();
    std::vector<Turn> order;
    for (const auto place : all_.before.sorted())
      order.push_back(std::move(all_.turns[place].turn));
    return order;
  }

 private:
  static std::optional<Place> of(const auto& places, const auto& key) {
    const auto found = places.find(key);
    return found == places.end() ? std::nullopt : std::optional(found->second);
  }
  const std::string& operation(const recording::Sent& r) const {
    static const std::string none;
    return all_.message(r.about.message) == "carry_out" ? name_in(records_.operations, r.about.what)
                                                        : none;
  }

  /// A message is sent before it is handled.
  void settle_messages() {
    for (const auto& [i, handling] : all_.handlings) {
      if (!all_.matches[i]) continue;
      const auto& sent = records_.sent[*all_.matches[i]].record;
      all_.put(all_.last_of({sent.context, sent.from}, sent.at), handling);
    }
  }

  /// A lane and the object's actor may both want to answer a read: who did was first. That is the
  /// actor when its object is destroyed, or with the context.
  void settle_claims() {
    std::set<Key> answered;
    for (const auto& r : records_.answered) answered.emplace(r.context, r.ticket);
    for (const auto& [thread, r] : records_.sent) {
      const Key key{r.context, r.about.ticket};
      const auto& name = operation(r);
      if (name != "read" && name != "compute") continue;
      const auto claim = of(all_.operations, key);
      if (!claim) continue;
      const auto rejection = of(all_.rejections, key), going = of(all_.goings, r.context);
      if (answered.contains(key)) {
        all_.put(claim, rejection);
        if (!rejection) all_.put(claim, going);
      } else if (rejection) {
        all_.put(rejection, claim);
      } else if (all_.of_actor.at(all_.turns[*claim].actor).back() == of(all_.ends, key)) {
        // Else its lane went on, and what was read had gone with a lease.
        all_.put(going, claim);
      }
    }
  }

  /// Operations that share an object, one of them writing, in the order of their tickets.
  void settle_objects() {
    struct Uses {
      std::optional<Place> write;
      std::vector<Place> reads;
    };
    std::map<Key, const recording::Sent*> issued;
    for (const auto& [thread, r] : records_.sent)
      if (!operation(r).empty()) issued.emplace(Key{r.context, r.about.ticket}, &r);
    std::map<std::tuple<std::uint64_t, bool, std::uint64_t>, Uses> objects;
    for (const auto& [key, r] : issued) {
      const auto begin = of(all_.operations, key), end = of(all_.ends, key);
      if (!begin || !end) continue;
      const auto use = [&, context = key.first](bool graph, std::uint64_t id, bool writes) {
        auto& uses = objects[{context, graph, id}];
        all_.put(uses.write, begin);
        if (!writes) return uses.reads.push_back(*end);
        for (const auto read : uses.reads) all_.before.put(read, *begin);
        uses.reads.clear();
        uses.write = end;
      };
      const auto& name = operation(*r);
      const auto& touched = r->footprint;
      for (const auto tensor : touched.reads) use(false, tensor, false);
      for (const auto tensor : touched.writes) use(false, tensor, true);
      if (touched.graph != 0)
        use(true, touched.graph, name == "build" || name == "release of a graph");
    }
  }

  /// A graph that one lane found invalid others refuse from then on.
  void settle_invalid() {
    std::map<Key, Place> found;  // by context and graph: in which operation
    std::map<Key, std::uint64_t> graphs;
    for (const auto& [thread, r] : records_.sent)
      if (!operation(r).empty() && r.footprint.graph != 0)
        graphs[{r.context, r.about.ticket}] = r.footprint.graph;
    std::set<Key> refused;
    const auto look_at = [&](std::uint64_t context, msg::Ticket ticket, std::string_view error) {
      if (error.empty()) return;
      const auto chain = trace::errors_in(error);
      if (!chain.empty() && chain.front().kind == "graph_invalid") refused.emplace(context, ticket);
    };
    for (const auto& [thread, r] : records_.sent) {
      look_at(r.context, r.about.ticket, r.about.error);
      if (name_in(records_.outcomes, r.about.what) != "invalid") continue;
      const Key key{r.context, r.about.ticket};
      const auto finder = of(all_.operations, key);
      if (all_.message(r.about.message) == "graph_became" && finder && graphs.contains(key))
        found.emplace(Key{r.context, graphs.at(key)}, *finder);
    }
    if (found.empty()) return;
    std::set<Key> answered;
    for (const auto& r : records_.answered) {
      look_at(r.context, r.ticket, r.error);
      answered.emplace(r.context, r.ticket);
    }
    for (const auto& [thread, r] : records_.sent) {
      const auto& name = operation(r);
      const Key key{r.context, r.about.ticket};
      if (name != "dispatch" && !(name == "compute" && answered.contains(key))) continue;
      const auto finder = of(found, Key{r.context, r.footprint.graph});
      const auto user = of(all_.operations, key);
      if (!finder || finder == user) continue;
      if (refused.contains(key))
        all_.put(finder, user);
      else
        all_.put(user, finder);
    }
  }

  /// A lane shows how far it is when it has handled a message. Another that asked had not seen that
  /// yet; one that did not ask, and might have, had.
  void settle_waits() {
    struct Handling {
      std::int64_t begin, end;
    };
    std::map<Key, std::vector<Handling>> handlings;  // of lanes
    for (const auto& r : records_.handled)
      if (const auto& name = all_.message(r.kind);
          name == "carry_out" || name == "reached" || name == "end_lease")
        handlings[{r.context, r.by}].push_back(
            {r.begin, r.begin + static_cast<std::int64_t>(r.duration)});
    // What a lane did last in the handling that it was at then, and when that was over.
    using Shown = std::pair<Place, std::int64_t>;
    const auto shows = [&](const Key& lane, std::int64_t at) -> std::optional<Shown> {
      const auto& all = handlings[lane];
      const auto next = std::ranges::upper_bound(all, at, {}, &Handling::begin);
      if (next == all.begin() || std::prev(next)->end < at) return std::nullopt;
      const auto place = all_.last_of(lane, std::prev(next)->end);
      return place ? std::optional(Shown(*place, std::prev(next)->end)) : std::nullopt;
    };
    using Turns = std::tuple<std::uint64_t, std::uint64_t, msg::Ticket>;  // context, lane, turn
    std::map<Turns, Key> operations;
    std::map<std::pair<Key, Turns>, std::vector<Shown>> asked;  // and when
    for (const auto& [thread, r] : records_.sent) {
      const Turns at{r.context, r.footprint.lane, r.footprint.turn};
      if (!operation(r).empty()) operations[at] = {r.context, r.about.ticket};
      if (all_.message(r.about.message) != "await_turn") continue;
      const Key asker{r.context, r.from};
      const auto asks = all_.last_of(asker, r.at);
      if (!asks) continue;
      asked[{asker, at}].emplace_back(*asks, r.at);
      if (const auto shown = shows({r.context, r.to}, r.at)) all_.put(asks, shown->first);
    }
    for (const auto& [thread, r] : records_.sent) {
      const auto begin =
          operation(r).empty() ? std::nullopt : of(all_.operations, Key{r.context, r.about.ticket});
      if (!begin) continue;
      const auto& lane = all_.turns[*begin].actor;
      // When it looked how far the others are: as it asked one of them, or by the time it began.
      const auto before = all_.previous(*begin);
      std::optional<Shown> looked;
      std::vector<Shown> seen;  // where others had shown that they were so far
      const auto& waits = r.footprint.waits;
      for (std::size_t i = 0; i + 1 < waits.size(); i += 2) {
        const Turns awaited{r.context, waits[i], waits[i + 1]};
        if (const auto asks = asked.find({lane, awaited}); asks != asked.end()) {
          for (const auto& asks_then : asks->second)
            if (asks_then.second <= all_.turns[*begin].at) looked = asks_then;
          continue;
        }
        const auto operation = operations.find(awaited);
        if (operation == operations.end()) continue;
        const auto end = of(all_.ends, operation->second);
        const auto shown = end ? shows(all_.turns[*end].actor, all_.turns[*end].at) : std::nullopt;
        if (shown) seen.push_back(*shown);
      }
      for (const auto& [shown, over] : seen)
        all_.put(shown, looked && over <= looked->second ? looked->first : before);
    }
  }

  /// Whoever looks whether the context is lost and goes on did so before it was; who found that it
  /// is, later.
  void settle_losses() {
    std::set<Place> go_on;  // what actors did when they looked, and went on
    for (const auto& [key, operation] : all_.operations)
      if (const auto looked = all_.previous(operation)) go_on.insert(*looked);
    for (const auto& [thread, r] : records_.sent)
      if (const auto by = all_.last_of({r.context, r.from}, r.at);
          by && all_.turns[*by].turn.kind == Turn::Kind::message)
        if (const auto& at = all_.turns[*by].turn.message;
            at == "carry_out" || at == "end_lease" || at == "compiled")
          go_on.insert(*by);
    std::set<Place> find;
    for (const auto& r : records_.lost)
      if (!r.first)
        if (const auto by = all_.last_of({r.context, r.by}, r.at)) find.insert(*by);
    for (Place place = 0; place < all_.turns.size(); ++place) {
      const auto& [at, actor, turn] = all_.turns[place];
      const bool call = turn.kind == Turn::Kind::call && actor.second != 0;
      if (call || (turn.message == "compiled" && !find.contains(place))) go_on.insert(place);
    }
    for (const auto place : go_on) put_before_loss(place);
    for (const auto place : find)
      if (!go_on.contains(place)) all_.put(of(all_.losses, all_.turns[place].actor.first), place);
    const auto look_at = [&](std::uint64_t context, msg::Ticket ticket, std::string_view error) {
      if (error.empty()) return;
      const auto chain = trace::errors_in(error);
      if (chain.empty() || chain.back().kind != "context_lost" || !chain.front().ran) return;
      // A device that is lost when its context is, loses nothing more.
      all_.put(of(all_.losses, context), of(all_.operations, Key{context, ticket}));
    };
    for (const auto& [thread, r] : records_.sent) look_at(r.context, r.about.ticket, r.about.error);
    for (const auto& r : records_.answered) look_at(r.context, r.ticket, r.error);
    for (const auto& r : records_.unheard) look_at(r.context, r.ticket, r.error);
  }
  void put_before_loss(Place place) {
    all_.put(place, of(all_.losses, all_.turns[place].actor.first));
  }

  /// When a context's actor ends, so do the others, at once in a replay: what they did they had
  /// done.
  void settle_goings() {
    for (const auto& [context, going] : all_.goings) all_.put(of(all_.losses, context), going);
    for (Place place = 0; place < all_.turns.size(); ++place) {
      const auto& actor = all_.turns[place].actor;
      if (all_.is(actor, "tensor") || all_.is(actor, "graph"))
        all_.put(place, of(all_.goings, actor.first));
    }
  }

  Happenings& all_;
  const trace::Records& records_;
};

}  // namespace

std::vector<Turn> order_of(const trace::Records& records,
                           const std::vector<std::optional<std::size_t>>& matches,
                           const std::map<ContextAndActor, Role>& roles,
                           const std::map<ContextAndTime, std::size_t>& calls,
                           const std::vector<Call>& made) {
  Happenings all(records, matches, roles);
  all.collect(calls, made);
  return Ordering(all).run();
}

}  // namespace polychron::replay
