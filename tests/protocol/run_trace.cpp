// The trace of a run keeps what a viewer relies on: every arrow has two ends, in slices of the
// right tracks, and slices of a track do not overlap.
#include <boost/test/unit_test.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "stress/run.hpp"
#include "stress/run_trace.hpp"

using namespace polychron;

namespace {

struct Slice {
  std::uint64_t end;
  std::string name;
};
using Tracks = std::map<std::uint64_t, std::map<std::uint64_t, Slice>>;  ///< by beginning

struct End {
  std::uint64_t track, at;
};

/// What a trace is made of.
struct Read {
  Tracks tracks;
  std::map<std::uint64_t, End> starts, ends;  ///< of arrows, by id
  std::map<std::uint64_t, std::string> names;
  std::size_t marks = 0;
};

Read read(const std::string& text) {
  Read found;
  const auto trace = nlohmann::json::parse(text);
  for (const auto& event : trace.at("traceEvents")) {
    const auto phase = event.at("ph").get<std::string>();
    const auto track = event.at("tid").get<std::uint64_t>();
    if (phase == "M") {
      found.names[track] = event.at("args").at("name");
      continue;
    }
    const auto at = event.at("ts").get<std::uint64_t>();
    if (phase == "X") {
      const Slice slice{at + event.at("dur").get<std::uint64_t>(), event.at("name")};
      BOOST_TEST(found.tracks[track].emplace(at, slice).second, "two slices begin at " << at);
    } else if (phase == "i") {
      ++found.marks;
    } else {
      BOOST_REQUIRE((phase == "s" || phase == "f"));
      auto& side = phase == "s" ? found.starts : found.ends;
      BOOST_TEST(side.emplace(event.at("id").get<std::uint64_t>(), End{track, at}).second);
    }
  }
  return found;
}

/// The slice of `end`'s track that it stands in.
const Slice* slice_at(const Read& trace, const End& end) {
  const auto track = trace.tracks.find(end.track);
  if (track == trace.tracks.end()) return nullptr;
  auto after = track->second.upper_bound(end.at);
  if (after == track->second.begin()) return nullptr;
  const auto& slice = std::prev(after)->second;
  return slice.end >= end.at ? &slice : nullptr;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(run_trace)

BOOST_AUTO_TEST_CASE(arrows_have_ends_and_slices_do_not_overlap) {
  std::size_t arrows = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const auto program = stress::random_program(seed);
    stress::RandomStrategy random(seed);
    stress::RunTrace recorder;
    const auto result = stress::run(program, random, nullptr, &recorder);
    const auto trace = read(recorder.chrome_json("a run"));
    for (const auto& [track, slices] : trace.tracks) {
      BOOST_TEST(trace.names.contains(track), "track " << track << " has no name");
      std::uint64_t busy_until = 0;
      for (const auto& [begin, slice] : slices) {
        BOOST_TEST(begin >= busy_until, slice.name << " begins within another slice of its track");
        BOOST_TEST(slice.end > begin);
        busy_until = slice.end;
      }
    }
    BOOST_TEST(trace.starts.size() == trace.ends.size());
    for (const auto& [id, start] : trace.starts) {
      BOOST_REQUIRE(trace.ends.contains(id));
      const auto& end = trace.ends.at(id);
      BOOST_TEST(start.at < end.at, "arrow " << id << " ends before it begins");
      BOOST_TEST(slice_at(trace, start) != nullptr, "arrow " << id << " begins nowhere");
      BOOST_TEST(slice_at(trace, end) != nullptr, "arrow " << id << " ends nowhere");
    }
    // Every message that was handled has its slice and its arrow.
    BOOST_TEST(trace.ends.size() == result.messages);
    arrows += trace.ends.size();
    BOOST_TEST(trace.marks > 0U);
  }
  BOOST_TEST(arrows > 1000U);
}

BOOST_AUTO_TEST_SUITE_END()
