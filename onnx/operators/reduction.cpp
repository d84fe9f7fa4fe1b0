// Reductions along axes.
#include <algorithm>
#include <array>
#include <cmath>

#include "onnx/calculate.hpp"
#include "onnx/handlers.hpp"
#include "onnx/operators/reshape.hpp"

namespace polychron::onnx::detail {

namespace {

using ReduceMethod = Operand (GraphBuilder::*)(const Operand&, const ReduceAttributes&,
                                               GraphBuilder::Label);
using Int = std::int64_t;

constexpr Binary unknown{};
constexpr Binary added{
    [](Int a, Int b) {
      return static_cast<Int>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
    },
    [](double a, double b) { return a + b; }};
constexpr Binary multiplied{
    [](Int a, Int b) {
      return static_cast<Int>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
    },
    [](double a, double b) { return a * b; }};
constexpr Binary larger{[](Int a, Int b) { return std::max(a, b); },
                        [](double a, double b) { return std::max(a, b); }};
constexpr Binary smaller{[](Int a, Int b) { return std::min(a, b); },
                         [](double a, double b) { return std::min(a, b); }};

/// Sets the output to a number if the input has no elements: the importer knows it, as WebNN has no
/// empty tensors. False if it has some.
bool set_of_none(Node& node, const std::vector<std::uint32_t>& axes, bool keep, double result) {
  const auto& from = node.shape(0);
  if (count(from) != 0) return false;
  Shape to;
  for (std::uint32_t d = 0; d < from.size(); ++d) {
    const bool folded = axes.empty() || std::ranges::find(axes, d) != axes.end();
    if (!folded || keep) to.push_back(folded ? 1 : from[d]);
  }
  const bool is_bool = node.type(0) == ElementType::boolean;  // whose least value is false
  const std::vector<double> value{is_bool ? std::max(result, 0.0) : result};
  set_filled(node, make_literal(node.type(0), {}, value), to);
  return true;
}

/// `of_none` is what no numbers give. `since`: the opset at which the axes became an input.
template <ReduceMethod method, const Binary& host, std::int64_t since, const double& of_none>
void reduce_along(Node& node) {
  const auto given = node.list("axes", 1, since);
  const bool keep = node.integer("keepdims", 1) != 0;
  ReduceAttributes attributes;
  attributes.keep_dimensions = keep;
  if (given && !given->empty()) {
    attributes.axes = node.axes(*given, node.rank(0));
  } else if (node.integer("noop_with_empty_axes", 0) != 0) {
    attributes.axes.emplace();  // none: the function is applied to each element
  }
  const bool some = !attributes.axes || !attributes.axes->empty();
  const auto axes = attributes.axes.value_or(std::vector<std::uint32_t>{});
  if (some && set_of_none(node, axes, keep, of_none)) return;
  if (some)
    if (auto known = reduce(host, node.calculable_literal(0), axes, keep)) return node.set(*known);
  node.set((node.builder.*method)(node.operand(0), attributes, node.label()));
}

using B = GraphBuilder;
}  // namespace

std::span<const Row> reduction_rows() noexcept {
  static constexpr double zero = 0, one = 1, least = -INFINITY, most = INFINITY, none = NAN;
  static constexpr std::array rows{
      Row{"ReduceL1", reduce_along<&B::reduce_l1, unknown, 18, zero>},
      Row{"ReduceL2", reduce_along<&B::reduce_l2, unknown, 18, zero>},
      Row{"ReduceLogSum", reduce_along<&B::reduce_log_sum, unknown, 18, least>},
      Row{"ReduceLogSumExp", reduce_along<&B::reduce_log_sum_exp, unknown, 18, least>},
      Row{"ReduceMax", reduce_along<&B::reduce_max, larger, 18, least>},
      Row{"ReduceMean", reduce_along<&B::reduce_mean, unknown, 18, none>},
      Row{"ReduceMin", reduce_along<&B::reduce_min, smaller, 18, most>},
      Row{"ReduceProd", reduce_along<&B::reduce_product, multiplied, 18, one>},
      Row{"ReduceSum", reduce_along<&B::reduce_sum, added, 13, zero>},
      Row{"ReduceSumSquare", reduce_along<&B::reduce_sum_square, unknown, 18, zero>},
  };
  return rows;
}

}  // namespace polychron::onnx::detail
