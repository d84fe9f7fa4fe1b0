// A runtime, a context and small graphs, as an embedder makes them.
#pragma once

#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "polychron/polychron.hpp"
#include "tests/device.hpp"

namespace polychron::testing {

struct Embedder {
  explicit Embedder(const ContextOptions& options = {})
      : context(runtime.create_context(on_device_of_tests(options)).get()) {}

  Tensor tensor(DataType type, Shape shape, const std::string& label = {}) {
    TensorDescriptor descriptor;
    descriptor.data_type = type;
    descriptor.shape = std::move(shape);
    descriptor.readable = descriptor.writable = true;
    descriptor.label = label;
    return context.create_tensor(descriptor).get();
  }
  /// A float32 tensor of shape [n] with these values.
  Tensor tensor(const std::vector<float>& values) {
    auto t = tensor(DataType::float32, {static_cast<std::uint32_t>(values.size())});
    context.write_tensor(t, values);
    return t;
  }
  /// out = in * factor, on float32 [1].
  Graph times(float factor) {
    GraphBuilder builder(context);
    const OperandDescriptor one{DataType::float32, {1}};
    const auto in = builder.input("in", one);
    return builder.build({{"out", builder.mul(in, builder.constant(one, std::vector{factor}))}})
        .get();
  }
  std::vector<float> read(const Tensor& t) { return floats(context.read_tensor(t).get()); }
  static std::vector<float> floats(const Buffer& bytes) {
    const auto values = bytes.as<float>();
    return {values.begin(), values.end()};
  }

  Runtime runtime;
  Context context;
};

/// Fails the test unless `call` throws an Error of this kind.
template <class F>
void throws(ErrorKind kind, F call) {
  try {
    call();
    BOOST_ERROR("expected " << to_string(kind) << ", but nothing was thrown");
  } catch (const Error& error) {
    BOOST_TEST((error.kind() == kind), "expected " << to_string(kind) << ", got " << error.what());
  }
}

/// Fails the test unless `future` is rejected with an Error of this kind.
template <class T>
void rejects(ErrorKind kind, Future<T> future) {
  const auto result = future.take();
  BOOST_REQUIRE_MESSAGE(!result, "expected " << to_string(kind) << ", but there is a value");
  BOOST_TEST((result.error().kind() == kind),
             "expected " << to_string(kind) << ", got " << result.error().what());
}

}  // namespace polychron::testing
