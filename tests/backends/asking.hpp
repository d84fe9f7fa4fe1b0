// Asks every backend for the promises of kernels/backend.hpp. The program ends with a table:
// promise by backend.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "observe/stress/symbolic_graph.hpp"
#include "tests/backends/candidates.hpp"

namespace polychron::testing {

using kernels::Backend;
using kernels::Storage;

/// The reason why a promise does not apply to a candidate, or "".
using Exempt = std::function<std::string(const Candidate&)>;

inline std::string computes_nothing(const Candidate& candidate) {
  return candidate.computes_nothing;
}
inline std::string computes_little(const Candidate& candidate) {
  return candidate.computes_nothing + candidate.computes_by_label;
}

/// Asks `ask` of each candidate.
void each(
    const std::string& promise, const std::function<void(const Candidate&, Backend&)>& ask,
    const Exempt& exempt = [](const Candidate&) { return ""; });

std::vector<std::byte> random_bytes(std::size_t count);
std::vector<std::byte> read(Backend& backend, const Storage& storage);
/// True if the bytes are the same, of which the candidate keeps some or all.
bool same(const Candidate& candidate, std::span<const std::byte> a, std::span<const std::byte> b);

/// A plan of a graph that every backend can compute, with storage for a run.
struct Program {
  explicit Program(Backend& of, const std::string& label = "sum") : backend(of) {
    plan = backend.compile(stress::computed_graph(label, 2)).value();
    instance = backend.instantiate(plan, {}).value();
    for (int i = 0; i < 2; ++i) in.push_back(backend.allocate(sizeof(std::uint64_t)).value());
    out.push_back(backend.allocate(sizeof(std::uint64_t)).value());
  }
  kernels::ExecuteStatus run(std::uint64_t a, std::uint64_t b) {
    values = {a, b};
    for (std::size_t i = 0; i < 2; ++i)
      backend.write(*in[i], std::as_bytes(std::span(&values[i], 1))).value();
    return execute();
  }
  kernels::ExecuteStatus execute() {
    Storage* const inputs[] = {in[0].get(), in[1].get()};
    Storage* const outputs[] = {out[0].get()};
    return backend.execute(*instance, inputs, outputs);
  }
  std::uint64_t result() {
    std::uint64_t value = 0;
    backend.read(*out[0], std::as_writable_bytes(std::span(&value, 1))).value();
    return value;
  }
  std::uint64_t expected(const std::string& label = "sum") const {
    return stress::symbolic_result(label, 0, values);
  }
  Backend& backend;
  std::shared_ptr<kernels::Plan> plan;
  std::unique_ptr<kernels::PlanInstance> instance;
  std::vector<std::unique_ptr<Storage>> in, out;
  std::vector<std::uint64_t> values;
};

}  // namespace polychron::testing
