// An embedder's own code under searched schedules: one thread loads a table, another answers from
// it. The first version announces the table before it writes it. The search finds that, and finds
// it again from its token. The second version announces the table afterwards, and the search finds
// nothing.
#include <cstdio>
#include <polychron/polychron.hpp>
#include <polychron/stress.hpp>
#include <stdexcept>

using namespace polychron;

namespace {

void serve(stress::Simulation& world, bool announces_early) {
  auto context = world.create_context();
  const auto table = context.create_tensor({{DataType::float32, {2}}, true, true, "table"}).get();
  bool announced = false;

  world.client("loader", {[&] { announced = announces_early; },
                          [&] {
                            context.write_tensor(table, std::vector<float>{3, 4});
                            announced = true;
                          }});
  world.client("server", {[&] {
                 if (!announced) return;
                 const auto numbers = context.read_tensor(table).get();
                 if (numbers.as<float>()[0] != 3)
                   throw std::runtime_error("answered from a table that was not loaded");
               }});
  world.run();
}

void first_version(stress::Simulation& world) { serve(world, true); }
void second_version(stress::Simulation& world) { serve(world, false); }

}  // namespace

int main() try {
  const auto report = stress::search(first_version, {.seed = 1, .schedules = 1000});
  if (!report.finding) return 1;
  std::printf("found: %s\n", report.finding->what.c_str());
  for (const auto& step : report.finding->steps) std::printf("  %s\n", step.c_str());

  const auto& token = report.finding->token;
  const auto again = stress::replay(first_version, token);
  std::printf("token %s: %s\n", token.c_str(), again ? again->what.c_str() : "nothing");

  const auto mended = stress::search(second_version, {.seed = 1, .schedules = 1000});
  if (mended.finding) std::printf("found: %s\n", mended.finding->what.c_str());
  std::printf("mended: %s\n", mended.finding ? "no" : "nothing found");
  return !again || mended.finding ? 1 : 0;
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
