// Recordings to be run again.
#pragma once

#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <string>
#include <vector>

#include "polychron/polychron.hpp"
#include "replay/replay.hpp"

namespace polychron::testing {

inline const OperandDescriptor four_numbers{DataType::float32, {4}};

inline Tensor tensor_of(Context& context, const std::string& label) {
  TensorDescriptor descriptor;
  descriptor.data_type = DataType::float32;
  descriptor.shape = {4};
  descriptor.readable = descriptor.writable = true;
  descriptor.label = label;
  return context.create_tensor(descriptor).get();
}

/// Everything that a context does, well and badly, by one thread.
inline void work(Context& context) {
  GraphBuilder builder(context);
  const auto two = builder.constant(four_numbers, std::vector{2.0F, 2.0F, 2.0F, 2.0F});
  const auto x = builder.input("x", four_numbers);
  const auto graph = builder.build({{"y", builder.mul(x, two)}}, {"double"}).get();
  const auto a = tensor_of(context, "a"), b = tensor_of(context, "b");
  auto c = tensor_of(context, "c");
  context.push_error_scope(ErrorFilter::internal);
  for (float i = 0; i < 20; ++i) {
    context.write_tensor(a, std::vector{i, i + 1, i + 2, i + 3});
    context.dispatch(graph, {{"x", a}}, {{"y", b}});
    context.read_tensor(b).get();
  }
  auto lease = context.export_tensor(c).get();
  lease.bytes()[3] = std::byte{7};
  lease.return_now();
  context.read_tensor(c).get();
  DispatchOptions late;
  late.label = "late";
  late.deadline = std::chrono::steady_clock::now() - std::chrono::seconds(1);
  context.dispatch(graph, {{"x", a}}, {{"y", b}}, late);
  static_cast<void>(context.read_tensor(b).take());
  context.dispatch(graph, {{"x", b}}, {{"y", c}});
  static_cast<void>(context.read_tensor(c).take());
  static_cast<void>(c.error().get());
  NamedBuffers in, out;
  in.emplace_back("x", Buffer::copy_of(std::vector{1.0F, 2.0F, 3.0F, 4.0F}));
  out.emplace_back("y", Buffer(16));
  static_cast<void>(context.compute(graph, std::move(in), std::move(out)).get());
  c.destroy();
  static_cast<void>(context.pop_error_scope().get());
}

inline std::vector<std::byte> recording_of_work(const TraceOptions& options, int lanes = 2) {
  Runtime runtime;
  runtime.start_trace(options);
  ContextOptions with;
  with.lanes = lanes;
  auto context = runtime.create_context(with).get();
  work(context);
  context.destroy();
  runtime.shutdown();
  return runtime.trace();
}

}  // namespace polychron::testing
