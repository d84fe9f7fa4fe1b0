// A million dispatches and a hundred thousand live tensors: memory and time per operation as they
// grow. It does not use Google Benchmark, which repeats a measurement until it is sure. Here each
// row begins with all that the rows before it left behind, and happens once in a process.
#include <chrono>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <string>
#include <vector>

#include "tests/bench/tiny.hpp"

using namespace polychron;
using Clock = std::chrono::steady_clock;

namespace {

/// Resident memory of this process in MiB.
double resident_mib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmRSS:")) return std::stod(line.substr(6)) / 1024;
  return 0;
}

/// Prints time per operation since `start`, and memory.
void report(const char* what, std::size_t done, std::size_t operations, Clock::time_point start) {
  const std::chrono::duration<double, std::micro> spent = Clock::now() - start;
  std::cout << std::setw(9) << done << " " << what << std::fixed << std::setprecision(2)
            << std::setw(9) << spent.count() / static_cast<double>(operations) << " us each "
            << std::setw(9) << resident_mib() << " MiB resident\n";
}

}  // namespace

int main() {
  bench::Tiny tiny;
  constexpr std::size_t block = 100'000;
  for (std::size_t done = block; done <= 10 * block; done += block) {
    const auto start = Clock::now();
    for (std::size_t i = 0; i < block; ++i) tiny.dispatch();
    tiny.wait();
    report("dispatches", done, block, start);
  }

  std::vector<Tensor> tensors;
  for (std::size_t done = block / 10; done <= block; done += block / 10) {
    const auto start = Clock::now();
    std::vector<Future<Tensor>> asked;
    for (std::size_t i = 0; i < block / 10; ++i)
      asked.push_back(tiny.context.create_tensor({bench::four, true, true, {}}));
    for (auto& tensor : asked) tensors.push_back(tensor.get());
    for (std::size_t i = 0; i < block / 10; ++i) tiny.dispatch();
    tiny.wait();
    report("tensors, each with a dispatch", done, block / 10, start);
  }
  const auto start = Clock::now();
  tensors.clear();
  tiny.wait();
  report("tensors destroyed", block, block, start);
}
