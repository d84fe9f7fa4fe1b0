// Small ONNX models made in memory, imported, run on a context, and compared with expected numbers.
#pragma once

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "onnx/proto.hpp"
#include "polychron/onnx.hpp"
#include "polychron/polychron.hpp"

namespace onnx_tests {

namespace proto = polychron::onnx::proto;
using polychron::Shape;

using Ints = std::vector<std::int64_t>;
using Reals = std::vector<double>;

/// A tensor of ONNX's element type `type`; every element as a double, whatever the type.
struct Value {
  int type = proto::TensorProto::FLOAT;
  Shape shape;
  Reals data;
};

inline Value floats(Shape shape, Reals data) {
  return {proto::TensorProto::FLOAT, std::move(shape), std::move(data)};
}
inline Value longs(Shape shape, Reals data) {
  return {proto::TensorProto::INT64, std::move(shape), std::move(data)};
}
inline Value list(const Ints& values) {
  return longs({static_cast<std::uint32_t>(values.size())}, Reals(values.begin(), values.end()));
}
inline Value ints(Shape shape, Reals data) {
  return {proto::TensorProto::INT32, std::move(shape), std::move(data)};
}
inline Value bools(Shape shape, Reals data) {
  return {proto::TensorProto::BOOL, std::move(shape), std::move(data)};
}
/// start, start + step, ...
inline Value ramp(Shape shape, double start = 0, double step = 1) {
  std::size_t count = 1;
  for (const auto dimension : shape) count *= dimension;
  Reals data(count);
  for (std::size_t i = 0; i < count; ++i) data[i] = start + static_cast<double>(i) * step;
  return floats(std::move(shape), std::move(data));
}
/// Numbers in [-1, 1] that look random, the same each time.
inline Value noise(Shape shape, std::uint32_t seed = 1) {
  auto value = ramp(std::move(shape));
  for (auto& x : value.data) {
    seed = seed * 1664525 + 1013904223;
    x = static_cast<double>(static_cast<float>(seed >> 8) / 8388608.0F - 1.0F);
  }
  return value;
}

using Values = std::vector<std::pair<std::string, Value>>;
using Attribute = std::variant<std::int64_t, double, std::string, Ints, Reals, Value>;
using Attributes = std::vector<std::pair<std::string, Attribute>>;

// -- elements as bytes
// -----------------------------------------------------------------------------------

/// Calls f(T{}) with the type that stores an element.
template <class F>
void visit_type(int type, F&& f) {
  switch (type) {
    case proto::TensorProto::FLOAT:
      return f(float{});
    case proto::TensorProto::DOUBLE:
      return f(double{});
    case proto::TensorProto::INT64:
      return f(std::int64_t{});
    case proto::TensorProto::INT32:
      return f(std::int32_t{});
    case proto::TensorProto::INT8:
      return f(std::int8_t{});
    case proto::TensorProto::UINT32:
      return f(std::uint32_t{});
    default:
      return f(std::uint8_t{});
  }
}

inline std::string to_bytes(const Value& value) {
  std::string bytes;
  visit_type(value.type, [&]<class T>(T) {
    for (const auto x : value.data) {
      const auto element = static_cast<T>(x);
      bytes.append(reinterpret_cast<const char*>(&element), sizeof element);
    }
  });
  return bytes;
}

inline Reals from_bytes(int type, std::span<const std::byte> bytes) {
  Reals data;
  visit_type(type, [&]<class T>(T) {
    for (std::size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
      T element;
      std::memcpy(&element, bytes.data() + at, sizeof element);
      data.push_back(static_cast<double>(element));
    }
  });
  return data;
}

inline void fill(proto::TensorProto& tensor, const Value& value) {
  tensor.set_data_type(value.type);
  for (const auto dimension : value.shape) tensor.add_dims(dimension);
  tensor.set_raw_data(to_bytes(value));
}

// -- models
// ------------------------------------------------------------------------------------------------

class Model {
 public:
  explicit Model(std::int64_t opset = 13) {
    proto_.set_ir_version(8);
    proto_.set_producer_name("test");
    proto_.add_opset_import()->set_version(opset);
    graph().set_name("g");
  }

  proto::ModelProto& proto() { return proto_; }
  proto::GraphProto& graph() { return *proto_.mutable_graph(); }
  bool has_initializer(const std::string& name) const {
    for (const auto& tensor : proto_.graph().initializer())
      if (tensor.name() == name) return true;
    return false;
  }

  Model& node(const std::string& op, const std::vector<std::string>& inputs,
              const std::vector<std::string>& outputs, const Attributes& attributes = {}) {
    auto& node = *graph().add_node();
    node.set_op_type(op);
    node.set_name("the_" + op);
    for (const auto& name : inputs) node.add_input(name);
    for (const auto& name : outputs) node.add_output(name);
    for (const auto& [name, value] : attributes) set(*node.add_attribute(), name, value);
    return *this;
  }
  /// Gives its last node `body`'s graph, whose inputs and outputs need no types.
  Model& with_body(const Model& body) {
    auto& node = *graph().mutable_node(graph().node_size() - 1);
    auto& attribute = *node.add_attribute();
    attribute.set_name("body");
    attribute.set_type(proto::AttributeProto::GRAPH);
    *attribute.mutable_g() = body.proto_.graph();
    return *this;
  }
  Model& initializer(const std::string& name, const Value& value) {
    auto& tensor = *graph().add_initializer();
    tensor.set_name(name);
    fill(tensor, value);
    return *this;
  }
  /// A string names a free dimension; "" is free without a name.
  Model& input(const std::string& name, int type,
               const std::vector<std::variant<std::int64_t, std::string>>& dimensions) {
    auto& value = *graph().add_input();
    value.set_name(name);
    auto& tensor = *value.mutable_type()->mutable_tensor_type();
    tensor.set_elem_type(type);
    tensor.mutable_shape();
    for (const auto& dimension : dimensions) {
      auto& to = *tensor.mutable_shape()->add_dim();
      if (const auto* number = std::get_if<std::int64_t>(&dimension)) to.set_dim_value(*number);
      const auto* symbol = std::get_if<std::string>(&dimension);
      if (symbol && !symbol->empty()) to.set_dim_param(*symbol);
    }
    return *this;
  }
  Model& input(const std::string& name, const Value& value) {
    return input(name, value.type, {value.shape.begin(), value.shape.end()});
  }
  Model& output(const std::string& name, int type = proto::TensorProto::FLOAT) {
    auto& value = *graph().add_output();
    value.set_name(name);
    value.mutable_type()->mutable_tensor_type()->set_elem_type(type);
    return *this;
  }
  std::string bytes() const { return proto_.SerializeAsString(); }

 private:
  static void set(proto::AttributeProto& to, const std::string& name, const Attribute& from) {
    using A = proto::AttributeProto;
    to.set_name(name);
    if (const auto* i = std::get_if<std::int64_t>(&from)) to.set_i(*i), to.set_type(A::INT);
    if (const auto* f = std::get_if<double>(&from))
      to.set_f(static_cast<float>(*f)), to.set_type(A::FLOAT);
    if (const auto* s = std::get_if<std::string>(&from)) to.set_s(*s), to.set_type(A::STRING);
    if (const auto* t = std::get_if<Value>(&from))
      fill(*to.mutable_t(), *t), to.set_type(A::TENSOR);
    if (const auto* list = std::get_if<Ints>(&from)) {
      for (const auto i : *list) to.add_ints(i);
      to.set_type(A::INTS);
    }
    if (const auto* list = std::get_if<Reals>(&from)) {
      for (const auto f : *list) to.add_floats(static_cast<float>(f));
      to.set_type(A::FLOATS);
    }
  }

  proto::ModelProto proto_;
};

// -- running
// -----------------------------------------------------------------------------------------------

/// One runtime serves all tests of the program. It ends with the tests, not with the process: a
/// runtime in a static variable would outlive CAF's own thread-local state.
struct World {
  polychron::Runtime runtime;
  polychron::Context context = runtime.create_context().get();
  static std::optional<World>& instance() {
    static std::optional<World> world;
    return world;
  }
};

inline polychron::Context& context() {
  auto& world = World::instance();
  if (!world) world.emplace();
  return world->context;
}

struct WorldEnds {
  ~WorldEnds() { World::instance().reset(); }
};
BOOST_TEST_GLOBAL_FIXTURE(WorldEnds);

inline polychron::onnx::Model load(const std::string& bytes) {
  return polychron::onnx::load(std::as_bytes(std::span(bytes)));
}

/// Imports and builds.
inline polychron::Graph build(const polychron::onnx::Model& model,
                              const std::map<std::string, Shape>& bindings = {}) {
  polychron::GraphBuilder builder(context());
  return builder.build(polychron::onnx::import_model(model, builder, {bindings})).get();
}

/// Runs a graph once: the outputs as doubles, in order, of the types that the graph tells.
inline std::vector<std::pair<std::string, Reals>> run(const polychron::Graph& graph,
                                                      const Values& inputs) {
  polychron::NamedTensors in, out;
  for (const auto& [name, descriptor] : graph.inputs())
    for (const auto& [given, value] : inputs) {
      if (given != name) continue;
      polychron::TensorDescriptor tensor{descriptor, false, true, name};
      in.emplace_back(name, context().create_tensor(tensor).get());
      const auto bytes = to_bytes(value);
      context().write_tensor(in.back().second, std::as_bytes(std::span(bytes)));
    }
  for (const auto& [name, descriptor] : graph.outputs())
    out.emplace_back(name, context().create_tensor({descriptor, true, false, name}).get());
  context().dispatch(graph, in, out);
  std::vector<std::pair<std::string, Reals>> results;
  for (const auto& [name, tensor] : out) {
    const auto buffer = context().read_tensor(tensor).get();
    int type = proto::TensorProto::FLOAT;
    switch (tensor.data_type()) {
      case polychron::DataType::int64:
        type = proto::TensorProto::INT64;
        break;
      case polychron::DataType::int32:
        type = proto::TensorProto::INT32;
        break;
      case polychron::DataType::uint32:
        type = proto::TensorProto::UINT32;
        break;
      case polychron::DataType::int8:
        type = proto::TensorProto::INT8;
        break;
      case polychron::DataType::uint8:
        type = proto::TensorProto::UINT8;
        break;
      default:
        break;
    }
    results.emplace_back(name, from_bytes(type, buffer.bytes()));
  }
  return results;
}

inline void compare(const polychron::Graph& graph, const Values& inputs, const Values& expected,
                    double tolerance) {
  const auto results = run(graph, inputs);
  BOOST_REQUIRE_EQUAL(results.size(), expected.size());
  for (std::size_t o = 0; o < expected.size(); ++o) {
    const auto& [name, want] = expected[o];
    BOOST_TEST_CONTEXT("output " << name) {
      BOOST_TEST(graph.outputs()[o].first == name);
      BOOST_TEST(polychron::to_string(graph.outputs()[o].second.shape) ==
                 polychron::to_string(want.shape));
      BOOST_REQUIRE_EQUAL(results[o].second.size(), want.data.size());
      for (std::size_t i = 0; i < want.data.size(); ++i) {
        const auto x = results[o].second[i];
        const auto y = want.data[i];
        const bool same = std::isnan(y)
                              ? std::isnan(x)
                              : x == y || std::abs(x - y) <= tolerance * (1 + std::abs(y));
        BOOST_TEST(same, "element " << i << " is " << x << ", not " << y);
      }
    }
  }
}

/// The model on `inputs` gives `expected`, twice: with the values as inputs of the graph, and with
/// the values as initializers. The latter leads through the importer's own arithmetic.
inline void check(const Model& model, const Values& inputs, const Values& expected,
                  double tolerance = 1e-5) {
  for (const bool known : {false, true}) {
    BOOST_TEST_CONTEXT((known ? "values known at import" : "values as inputs")) {
      auto whole = model;
      for (const auto& [name, value] : inputs) {
        if (known) {
          whole.initializer(name, value);
        } else {
          whole.input(name, value);
        }
      }
      for (const auto& [name, value] : expected) whole.output(name, value.type);
      try {
        compare(build(load(whole.bytes())), inputs, expected, tolerance);
      } catch (const polychron::Error& error) {
        BOOST_ERROR(error.what());
      }
    }
  }
}

/// Loading or importing the model fails with `kind`, and says `words`.
inline void cannot(Model model, const Values& inputs, polychron::ErrorKind kind,
                   const std::string& words, const std::string& output = "y",
                   const std::map<std::string, Shape>& bindings = {}) {
  for (const auto& [name, value] : inputs) model.input(name, value);
  model.output(output);
  try {
    build(load(model.bytes()), bindings);
    BOOST_ERROR("it was taken, where an error with '" << words << "' was expected");
  } catch (const polychron::Error& error) {
    BOOST_TEST(to_string(error.kind()) == to_string(kind), error.what());
    BOOST_TEST(std::string(error.what()).find(words) != std::string::npos,
               "'" << error.what() << "' does not say '" << words << "'");
  }
}

}  // namespace onnx_tests
