// Sessions of small models, as an embedder makes them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "polychron/session.hpp"
#include "tests/onnx/fixture.hpp"

namespace onnx_tests {

using polychron::Buffer;
using polychron::Error;
using polychron::ErrorKind;
using polychron::NamedBuffers;
using polychron::onnx::Session;
using polychron::onnx::SessionOptions;
using Floats = std::vector<float>;

/// sum = a + b, product = a * b, difference = a - b, all of them float [n, 2].
inline Model arithmetic() {
  const int type = proto::TensorProto::FLOAT;
  return Model()
      .node("Add", {"a", "b"}, {"sum"})
      .node("Mul", {"a", "b"}, {"product"})
      .node("Sub", {"a", "b"}, {"difference"})
      .input("a", type, {"n", 2})
      .input("b", type, {"n", 2})
      .output("sum")
      .output("product")
      .output("difference");
}

inline SessionOptions of_rows(std::uint32_t rows) {
  return {.bindings = {{"n", {rows}}}, .label = "arithmetic"};
}

/// y = x * factor, float [2].
inline Model times(double factor) {
  return Model()
      .node("Mul", {"x", "f"}, {"y"})
      .initializer("f", floats({1}, {factor}))
      .input("x", proto::TensorProto::FLOAT, {2})
      .output("y");
}

inline Session session_of(const Model& model, const SessionOptions& options = {}) {
  return {context(), load(model.bytes()), options};
}

inline Buffer buffer(const Floats& values) { return Buffer::copy_of(values); }

template <class... N>
NamedBuffers named(std::pair<N, Buffer>... entries) {
  NamedBuffers buffers;
  (buffers.emplace_back(std::move(entries.first), std::move(entries.second)), ...);
  return buffers;
}

inline Floats values(const NamedBuffers& outputs, std::string_view name) {
  for (const auto& [output, bytes] : outputs)
    if (output == name) return bytes.to_vector<float>();
  BOOST_FAIL("there is no output '" << name << "'");
  return {};
}

inline void same(const Floats& actual, const Floats& expected) {
  BOOST_TEST(actual == expected, boost::test_tools::per_element());
}

/// `call` throws an Error of `kind` that says all of `words`.
template <class F>
void fails(ErrorKind kind, const std::vector<std::string>& words, F call) {
  try {
    call();
    BOOST_ERROR("nothing was thrown, where " << to_string(kind) << " was expected");
  } catch (const Error& error) {
    const std::string what = error.what();
    BOOST_TEST(to_string(error.kind()) == to_string(kind), what);
    for (const auto& word : words)
      BOOST_TEST(what.find(word) != std::string::npos, "'" << what << "' does not say " << word);
  }
}

}  // namespace onnx_tests
