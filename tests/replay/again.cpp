// A replay comes to the same tickets, errors and values as its recording.
#include <algorithm>
#include <random>

#include "observe/replay/script.hpp"
#include "observe/replay/transcript.hpp"
#include "observe/trace/check.hpp"
#include "tests/recorded_program.hpp"
#include "tests/replay/recordings.hpp"

using namespace polychron;
using namespace polychron::testing;

namespace {

void comes_again(std::span<const std::byte> recording) {
  const auto replayed = replay::replay(recording);
  for (const auto& difference : replayed.differences) BOOST_ERROR(difference);
  const auto verdict = trace::check(trace::join(replayed.recording));
  for (const auto& broken : verdict.broken) BOOST_ERROR(broken);
}

std::string refusal(std::span<const std::byte> recording) {
  try {
    replay::replay(recording);
  } catch (const Error& error) {
    BOOST_TEST((error.kind() == ErrorKind::bad_data));
    return error.message();
  }
  return "none";
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(again)

BOOST_AUTO_TEST_CASE(a_run_of_many_threads_comes_again_in_one) {
  for (const int lanes : {1, 3}) {
    const auto sizes = recording_of_work({}, lanes);
    comes_again(sizes);
    const auto replayed = replay::replay(sizes);
    BOOST_TEST(!replayed.contents);
    BOOST_TEST(replayed.contexts == 1U);
    BOOST_TEST(replayed.values == 22U);  // reads and a compute that gave bytes
    BOOST_TEST(replayed.errors >= 4U);   // the late one, what reads its output, and what reads that
  }
}

BOOST_AUTO_TEST_CASE(with_payloads_the_bytes_are_compared) {
  auto recording = recording_of_work({.calls = TraceCalls::payloads});
  comes_again(recording);
  BOOST_TEST(replay::replay(recording).contents);
  // Another byte was written to the tensor than was read then.
  const auto bytes = std::as_bytes(std::span(&written, 1));
  const auto at = std::search(recording.begin(), recording.end(), bytes.begin(), bytes.end());
  BOOST_REQUIRE((at != recording.end()));
  at[1] ^= std::byte{1};
  const auto replayed = replay::replay(recording);
  BOOST_TEST(replayed.differences.size() == 1U);
  BOOST_TEST(has(replayed.differences.at(0), "other bytes"), replayed.differences.at(0));
}

BOOST_AUTO_TEST_CASE(a_graph_that_found_no_room_finds_none_again) {
  // The weights fit as they are described, and not as float32, which the plan keeps.
  ContextOptions options;
  options.memory_limit = 10'000;
  Recorded recorded({}, options);
  {
    GraphBuilder builder(recorded.context);
    const OperandDescriptor row{DataType::float16, {1, 64}}, square{DataType::float16, {64, 64}};
    const auto weights = builder.constant(square, std::vector<std::byte>(8192));
    const auto product = builder.matmul(builder.input("x", row), weights);
    const auto built = builder.build({{"y", product}}).take();
    BOOST_REQUIRE(!built.has_value());
    BOOST_TEST((built.error().kind() == ErrorKind::out_of_memory), built.error().what());
  }
  recorded.runtime.shutdown();
  const auto recording = recorded.runtime.trace();
  comes_again(recording);
  BOOST_TEST(replay::replay(recording).errors == 1U);
}

BOOST_AUTO_TEST_CASE(what_is_larger_than_a_usual_recording_comes_again) {
  Recorded recorded({.max_bytes = std::size_t{1} << 30, .calls = TraceCalls::payloads});
  TensorDescriptor descriptor;
  descriptor.data_type = DataType::uint8;
  descriptor.shape = {1 << 20};
  descriptor.readable = descriptor.writable = true;
  const auto tensor = recorded.context.create_tensor(descriptor).get();
  // 80 MiB: a recording keeps 64, unless it is asked to keep more.
  for (unsigned i = 0; i < 80; ++i)
    recorded.context.write_tensor(tensor, std::vector<std::uint8_t>(1 << 20, i & 255U));
  recorded.context.read_tensor(tensor).get();
  recorded.context.destroy();
  recorded.runtime.shutdown();
  comes_again(recorded.runtime.trace());
}

BOOST_AUTO_TEST_CASE(a_recording_tells_who_lost_its_context) {
  const auto recording = recording_of_work({});
  const auto records = trace::read_records(recording);
  BOOST_REQUIRE(records.lost.size() == 1U);
  const auto& lost = records.lost.front();
  BOOST_TEST((lost.by == 0U && lost.ticket == 0U));  // a caller, by no operation
}

BOOST_AUTO_TEST_CASE(every_schedule_of_a_random_program_comes_again) {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    const auto recorded = recorded_program(seed);
    BOOST_TEST_CONTEXT("seed " << seed << "\n" << stress::to_string(recorded.program)) {
      BOOST_TEST(!recorded.result.finding.has_value());
      comes_again(recorded.recording);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_differs_is_told) {
  const auto recording = recording_of_work({});
  const auto good = replay::transcript_of(trace::read_records(recording));
  BOOST_TEST(replay::differences(good, good).empty());
  const auto told = [&](const char* what, auto change) {
    auto other = good;
    for (auto& [ticket, entry] : other.at(0))
      if (entry.carried_out && change(entry)) break;
    BOOST_TEST(!replay::differences(good, other).empty(), what << " was not told");
    BOOST_TEST(!replay::differences(other, good).empty(), what << " was not told, swapped");
  };
  told("another operation", [](replay::TranscriptEntry& entry) {
    entry.what += "x";
    return true;
  });
  told("another error", [](replay::TranscriptEntry& entry) {
    if (entry.told.empty()) return false;
    entry.told = {"tensor_became errored: nothing"};
    return true;
  });
  told("another answer", [](replay::TranscriptEntry& entry) {
    if (entry.answer != "bytes") return false;
    entry.answer = "aborted";
    return true;
  });
  auto fewer = good;
  fewer.at(0).erase(std::prev(fewer.at(0).end()));
  BOOST_TEST(!replay::differences(good, fewer).empty());
}

BOOST_AUTO_TEST_CASE(what_cannot_be_run_again_is_refused) {
  BOOST_TEST(has(refusal(recording_of_work({.calls = TraceCalls::none})), "no calls"));
  BOOST_TEST(has(refusal(recording_of_work({.max_bytes = 20'000})), "no room"));
  Recorded recorded;
  const auto early = recorded.tensor("early");
  recorded.runtime.start_trace();
  recorded.context.read_tensor(early).get();
  BOOST_TEST(has(refusal(recorded.runtime.trace()), "beginning"));
  BOOST_TEST(has(refusal({}), "no recording"));
}

BOOST_AUTO_TEST_CASE(damaged_recordings_are_refused_or_run) {
  const auto recording = recording_of_work({.calls = TraceCalls::payloads});
  std::mt19937_64 random(17);
  for (int i = 0; i < 400; ++i) {
    auto damaged = recording;
    for (auto flips = 1 + random() % 3; flips > 0; --flips)
      damaged[random() % damaged.size()] = static_cast<std::byte>(random());
    try {
      replay::replay(damaged);
    } catch (const Error& error) {
      BOOST_TEST(!std::string(error.what()).empty());
    }
  }
}

BOOST_AUTO_TEST_CASE(other_schedules_of_the_same_calls_hold_too) {
  const auto recording = recording_of_work({});
  const auto varied = replay::vary(recording, {.schedules = 40, .seed = 1});
  BOOST_TEST(varied.schedules == 40U);
  BOOST_TEST(!varied.finding.has_value(), varied.finding.value_or(""));
}

BOOST_AUTO_TEST_SUITE_END()
