// Generations under many schedules: they join, wait for others, are cancelled, are late, throw, and
// lose their context.
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "polychron/stress.hpp"
#include "polychron/text.hpp"
#include "tests/text/fixture.hpp"

using namespace polychron;
using text_tests::TemporaryFile;
using text_tests::TinyModel;

namespace {

/// What a client does with its generation.
enum class Fate { ends, is_cancelled, is_late, throws, destroys };

struct Plan {
  std::string prompt;
  std::uint32_t tokens;
  Fate fate;
};

struct World {
  TinyModel tiny;
  TemporaryFile file{tiny.file().bytes()};
  std::map<std::string, std::vector<std::uint32_t>> texts;  ///< alone, by prompt

  const std::vector<std::uint32_t>& text_of(const std::string& prompt) {
    auto& text = texts[prompt];
    if (text.empty()) {
      Runtime runtime;
      const auto model = text::Model::load(runtime.create_context().get(), file.path());
      text = model.generate(prompt, {.max_tokens = 6}).get().tokens;
    }
    return text;
  }

  void run(stress::Simulation& simulation, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    auto context = simulation.create_context();
    const text::LoadOptions options{.context_length = 24,
                                    .chats = 1 + static_cast<std::uint32_t>(random() % 2),
                                    .now = [&] { return simulation.now(); }};
    const auto model = text::Model::load(context, file.path(), options);
    bool destroyed = false;
    std::vector<std::string> outcomes(2 + random() % 3, "nothing");
    std::vector<Cancellation> cancellations(outcomes.size());
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      const Plan plan{random() % 4 == 0   ? "ABCDEFGHIJKLMNOPQRST"
                      : random() % 2 == 0 ? "AB"
                                          : "C",
                      1 + static_cast<std::uint32_t>(random() % 5),
                      random() % 2 == 0 ? Fate::ends : static_cast<Fate>(random() % 5)};
      const auto begin = [&, i, plan] {
        text::GenerateOptions own{.max_tokens = plan.tokens};
        if (plan.fate == Fate::is_cancelled) own.cancellation = cancellations[i];
        if (plan.fate == Fate::is_late)
          own.deadline = simulation.now() + std::chrono::milliseconds(1);
        own.on_text = [&, plan, count = std::size_t{0}](std::string_view) mutable {
          if (++count < plan.tokens / 2) return;
          if (plan.fate == Fate::throws) throw std::runtime_error("thrown");
          if (plan.fate != Fate::destroys) return;
          destroyed = true;
          context.destroy();
        };
        model.generate(plan.prompt, own).then([&, i, plan](Result<text::Generated> result) {
          judge(plan, destroyed, result);
          if (outcomes[i] != "nothing") throw std::runtime_error("settled twice");
          outcomes[i] = "settled";
        });
      };
      const auto act = [&, i, plan] {
        if (plan.fate == Fate::is_cancelled) cancellations[i].cancel();
        if (plan.fate == Fate::is_late) simulation.advance(std::chrono::milliseconds(2));
      };
      simulation.client("client " + std::to_string(i), {begin, act});
    }
    simulation.run();
    for (const auto& outcome : outcomes)
      if (outcome == "nothing") throw std::runtime_error("a generation is lost");
  }

  void judge(const Plan& plan, bool destroyed, const Result<text::Generated>& result) {
    if (result) {
      auto expected = text_of(plan.prompt);
      if (expected.size() > plan.tokens) expected.resize(plan.tokens);
      if (result->tokens != expected) throw std::runtime_error("other tokens than alone");
      return;
    }
    const auto kind = result.error().root().kind();
    const std::map<Fate, ErrorKind> own{{Fate::is_cancelled, ErrorKind::aborted},
                                        {Fate::is_late, ErrorKind::timed_out},
                                        {Fate::throws, ErrorKind::operation_error}};
    const auto expected = own.find(plan.fate);
    if (expected != own.end() && expected->second == kind) return;
    if (!destroyed || (kind != ErrorKind::invalid_state && kind != ErrorKind::context_lost))
      throw std::runtime_error(result.error().what());
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(sequences)

BOOST_AUTO_TEST_CASE(generations_end_as_they_must_under_every_schedule) {
  const char* const count = std::getenv("POLYCHRON_SEQUENCES");  // worlds of 10 schedules
  const auto first = text_tests::seed_of_run();
  const std::uint64_t worlds = count == nullptr ? 4 : std::strtoull(count, nullptr, 10);
  World world;
  for (const auto* prompt : {"ABCDEFGHIJKLMNOPQRST", "AB", "C"})
    BOOST_REQUIRE(!world.text_of(prompt).empty());
  for (auto seed = first; seed < first + worlds; ++seed) {
    const auto report =
        stress::search([&](stress::Simulation& simulation) { world.run(simulation, seed); },
                       {.seed = seed, .schedules = 10});
    const auto found = report.finding ? report.finding->what : "nothing";
    BOOST_TEST(found == "nothing", "POLYCHRON_SEED=" << seed << ": " << found);
  }
}

BOOST_AUTO_TEST_SUITE_END()
