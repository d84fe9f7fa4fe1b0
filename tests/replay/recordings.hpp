// Recordings to be run again.
#pragma once

#include <cstddef>
#include <vector>

#include "observe/replay/replay.hpp"
#include "tests/trace/recorded.hpp"

namespace polychron::testing {

/// The value that is written to a tensor in each recording, and nowhere else.
inline constexpr float written = 12345.678F;

/// Everything that a context does, well and badly, by one thread.
inline void work(Recorded& recorded) {
  auto& context = recorded.context;
  const auto graph = recorded.graph("g");
  const auto a = recorded.tensor("a"), b = recorded.tensor("b");
  auto c = recorded.tensor("c");
  context.push_error_scope(ErrorFilter::internal);
  for (float i = 0; i < 20; ++i) {
    context.write_tensor(a, std::vector{i < 19 ? i : written});
    context.dispatch(graph, {{"in", a}}, {{"out", b}});
    context.read_tensor(b).get();
  }
  auto lease = context.export_tensor(c).get();
  lease.bytes()[3] = std::byte{7};
  lease.return_now();
  context.read_tensor(c).get();
  DispatchOptions late;
  late.label = "late";
  late.deadline = std::chrono::steady_clock::now() - std::chrono::seconds(1);
  context.dispatch(graph, {{"in", a}}, {{"out", b}}, late);
  static_cast<void>(context.read_tensor(b).take());
  context.dispatch(graph, {{"in", b}}, {{"out", c}});
  static_cast<void>(context.read_tensor(c).take());
  static_cast<void>(c.error().get());
  NamedBuffers in, out;
  in.emplace_back("in", Buffer::copy_of(std::vector{1.0F}));
  out.emplace_back("out", Buffer(sizeof(float)));
  static_cast<void>(context.compute(graph, std::move(in), std::move(out)).get());
  c.destroy();
  static_cast<void>(context.pop_error_scope().get());
}

inline std::vector<std::byte> recording_of_work(const TraceOptions& options, int lanes = 2) {
  ContextOptions with;
  with.lanes = lanes;
  Recorded recorded(options, with);
  work(recorded);
  recorded.context.destroy();
  recorded.runtime.shutdown();
  return recorded.runtime.trace();
}

}  // namespace polychron::testing
