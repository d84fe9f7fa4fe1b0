#include "kernels/problem.hpp"

#include <algorithm>

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
