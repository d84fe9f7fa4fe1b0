#include "kernels/cpu/cut_rules.hpp"

#include <algorithm>
#include <numeric>

#include "kernels/parts.hpp"
#include "ops/layouts.hpp"

namespace polychron::kernels {
namespace {

using ops::op;

double elements(const Slot& slot) {
  return static_cast<double>(*element_count(slot.descriptor.shape));
}
double bytes_moved(const Slot& slot) {
  return static_cast<double>(storage_bytes(slot.descriptor, slot.layout));
}
double bytes_moved(const Problem& problem) {
  double sum = bytes_moved(problem.outputs[0]);
  for (const Slot& slot : problem.inputs)
    if (slot.present && !slot.constant) sum += bytes_moved(slot);
  return sum;
}

/// The dimension of an operand, broadcast to the result, that is cut with the result's `axis`. None
/// if the operand is absent or has one element for all.
std::optional<std::size_t> meets(const Problem& problem, std::size_t input, std::size_t axis) {
  const Slot& slot = problem.inputs[input];
  if (!slot.present) return std::nullopt;
  const Shape& shape = slot.descriptor.shape;
  const std::size_t missing = problem.outputs[0].descriptor.shape.size() - shape.size();
  if (axis < missing || shape[axis - missing] == 1) return std::nullopt;
  return axis - missing;
}

/// A cut along `axis` of the result and of the operands of post-operations. The caller sets the
/// dimensions of the operator's own operands.
Cut along(const Problem& problem, std::size_t axis, std::size_t unit, double work) {
  Cut cut{axis, problem.outputs[0].descriptor.shape[axis], unit, {}, false, false, work};
  for (std::size_t i = 0; i < problem.inputs.size(); ++i)
    cut.inputs.push_back(i < problem.own_inputs ? std::nullopt : meets(problem, i, axis));
  return cut;
}

/// The outermost dimension that has more than one element.
std::optional<std::size_t> outermost(const Shape& shape) {
  const auto found = std::ranges::find_if(shape, [](std::uint32_t dim) { return dim > 1; });
  if (found == shape.end()) return std::nullopt;
  return static_cast<std::size_t>(found - shape.begin());
}

/// The number of channels that a picture's layout keeps together, if `axis` is the channels.
std::size_t unit_of(const Problem& problem, std::size_t axis) {
  std::size_t unit = 1;
  if (axis != 1) return unit;
  for (const auto* slots : {&problem.inputs, &problem.outputs})
    for (const Slot& slot : *slots) unit = std::max<std::size_t>(unit, channel_block(slot.layout));
  return unit;
}

/// A cut of an operator that computes each element from one element of each operand.
std::optional<Cut> elementwise(const Problem& problem, double work) {
  const auto axis = outermost(problem.outputs[0].descriptor.shape);
  if (!axis) return std::nullopt;
  Cut cut = along(problem, *axis, unit_of(problem, *axis), work);
  for (std::size_t i = 0; i < problem.own_inputs; ++i) cut.inputs[i] = meets(problem, i, *axis);
  return cut;
}

/// A cut along a dimension outside of those that the operator works along.
std::optional<Cut> outside(const Problem& problem, std::size_t innermost, double work) {
  const auto axis = outermost(problem.outputs[0].descriptor.shape);
  if (!axis || *axis >= innermost) return std::nullopt;
  Cut cut = along(problem, *axis, unit_of(problem, *axis), work);
  cut.inputs[0] = *axis;
  return cut;
}

std::optional<Cut> convolution(const Problem& problem, const Conv2dAttributes& a) {
  if (a.input_layout != InputOperandLayout::nchw) return std::nullopt;
  const Shape& filter = problem.inputs[1].descriptor.shape;
  const auto order = ops::filter_axes(a.filter_layout);
  const std::size_t inputs = filter[order[1]];
  const double operations = 2 * elements(problem.outputs[0]) *
                            static_cast<double>(inputs * filter[order[2]] * filter[order[3]]);
  const double work = std::max(operations / operations_per_ns, bytes_moved(problem) / bytes_per_ns);
  const Shape& out = problem.outputs[0].descriptor.shape;
  const auto axis = outermost(out);
  if (!axis || *axis > 1) return std::nullopt;
  if (*axis == 0) {
    Cut cut = along(problem, 0, 1, work);
    cut.inputs[0] = 0;
    return cut;
  }
  // Kernels compute blocks of channels in any layout, and two blocks together up to a fifth faster
  // than one at a time. Kernels with strides first collect the pixels, once for each part. (256
  // channels of 56 x 56 to 512: 0.88 ms in one part or two, 0.96 in four.)
  const bool collects = filter[order[2]] == 1 && filter[order[3]] == 1 && a.strides[0] > 1;
  std::size_t unit = std::max<std::size_t>(unit_of(problem, 1), out[1] % 64 == 0 ? 32 : 16);
  if (collects && out[1] % 64 == 0) unit = std::max<std::size_t>(unit, out[1] / 2);
  const std::size_t outputs = out[1] / a.groups;
  if (a.groups > 1) {
    unit = std::lcm(unit, outputs);
    if (unit / outputs * inputs % unit_of(problem, 1) != 0) return std::nullopt;
  }
  Cut cut = along(problem, 1, unit, work);
  cut.groups = a.groups > 1;
  if (cut.groups) cut.inputs[0] = 1;
  cut.inputs[1] = order[0];
  if (problem.own_inputs > 2 && problem.inputs[2].present) cut.inputs[2] = 0;
  return cut;
}

/// The dimensions of the first factor's rows and of the second factor's columns.
struct Factors {
  std::size_t a_rows, b_columns;
};
Factors factors(const Problem& problem) {
  if (const auto* a = std::get_if<GemmAttributes>(&problem.attributes))
    return {a->a_transpose ? 1U : 0U, a->b_transpose ? 0U : 1U};
  return {problem.inputs[0].descriptor.shape.size() - 2,
          problem.inputs[1].descriptor.shape.size() - 1};
}

std::optional<Cut> product(const Problem& problem) {
  for (const Slot& slot : problem.inputs)
    if (slot.present && slot.descriptor.data_type != DataType::float32) return std::nullopt;
  const Slot& b = problem.inputs[1];
  const Shape& out = problem.outputs[0].descriptor.shape;
  const auto [a_rows, b_columns] = factors(problem);
  const Shape& a_shape = problem.inputs[0].descriptor.shape;
  const double inner = std::holds_alternative<GemmAttributes>(problem.attributes)
                           ? a_shape[1 - a_rows]
                           : a_shape.back();
  const double work = std::max(2 * elements(problem.outputs[0]) * inner / operations_per_ns,
                               bytes_moved(problem) / bytes_per_ns);
  const std::size_t rows = out.size() - 2, columns = out.size() - 1;
  const auto axis = outermost(out);
  if (!axis) return std::nullopt;
  // Cuts a weight matrix by columns, so that one part reads each column once. The other factor is
  // small.
  constexpr std::size_t panel = 64;  // columns that kernels compute at once
  const bool weights = b.constant && elements(b) == double{inner} * out[columns];
  Cut cut;
  if (*axis == columns || (weights && out[columns] >= 2 * panel)) {
    cut = along(problem, columns, panel, work);
    cut.inputs[1] = b_columns;
  } else {
    cut = along(problem, *axis, 1, work);
    cut.inputs[0] = *axis == rows ? std::optional(a_rows) : meets(problem, 0, *axis);
    if (*axis < rows) cut.inputs[1] = meets(problem, 1, *axis);
  }
  if (problem.own_inputs > 2) cut.inputs[2] = meets(problem, 2, cut.output);
  cut.strides = true;
  return cut;
}

std::optional<Cut> resampling(const Problem& problem, const Resample2dAttributes& a) {
  const std::size_t first = std::min(a.axes[0], a.axes[1]);
  return outside(problem, first, bytes_moved(problem) / bytes_per_ns * 4);
}

std::optional<Cut> layer_normalization(const Problem& problem,
                                       const LayerNormalizationAttributes& a) {
  std::size_t innermost = 1;
  if (a.axes) {
    innermost = problem.outputs[0].descriptor.shape.size();
    for (const std::uint32_t axis : *a.axes) innermost = std::min<std::size_t>(innermost, axis);
  }
  return outside(problem, innermost, bytes_moved(problem) / bytes_per_ns * 2);
}

/// A cut of whole rows.
std::optional<Cut> rotation(const Problem& problem) {
  const Shape& shape = problem.outputs[0].descriptor.shape;
  auto cut = outside(problem, shape.size() - 1, bytes_moved(problem) / bytes_per_ns * 2);
  if (cut)
    for (std::size_t i = 0; i < problem.inputs.size(); ++i)
      cut->inputs[i] = meets(problem, i, cut->output);
  return cut;
}

}  // namespace

std::optional<Cut> rule(const Problem& problem) {
  if (problem.outputs.size() != 1) return std::nullopt;
  for (const auto* slots : {&problem.inputs, &problem.outputs})
    for (const Slot& slot : *slots)
      if (slot.present && is_packed(slot.descriptor.data_type)) return std::nullopt;
  if (const auto* a = std::get_if<Conv2dAttributes>(&problem.attributes))
    return convolution(problem, *a);
  if (problem.op == op("matmul") || problem.op == op("gemm")) return product(problem);
  if (const auto* a = std::get_if<Resample2dAttributes>(&problem.attributes))
    return resampling(problem, *a);
  if (const auto* a = std::get_if<LayerNormalizationAttributes>(&problem.attributes))
    return layer_normalization(problem, *a);
  if (const auto* a = std::get_if<SoftmaxAttributes>(&problem.attributes))
    return outside(problem, a->axis, bytes_moved(problem) / bytes_per_ns * 4);
  if (const auto* a = std::get_if<Pool2dAttributes>(&problem.attributes)) {
    if (a->layout != InputOperandLayout::nchw) return std::nullopt;
    return outside(problem, 2, bytes_moved(problem) / bytes_per_ns * 4);
  }
  if (problem.op == op_rotary_embedding) return rotation(problem);
  if (is(problem.op, ops::Family::elementwise) || is(problem.op, ops::Family::activation) ||
      problem.op == op_swish || problem.op == op_reorder)
    return elementwise(problem, bytes_moved(problem) / bytes_per_ns * 2);
  return std::nullopt;
}

}  // namespace polychron::kernels
