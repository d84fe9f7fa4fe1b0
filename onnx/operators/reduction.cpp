// Reductions along axes.
#include <algorithm>
#include <array>

#include "onnx/calculate.hpp"
#include "onnx/handlers.hpp"

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

/// `since`: the opset at which the axes became an input.
template <ReduceMethod method, const Binary& host, std::int64_t since>
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
  if (some)
    if (auto known = reduce(host, node.calculable_literal(0),
                            attributes.axes.value_or(std::vector<std::uint32_t>{}), keep))
      return node.set(*known);
  node.set((node.builder.*method)(node.operand(0), attributes, node.label()));
}

using B = GraphBuilder;
}  // namespace

std::span<const Row> reduction_rows() noexcept {
  static constexpr std::array rows{
      Row{"ReduceL1", reduce_along<&B::reduce_l1, unknown, 18>},
      Row{"ReduceL2", reduce_along<&B::reduce_l2, unknown, 18>},
      Row{"ReduceLogSum", reduce_along<&B::reduce_log_sum, unknown, 18>},
      Row{"ReduceLogSumExp", reduce_along<&B::reduce_log_sum_exp, unknown, 18>},
      Row{"ReduceMax", reduce_along<&B::reduce_max, larger, 18>},
      Row{"ReduceMean", reduce_along<&B::reduce_mean, unknown, 18>},
      Row{"ReduceMin", reduce_along<&B::reduce_min, smaller, 18>},
      Row{"ReduceProd", reduce_along<&B::reduce_product, multiplied, 18>},
      Row{"ReduceSum", reduce_along<&B::reduce_sum, added, 13>},
      Row{"ReduceSumSquare", reduce_along<&B::reduce_sum_square, unknown, 18>},
  };
  return rows;
}

}  // namespace polychron::onnx::detail
