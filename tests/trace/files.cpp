// Recordings as bytes: what is not one, what is damaged, what is put into files.
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <thread>

#include "observe/recording/codec.hpp"
#include "observe/recording/file.hpp"
#include "observe/recording/message_description.hpp"
#include "observe/trace/chrome.hpp"
#include "observe/trace/errors.hpp"
#include "observe/trace/page.hpp"
#include "observe/trace/summary.hpp"
#include "polychron/trace.hpp"
#include "tests/paths.hpp"
#include "tests/trace/recorded.hpp"

using namespace polychron;
using testing::Recorded;
namespace fs = std::filesystem;

namespace {

std::vector<std::byte> some_recording() {
  Recorded recorded({.steps = true}, {.lanes = 2});
  const auto a = recorded.tensor("a\x1b[31m"), b = recorded.tensor("\xff\xfe </script>");
  const auto graph = recorded.graph("g");
  for (int i = 0; i < 5; ++i) recorded.context.dispatch(graph, {{"in", a}}, {{"out", b}});
  recorded.context.read_tensor(b).get();
  recorded.runtime.shutdown();
  return recorded.runtime.trace();
}

/// Everything that is made of a story; an Error is an answer as well.
void tell_everything(std::span<const std::byte> bytes) {
  try {
    const auto story = trace::join(bytes);
    trace::summary(story);
    trace::check(story);
    trace::chrome_json(story, "damaged");
    trace::page_data({story, "damaged"});
  } catch (const Error& error) {
    BOOST_TEST((error.kind() == ErrorKind::bad_data), error.what());
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(files)

BOOST_AUTO_TEST_CASE(what_is_no_recording_is_refused) {
  const auto refused = [](std::span<const std::byte> bytes) {
    try {
      trace::join(bytes);
      BOOST_ERROR("expected bad_data of " << bytes.size() << " bytes");
    } catch (const Error& error) {
      BOOST_TEST((error.kind() == ErrorKind::bad_data), error.what());
    }
  };
  refused({});
  const std::string text = "POLYTRC\n";
  refused(std::as_bytes(std::span(text)));
  const std::string other = "%PDF-1.7 and so on";
  refused(std::as_bytes(std::span(other)));
  const auto whole = some_recording();
  BOOST_CHECK_NO_THROW(trace::join(whole));
  refused(std::span(whole).first(whole.size() / 2));
}

BOOST_AUTO_TEST_CASE(a_recording_of_another_version_is_refused_by_its_number) {
  auto bytes = some_recording();
  bytes[recording::magic.size()] = std::byte{2};
  try {
    trace::join(bytes);
    BOOST_ERROR("expected bad_data");
  } catch (const Error& error) {
    BOOST_TEST((error.kind() == ErrorKind::bad_data), error.what());
    BOOST_TEST(error.message().find("version 2") != std::string::npos, error.message());
    BOOST_TEST(error.message().find("reads version " + std::to_string(recording::version)) !=
                   std::string::npos,
               error.message());
  }
}

BOOST_AUTO_TEST_CASE(damaged_recordings_are_told_or_refused) {
  const auto whole = some_recording();
  const auto seed = std::random_device()();
  BOOST_TEST_MESSAGE("seed " << seed);
  std::mt19937 random(seed);
  for (int i = 0; i < 2000; ++i) {
    auto bytes = whole;
    for (auto damages = 1 + random() % 8; damages > 0; --damages) {
      const auto at = random() % bytes.size();
      if (random() % 8 == 0)
        bytes.erase(bytes.begin() + static_cast<std::ptrdiff_t>(at));
      else
        bytes[at] = static_cast<std::byte>(random() % 4 == 0 ? 0xFF : random());
    }
    BOOST_TEST_CONTEXT("seed " << seed << ", recording " << i) { tell_everything(bytes); }
  }
}

BOOST_AUTO_TEST_CASE(every_record_is_read_as_it_was_written) {
  using namespace polychron::recording;
  const Sent sent{7,
                  -5,
                  11,
                  1,
                  std::uint64_t{1} << 63,
                  0xFFFFFFFFFFFFFFFF,
                  {3, 2, 99, "label", "1\terror"},
                  {2, 8, {0, 5}, {1, 2, 3}, {}, 4}};
  std::vector<std::byte> bytes(most_bytes(sent));
  Encoder encoder(bytes.data());
  encoder.record(sent);
  bytes.resize(static_cast<std::size_t>(encoder.end() - bytes.data()));
  Decoder decoder(bytes);
  const auto record = decoder.record();
  BOOST_REQUIRE(record);
  BOOST_TEST(decoder.at_end());
  const auto& read = std::get<Sent>(*record);
  BOOST_TEST(read.context == 7U);
  BOOST_TEST(read.at == -5);
  BOOST_TEST(read.clock == 11U);
  BOOST_TEST(read.to == std::uint64_t{1} << 63);
  BOOST_TEST(read.message == 0xFFFFFFFFFFFFFFFF);
  BOOST_TEST(read.about.label == "label");
  BOOST_TEST(read.about.error == "1\terror");
  BOOST_TEST(read.about.ticket == 99U);
  BOOST_TEST((read.footprint.waits == sent.footprint.waits));
  BOOST_TEST((read.footprint.reads == sent.footprint.reads));
  BOOST_TEST(read.footprint.writes.empty());
  BOOST_TEST(read.footprint.graph == 4U);
}

// Each line of a recorded error is a link of its chain, and tabs part its fields.
BOOST_AUTO_TEST_CASE(an_error_with_line_ends_stays_one_link_of_its_chain) {
  const auto root = Error(ErrorKind::bad_data, "one\ntwo\r\nthree\tfour")
                        .with_operation("im\nport", "la\tbel", 3)
                        .with_object("tensor 'a\rb'");
  const auto error =
      Error(ErrorKind::operation_error, "").with_operation("dispatch", "\n", 7).not_run();
  const auto chain = trace::errors_in(recording::lines_of(error.caused_by(root)));
  BOOST_REQUIRE(chain.size() == 2U);
  BOOST_TEST(chain[0].ticket == 7U);
  BOOST_TEST(chain[0].kind == "operation_error");
  BOOST_TEST(chain[0].label == " ");
  BOOST_TEST(!chain[0].ran);
  BOOST_TEST(chain[0].message.empty());
  BOOST_TEST(chain[1].ticket == 3U);
  BOOST_TEST(chain[1].operation == "im port");
  BOOST_TEST(chain[1].label == "la bel");
  BOOST_TEST(chain[1].object == "tensor 'a b'");
  BOOST_TEST(chain[1].ran);
  BOOST_TEST(chain[1].message == "one two  three four");
}

BOOST_AUTO_TEST_CASE(chrome_events_keep_what_they_promise) {
  const auto story = trace::join(some_recording());
  const auto json = nlohmann::json::parse(trace::chrome_json(story, "title"));
  std::set<std::size_t> begun, ended;
  std::set<std::pair<std::size_t, std::size_t>> named;
  std::map<std::pair<std::size_t, std::size_t>, double> last;
  std::size_t slices = 0;
  for (const auto& event : json["traceEvents"]) {
    const std::string phase = event["ph"];
    const std::pair<std::size_t, std::size_t> track{event["pid"], event["tid"]};
    if (phase == "M") named.insert(track);
    if (phase == "s") begun.insert(event["id"].get<std::size_t>());
    if (phase == "f") ended.insert(event["id"].get<std::size_t>());
    if (phase != "X") continue;
    ++slices;
    BOOST_TEST(named.contains(track), "a slice is on a track that has a name");
    BOOST_TEST(event["ts"].get<double>() >= last[track], "slices are in order");
    last[track] = event["ts"];
    if (event["args"].contains("cause"))
      BOOST_TEST(event["args"]["cause"].get<std::size_t>() < story.events.size());
  }
  BOOST_TEST(slices == story.events.size());
  BOOST_TEST((begun == ended));
  BOOST_TEST(!begun.empty());
}

BOOST_AUTO_TEST_CASE(a_summary_names_what_took_the_time) {
  const auto text = trace::summary(trace::join(some_recording()));
  for (const auto* part : {"1 contexts", "What the lanes did", "dispatch", "The slowest ticket",
                           "No operation failed", " calls "})
    BOOST_TEST(text.find(part) != std::string::npos, part << " is missing in\n" << text);
}

BOOST_AUTO_TEST_CASE(a_file_appears_whole_or_not_at_all) {
  const auto directory = fs::path(polychron::testing::binary_directory()) / "tests" / "trace_files";
  fs::remove_all(directory);
  fs::create_directories(directory);
  const auto bytes = some_recording();
  save_trace(bytes, directory / "run.trace");
  BOOST_TEST(fs::file_size(directory / "run.trace") == bytes.size());
  try {
    save_trace(bytes, directory / "no such directory" / "run.trace");
    BOOST_ERROR("expected an error");
  } catch (const Error& error) {
    BOOST_TEST((error.kind() == ErrorKind::operation_error));
  }
  BOOST_TEST(std::distance(fs::directory_iterator(directory), fs::directory_iterator()) == 1);
}

BOOST_AUTO_TEST_CASE(two_that_write_to_one_place_do_not_mix_their_files) {
  const auto directory = fs::path(polychron::testing::binary_directory()) / "tests" / "trace_both";
  fs::remove_all(directory);
  fs::create_directories(directory);
  const auto place = directory / "run.trace";
  const std::vector<std::byte> a(1 << 20, std::byte{'a'}), b(2 << 20, std::byte{'b'});
  for (int round = 0; round < 40; ++round) {
    {
      const std::jthread other([&] { save_trace(a, place); });
      save_trace(b, place);
    }
    std::ifstream file(place, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const auto& whole = text.size() == a.size() ? a : b;
    BOOST_REQUIRE_EQUAL(text.size(), whole.size());
    BOOST_REQUIRE(std::ranges::equal(std::as_bytes(std::span(text)), whole));
  }
  BOOST_TEST(std::distance(fs::directory_iterator(directory), fs::directory_iterator()) == 1);
}

BOOST_AUTO_TEST_CASE(files_beside_a_recording_are_left_alone) {
  const auto directory =
      fs::path(polychron::testing::binary_directory()) / "tests" / "trace_beside";
  fs::remove_all(directory);
  fs::create_directories(directory);
  const auto text_of = [](const fs::path& path) {
    std::ifstream file(path);
    return std::string{std::istreambuf_iterator<char>(file), {}};
  };
  std::ofstream(directory / "precious") << "precious";
  std::ofstream(directory / "run.trace.part") << "a user's";
  fs::create_symlink("precious", directory / "other.trace.part");
  const std::vector<std::byte> bytes(100);
  save_trace(bytes, directory / "run.trace");
  save_trace(bytes, directory / "other.trace");
  BOOST_TEST(text_of(directory / "precious") == "precious");
  BOOST_TEST(text_of(directory / "run.trace.part") == "a user's");
  BOOST_TEST(fs::is_symlink(directory / "other.trace.part"));
  BOOST_TEST(!fs::is_symlink(directory / "other.trace"));
}

BOOST_AUTO_TEST_SUITE_END()
