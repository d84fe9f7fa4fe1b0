#include "tests/backends/asking.hpp"

#include <boost/test/results_collector.hpp>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <iostream>
#include <map>
#include <random>
#include <set>

namespace polychron::testing {
namespace {

/// Promise, then backend: "kept", or why it was not asked.
std::map<std::string, std::map<std::string, std::string>>& answers() {
  static std::map<std::string, std::map<std::string, std::string>> table;
  return table;
}

std::size_t failures() {
  const auto test = boost::unit_test::framework::current_test_case().p_id;
  return boost::unit_test::results_collector.results(test).p_assertions_failed;
}

/// Prints the table at the program's end.
struct Table {
  ~Table() {
    if (answers().empty()) return;
    std::vector<std::string> names;
    for (const auto& candidate : candidates()) names.push_back(candidate.name);
    const auto print = [](std::string text, std::size_t width) {
      text.resize(std::max(width, text.size() + 1), ' ');
      std::cout << text;
    };
    std::cout << "\n";
    print("promise", 22);
    for (const auto& name : names) print(name, 10);
    for (const auto& [promise, row] : answers()) {
      std::cout << "\n";
      print(promise, 22);
      for (const auto& name : names) print(row.contains(name) ? row.at(name) : "BROKEN", 10);
    }
    std::cout << "\n";
  }
};
BOOST_TEST_GLOBAL_FIXTURE(Table);

}  // namespace

void each(const std::string& promise, const std::function<void(const Candidate&, Backend&)>& ask,
          const Exempt& exempt) {
  for (const Candidate& candidate : candidates()) {
    auto& answer = answers()[promise][candidate.name];
    const auto reason = candidate.absent.empty() ? exempt(candidate) : candidate.absent;
    if (!reason.empty()) {
      std::cout << "skipped: " << candidate.name << ": " << promise << ": " << reason << "\n";
      answer = candidate.absent.empty() ? "-" : "absent";
      continue;
    }
    BOOST_TEST_CONTEXT(candidate.name) {
      answer = "BROKEN";
      const auto before = failures();
      try {
        ask(candidate, *candidate.make());
      } catch (const std::exception& error) {
        BOOST_ERROR("thrown: " << error.what());
      }
      if (before == failures()) answer = "kept";
    }
  }
}

std::vector<std::byte> random_bytes(std::size_t count) {
  static std::mt19937 random(1);
  std::vector<std::byte> bytes(count);
  for (auto& byte : bytes) byte = std::byte(random() & 0xff);
  return bytes;
}

std::vector<std::byte> read(Backend& backend, const Storage& storage) {
  std::vector<std::byte> bytes(storage.bytes(), std::byte{0xee});
  backend.read(storage, bytes).value();
  return bytes;
}

bool same(const Candidate& candidate, std::span<const std::byte> a, std::span<const std::byte> b) {
  const auto count = std::min(a.size(), candidate.kept_bytes);
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), count) == 0;
}

}  // namespace polychron::testing
