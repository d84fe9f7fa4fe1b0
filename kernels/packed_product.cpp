#include "kernels/packed_product.hpp"

namespace polychron::kernels {

std::optional<PackedOperands> packed_operands(const Problem& problem) {
  if (problem.op != op_packed_product || problem.own_inputs != 5 || !problem.post_ops.empty())
    return std::nullopt;
  const Slot &x = problem.inputs[0], &matrix = problem.inputs[1], &scales = problem.inputs[2];
  const DataType type = matrix.descriptor.data_type;
  const bool is_signed = type == DataType::int4 || type == DataType::int8;
  if (!is_signed && type != DataType::uint4 && type != DataType::uint8) return std::nullopt;
  const Shape &rows = x.descriptor.shape, &size = matrix.descriptor.shape,
              &blocks = scales.descriptor.shape;
  if (!x.lies_plain() || !problem.outputs[0].lies_plain() || !matrix.constant || rows.empty() ||
      size.size() != 2 || size[0] != rows.back() || blocks.size() != 2 || blocks[1] != size[1] ||
      size[0] % blocks[0] != 0 || x.descriptor.data_type != DataType::float32)
    return std::nullopt;
  for (std::size_t i = 2; i < 5; ++i) {
    const Slot& numbers = problem.inputs[i];
    if (i > 2 && !numbers.present) continue;
    if (!numbers.constant || !numbers.lies_plain() || numbers.descriptor != scales.descriptor ||
        numbers.descriptor.data_type != DataType::float32)
      return std::nullopt;
  }
  const PackedOperands o{.rows = *element_count(rows) / rows.back(),
                         .elements = size[0],
                         .columns = size[1],
                         .blocks = blocks[0],
                         .block = size[0] / blocks[0],
                         .four_bits = is_packed(type),
                         .is_signed = is_signed,
                         .zeros = problem.inputs[3].present,
                         .minima = problem.inputs[4].present};
  return o.block < least_packed_block ? std::nullopt : std::optional(o);
}

}  // namespace polychron::kernels
