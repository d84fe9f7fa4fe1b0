#include "kernels/problem.hpp"

#include <algorithm>

#include "ops/layouts.hpp"

namespace polychron::kernels {

std::string_view to_string(Layout layout) noexcept {
  constexpr std::array<std::string_view, 3> names{"plain", "blocked8", "blocked16"};
  return names[static_cast<std::size_t>(layout)];
}

std::size_t storage_bytes(const OperandDescriptor& descriptor, Layout layout) noexcept {
  if (is_packed(descriptor.data_type)) return *byte_length(descriptor);
  std::size_t bytes = byte_size(descriptor.data_type);
  const std::size_t block = channel_block(layout);
  for (std::size_t i = 0; i < descriptor.shape.size(); ++i) {
    const std::size_t extent = descriptor.shape[i];
    bytes *= i == 1 ? (extent + block - 1) / block * block : extent;
  }
  return bytes;
}

std::vector<std::int64_t> steps_of(const Slot& slot) {
  if (!slot.strides.empty()) return slot.strides;
  const Shape& shape = slot.descriptor.shape;
  std::vector<std::int64_t> steps(shape.size());
  std::int64_t step = 1;
  // Dimension `lies` of the memory is dimension i of the view.
  for (std::size_t lies = shape.size(); lies-- > 0;) {
    const auto at = std::ranges::find(slot.order, lies);
    const std::size_t i =
        slot.order.empty() ? lies : static_cast<std::size_t>(at - slot.order.begin());
    steps[i] = step;
    step *= shape[i];
  }
  return steps;
}

namespace {

/// Exchanges height and width, if width is 1 everywhere.
template <class A>
void exchange(Problem& problem, A& a) {
  const auto order = ops::filter_axes(a.filter_layout);
  Shape& filter = problem.inputs[1].descriptor.shape;
  const bool column = problem.inputs[0].descriptor.shape[3] == 1 &&
                      problem.outputs[0].descriptor.shape[3] == 1 && filter[order[3]] == 1;
  if (a.input_layout != InputOperandLayout::nchw || !column) return;
  const auto turn = [](Shape& shape) {
    if (shape.size() > 1) std::swap(shape.end()[-1], shape.end()[-2]);
  };
  turn(problem.inputs[0].descriptor.shape);
  turn(problem.outputs[0].descriptor.shape);
  for (std::size_t i = problem.own_inputs; i < problem.inputs.size(); ++i)
    turn(problem.inputs[i].descriptor.shape);
  std::swap(filter[order[2]], filter[order[3]]);
  std::swap(a.strides[0], a.strides[1]);
  std::swap(a.dilations[0], a.dilations[1]);
  std::swap_ranges(a.padding.begin(), a.padding.begin() + 2, a.padding.begin() + 2);
}

}  // namespace

Problem as_row(const Problem& problem) {
  Problem row = problem;
  if (auto* const conv = std::get_if<Conv2dAttributes>(&row.attributes)) exchange(row, *conv);
  if (auto* const transposed = std::get_if<ConvTranspose2dAttributes>(&row.attributes))
    exchange(row, *transposed);
  return row;
}

std::string_view operator_name(ops::OpId op) noexcept {
  const auto index = static_cast<std::size_t>(op);
  return is_internal(op) ? internal_operators[index - ops::table.size()] : ops::row(op).name;
}

std::string to_string(const Problem& problem) {
  const auto describe = [](const Slot& slot) {
    std::string text = slot.present ? to_string(slot.descriptor) : "-";
    if (slot.layout != Layout::plain) text.append(" ").append(to_string(slot.layout));
    if (!slot.order.empty()) text += " transposed";
    return text;
  };
  std::string text = problem.label.empty() ? "" : "[" + problem.label + "] ";
  text += operator_name(problem.op);
  for (const PostOp& post_op : problem.post_ops) text.append("+").append(operator_name(post_op.op));
  for (std::size_t i = 0; i < problem.inputs.size(); ++i)
    text += (i == 0 ? " " : ", ") + describe(problem.inputs[i]);
  text += " ->";
  for (const Slot& slot : problem.outputs) text.append(" ").append(describe(slot));
  return text;
}

}  // namespace polychron::kernels
