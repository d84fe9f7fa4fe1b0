// Near misses of the passes' patterns: each pattern with one thing changed, for every thing that
// can be. The passes must leave it alone, or turn it into something that computes the same.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <functional>
#include <span>

#include "kernels/cpu/cpu_backend.hpp"
#include "ops/table.hpp"
#include "tests/kernels/graphs.hpp"

namespace polychron {
namespace {

using ops::op;
using ops::ValueId;
using tests::GraphMaker;
using tests::Runner;

using Maker = std::function<void(GraphMaker&)>;
using Change = std::function<void(ops::Graph&)>;
/// A change, and what it is called.
struct Named {
  std::string name;
  Change change;
};

bool same_number(double a, double b) {
  if (std::isnan(a) || std::isnan(b) || std::isinf(b)) return std::isnan(b) || a == b;
  return std::fabs(a - b) <= 1e-3 * std::fmax(1, std::fabs(b));
}

/// The first difference between what passes make of a graph and the reference, or nothing.
std::string difference(const GraphMaker& maker) {
  Runner fused(kernels::make_cpu_backend(), maker.share());
  Runner plain(kernels::make_cpu_backend({.optimize = false, .reference_only = true}),
               maker.share());
  for (Runner* runner : {&fused, &plain}) {
    runner->randomize(11);
    runner->run();
  }
  for (std::size_t output = 0; output < maker.share()->outputs.size(); ++output) {
    const auto actual = fused.get<float>(output), expected = plain.get<float>(output);
    for (std::size_t i = 0; i < expected.size(); ++i)
      if (!same_number(actual[i], expected[i]))
        return "output " + std::to_string(output) + "[" + std::to_string(i) + "] is " +
               std::to_string(actual[i]) + ", expected " + std::to_string(expected[i]);
  }
  return "";
}

const OperandDescriptor& descriptor(const ops::Graph& graph, ValueId id) {
  return graph.values[id].descriptor;
}

bool is_output(const ops::Graph& graph, ValueId id) {
  return std::ranges::any_of(graph.outputs, [&](const auto& out) { return out.second == id; });
}

/// Puts alpha * x + beta between a node and its operand.
void put_between(ops::Graph& graph, std::size_t node, std::size_t operand, double alpha,
                 double beta) {
  const auto x = graph.nodes[node].inputs[operand];
  graph.values.push_back({ops::Value::Kind::result, descriptor(graph, x), nullptr});
  const auto id = static_cast<ValueId>(graph.values.size() - 1);
  graph.nodes[node].inputs[operand] = id;
  graph.nodes.insert(graph.nodes.begin() + static_cast<std::ptrdiff_t>(node),
                     ops::Node{op("linear"), {x}, {id}, LinearAttributes{alpha, beta}, "between"});
}

void add_operands(const ops::Graph& graph, std::vector<Named>& changes) {
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const auto& node = graph.nodes[n];
    for (std::size_t k = 0; k < node.inputs.size(); ++k) {
      const auto x = node.inputs[k];
      if (x == ops::no_value) continue;
      const auto at = node.label + ", operand " + std::to_string(k);
      if (graph.values[x].kind != ops::Value::Kind::constant) {
        changes.push_back({at + " + 0.3", [=](auto& g) { put_between(g, n, k, 1, 0.3); }});
        changes.push_back({at + " * 1.3", [=](auto& g) { put_between(g, n, k, 1.3, 0); }});
      }
      for (ValueId other = 0; other < x; ++other)
        if (descriptor(graph, other) == descriptor(graph, x) &&
            graph.values[other].kind == graph.values[x].kind)
          changes.push_back({at + " is value " + std::to_string(other),
                             [=](auto& g) { g.nodes[n].inputs[k] = other; }});
    }
    const bool arithmetic = node.op == op("add") || node.op == op("sub") || node.op == op("mul") ||
                            node.op == op("div") || node.op == op("pow");
    if (!arithmetic) continue;
    changes.push_back({node.label + " turned round",
                       [n](auto& g) { std::swap(g.nodes[n].inputs[0], g.nodes[n].inputs[1]); }});
    for (const auto other : {op("add"), op("sub"), op("mul"), op("div"), op("max")})
      if (other != node.op)
        changes.push_back(
            {node.label + " is another operator", [n, other](auto& g) { g.nodes[n].op = other; }});
  }
}

/// The first, the last, or every number of each constant is another.
void add_constants(const ops::Graph& graph, std::vector<Named>& changes) {
  for (ValueId id = 0; id < graph.values.size(); ++id) {
    if (graph.values[id].kind != ops::Value::Kind::constant) continue;
    const auto count = graph.values[id].constant->as<float>().size();
    const auto change = [&](const char* which, std::size_t begin, std::size_t end) {
      changes.push_back(
          {std::string(which) + " of constant " + std::to_string(id), [=](ops::Graph& g) {
             const auto old = g.values[id].constant->as<float>();
             std::vector<float> numbers(old.begin(), old.end());
             for (auto i = begin; i < end; ++i) numbers[i] = numbers[i] * 1.25F + 0.1F;
             g.values[id].constant =
                 std::make_shared<const Buffer>(Buffer::copy_of(std::span<const float>(numbers)));
           }});
    };
    change("all", 0, count);
    if (count == 1) continue;
    change("the first", 0, 1);
    change("the last", count - 1, count);
  }
}

template <class T>
double number_of(const std::optional<T>& value) {
  return std::visit([](auto x) { return static_cast<double>(x); }, *value);
}

/// Attributes that leave the shapes as they are.
void add_attributes(const ops::Graph& graph, std::vector<Named>& changes) {
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const auto& node = graph.nodes[n];
    const auto add = [&]<class A>(const std::string& what, std::function<void(A&)> change) {
      changes.push_back({node.label + ": " + what, [n, change](ops::Graph& g) {
                           change(std::get<A>(g.nodes[n].attributes));
                         }});
    };
    if (std::holds_alternative<LinearAttributes>(node.attributes)) {
      add.operator()<LinearAttributes>("alpha", [](auto& a) { a.alpha *= 1.2; });
      add.operator()<LinearAttributes>("beta", [](auto& a) { a.beta += 0.3; });
    }
    if (std::holds_alternative<ClampAttributes>(node.attributes)) {
      add.operator()<ClampAttributes>("minimum", [](auto& a) { a.min_value = -0.2; });
      add.operator()<ClampAttributes>("no minimum", [](auto& a) { a.min_value.reset(); });
      add.operator()<ClampAttributes>("maximum",
                                      [](auto& a) { a.max_value = number_of(a.max_value) / 2; });
      add.operator()<ClampAttributes>("no maximum", [](auto& a) { a.max_value.reset(); });
    }
    if (std::holds_alternative<GemmAttributes>(node.attributes)) {
      add.operator()<GemmAttributes>("alpha", [](auto& a) { a.alpha = 0.5; });
      add.operator()<GemmAttributes>("beta", [](auto& a) { a.beta = 0.5; });
      add.operator()<GemmAttributes>("no c", [](auto& a) { a.beta = 0; });
      add.operator()<GemmAttributes>("a", [](auto& a) { a.a_transpose = !a.a_transpose; });
      add.operator()<GemmAttributes>("b", [](auto& a) { a.b_transpose = !a.b_transpose; });
    }
    if (std::holds_alternative<BatchNormalizationAttributes>(node.attributes)) {
      add.operator()<BatchNormalizationAttributes>("axis", [](auto& a) { a.axis = 2; });
      add.operator()<BatchNormalizationAttributes>("epsilon", [](auto& a) { a.epsilon = 0.5; });
    }
    if (std::holds_alternative<SoftmaxAttributes>(node.attributes))
      add.operator()<SoftmaxAttributes>("axis", [](auto& a) { --a.axis; });
    if (const auto* transpose = std::get_if<TransposeAttributes>(&node.attributes)) {
      const auto& from = descriptor(graph, node.inputs[0]).shape;
      const auto& to = descriptor(graph, node.outputs[0]).shape;
      auto order = *transpose->permutation;
      std::ranges::sort(order);
      do {
        bool fits = order != *transpose->permutation;
        for (std::size_t i = 0; i < to.size(); ++i) fits = fits && from[order[i]] == to[i];
        if (fits)
          add.operator()<TransposeAttributes>("order", [order](auto& a) { a.permutation = order; });
      } while (std::ranges::next_permutation(order).found);
    }
  }
}

void add_readers(const ops::Graph& graph, std::vector<Named>& changes) {
  for (const auto& node : graph.nodes) {
    const auto id = node.outputs[0];
    if (!is_output(graph, id))
      changes.push_back({node.label + " has a second reader",
                         [id](auto& g) { g.outputs.emplace_back("also", id); }});
  }
}

/// Compares the pattern and everything that differs from it in one place.
void check_all(const char* pattern, const Maker& make) {
  GraphMaker whole;
  make(whole);
  BOOST_TEST(difference(whole) == "", pattern << ": " << difference(whole));
  std::vector<Named> changes;
  add_operands(whole.graph(), changes);
  add_constants(whole.graph(), changes);
  add_attributes(whole.graph(), changes);
  add_readers(whole.graph(), changes);
  for (const auto& [name, change] : changes) {
    GraphMaker maker;
    make(maker);
    change(maker.graph());
    const auto found = difference(maker);
    BOOST_TEST(found.empty(), pattern << ", " << name << ": " << found);
  }
  BOOST_TEST_MESSAGE(pattern << ": " << changes.size() << " changes");
  BOOST_TEST(changes.size() >= 8U);
}

// -- the patterns: all dimensions are alike where that can be, so that what is turned still fits

const Shape square{6, 6};

ValueId scalar(GraphMaker& m, float value) { return m.constant<float>({}, {value}); }

ValueId convolution(GraphMaker& m, ValueId x) {
  return m.node(op("conv2d"), {x, m.random({6, 6, 1, 1}), m.random({6})}, {1, 6, 6, 6},
                Conv2dAttributes{});
}

void hard_swish(GraphMaker& m) {
  const Shape shape{1, 6, 6, 6};
  const auto x = convolution(m, m.input(shape));
  const auto shifted = m.node(op("add"), {x, scalar(m, 3)}, shape);
  const auto clipped = m.node(op("clamp"), {shifted}, shape, ClampAttributes{0.0, 6.0});
  const auto y = m.node(op("mul"), {x, clipped}, shape);
  m.output(m.node(op("div"), {y, scalar(m, 6)}, shape));
}

void swish(GraphMaker& m) {
  const auto x = m.input(square);
  const auto scaled = m.node(op("mul"), {x, scalar(m, 1.7F)}, square);
  m.output(m.node(op("mul"), {x, m.node(op("sigmoid"), {scaled}, square)}, square));
}

void gelu(GraphMaker& m) {
  const auto x = m.input(square);
  const auto inner = m.node(op("div"), {x, scalar(m, std::sqrt(2.0F))}, square);
  const auto gate = m.node(op("add"), {m.node(op("erf"), {inner}, square), scalar(m, 1)}, square);
  const auto y = m.node(op("mul"), {x, gate}, square);
  m.output(m.node(op("mul"), {y, scalar(m, 0.5F)}, square));
}

void layer_normalization(GraphMaker& m, const ReduceAttributes& over, const Shape& reduced) {
  const auto x = m.input(square);
  const auto mean = m.node(op("reduceMean"), {x}, reduced, over);
  const auto centred = m.node(op("sub"), {x, mean}, square);
  const auto squares = m.node(op("pow"), {centred, scalar(m, 2)}, square);
  const auto variance = m.node(op("reduceMean"), {squares}, reduced, over);
  const auto shifted = m.node(op("add"), {variance, scalar(m, 0.01F)}, reduced);
  const auto y = m.node(op("div"), {centred, m.node(op("sqrt"), {shifted}, reduced)}, square);
  const auto scaled = m.node(op("mul"), {y, m.random({6})}, square);
  m.output(m.node(op("add"), {scaled, m.random({6})}, square));
}

/// An operator that scales and shifts the channels behind a convolution.
void affine(GraphMaker& m, ValueId y) {
  const Shape shape{1, 6, 6, 6};
  const auto n = m.node(op("batchNormalization"),
                        {y, m.random({6}), m.random({6}, 0.5F, 2), m.random({6}), m.random({6})},
                        shape, BatchNormalizationAttributes{});
  const auto scaled = m.node(op("mul"), {n, m.random({1, 6, 1, 1})}, shape);
  const auto less = m.node(op("sub"), {scaled, m.random({6, 1, 1})}, shape);
  m.output(m.node(op("mul"), {less, m.random({6})}, shape));  // along the rows
}

void transposed(GraphMaker& m, std::uint32_t groups) {
  ConvTranspose2dAttributes attributes;
  attributes.groups = groups;
  attributes.strides = {2, 2};
  const auto y = m.node(op("convTranspose2d"),
                        {m.input({1, 4, 3, 3}), m.random({4, 6 / groups, 2, 2}), m.random({6})},
                        {1, 6, 6, 6}, attributes);
  affine(m, y);
}

void attention(GraphMaker& m) {
  const Shape whole{1, 8, 8, 8};
  const auto turned = [&](ValueId x, std::vector<std::uint32_t> order) {
    return m.node(op("transpose"), {x}, whole, TransposeAttributes{std::move(order)});
  };
  const auto q = turned(m.input(whole), {0, 2, 1, 3}), k = turned(m.input(whole), {0, 2, 3, 1}),
             v = turned(m.input(whole), {0, 2, 1, 3});
  auto weights = m.node(op("matmul"), {q, k}, whole);
  weights = m.node(op("mul"), {weights, scalar(m, 0.4F)}, whole);
  weights = m.node(op("add"), {weights, m.input({1, 1, 1, 8})}, whole);
  weights = m.node(op("softmax"), {weights}, whole, SoftmaxAttributes{3});
  m.output(turned(m.node(op("matmul"), {weights, v}, whole), {0, 2, 1, 3}));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(near_misses)

BOOST_AUTO_TEST_CASE(of_activations) {
  check_all("hard swish", hard_swish);
  check_all("swish", swish);
  check_all("gelu", gelu);
}

BOOST_AUTO_TEST_CASE(of_layer_normalization) {
  const auto over = [](std::uint32_t axis, bool keeps, Shape reduced) {
    return [=](GraphMaker& m) { layer_normalization(m, {{{axis}}, keeps}, reduced); };
  };
  check_all("layer normalization", over(1, true, {6, 1}));
  check_all("normalization of columns", over(0, true, {1, 6}));
  check_all("normalization over a dropped dimension", over(1, false, {6}));
}

BOOST_AUTO_TEST_CASE(of_what_goes_into_weights) {
  check_all("convolution", [](GraphMaker& m) { affine(m, convolution(m, m.input({1, 6, 6, 6}))); });
  check_all("grouped convolution", [](GraphMaker& m) {
    const auto x = m.input({1, 6, 6, 6});
    Conv2dAttributes grouped;
    grouped.groups = 2;
    affine(m, m.node(op("conv2d"), {x, m.random({6, 3, 1, 1})}, {1, 6, 6, 6}, grouped));
  });
  check_all("transposed convolution", [](GraphMaker& m) { transposed(m, 1); });
  check_all("grouped transposed convolution", [](GraphMaker& m) { transposed(m, 2); });
  check_all("product", [](GraphMaker& m) {
    const auto y = m.node(op("matmul"), {m.input(square), m.random(square)}, square);
    const auto scaled = m.node(op("mul"), {y, m.random({6})}, square);
    const auto shifted = m.node(op("add"), {scaled, m.random({6})}, square);
    m.output(m.node(op("mul"), {shifted, m.random({6, 1})}, square));
  });
}

BOOST_AUTO_TEST_CASE(of_scalars_and_sums) {
  check_all("scalars", [](GraphMaker& m) {
    auto x = m.input(square);
    for (const char* name : {"add", "mul", "sub", "div", "mul", "add"})
      x = m.node(tests::op_named(name), {x, scalar(m, 1.5F)}, square);
    m.output(x);
  });
  check_all("gemm", [](GraphMaker& m) {
    m.output(m.node(op("gemm"), {m.input(square), m.random(square), m.random({6})}, square,
                    GemmAttributes{}));
    m.output(m.node(op("gemm"), {m.input(square), m.random(square), m.random({6, 1})}, square,
                    GemmAttributes{.alpha = 0.7, .beta = 1.5}));
  });
  check_all("residual sum", [](GraphMaker& m) {
    const Shape shape{1, 6, 6, 6};
    const auto a = convolution(m, m.input(shape)), b = convolution(m, a);
    m.output(m.node(op("relu"), {m.node(op("add"), {a, b}, shape)}, shape));
    m.output(m.node(op("sub"), {b, a}, shape));
  });
}

BOOST_AUTO_TEST_CASE(of_products_of_what_is_turned) {
  check_all("attention", attention);
  check_all("products", [](GraphMaker& m) {
    const auto turned = [&](ValueId x) {
      return m.node(op("transpose"), {x}, square, TransposeAttributes{{{1, 0}}});
    };
    const auto a = m.input(square), b = m.input(square);
    m.output(m.node(op("matmul"), {turned(a), b}, square));
    m.output(m.node(op("matmul"), {a, turned(b)}, square));
    m.output(turned(m.node(op("matmul"), {turned(a), turned(b)}, square)));
  });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron
