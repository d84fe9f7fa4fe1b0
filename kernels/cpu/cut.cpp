#include "kernels/cpu/cut.hpp"

#include <algorithm>
#include <optional>

#include "base/invariant.hpp"
#include "kernels/cpu/cut_rules.hpp"

namespace polychron::kernels {
namespace {

/// A range of the cut dimension, which has `extent` elements in the result.
struct UnitRange {
  std::size_t begin, end, extent;
  /// Where the range begins and ends in an operand whose dimension has `dim` elements.
  std::size_t first(std::size_t dim) const { return begin * dim / extent; }
  std::size_t last(std::size_t dim) const { return end * dim / extent; }
};

bool is_outermost(const Shape& shape, std::size_t axis) {
  return std::all_of(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(axis),
                     [](std::uint32_t dim) { return dim == 1; });
}

/// The bytes of a constant from `offset` on, in place.
ops::ConstantBytes rest_of(const ops::ConstantBytes& whole, std::size_t offset) {
  auto* const begin = const_cast<std::byte*>(whole->data()) + offset;
  return std::make_shared<const Buffer>(
      Buffer::adopt(begin, whole->size() - offset, [whole](std::byte*, std::size_t) {}));
}

/// A copy of elements [first, last) along `axis`.
ops::ConstantBytes picked(const Slot& slot, std::size_t axis, std::size_t first, std::size_t last) {
  const Shape& shape = slot.descriptor.shape;
  std::size_t rows = 1, row = byte_size(slot.descriptor.data_type);
  for (std::size_t i = 0; i < axis; ++i) rows *= shape[i];
  for (std::size_t i = axis + 1; i < shape.size(); ++i) row *= shape[i];
  Buffer copy(rows * (last - first) * row);
  for (std::size_t i = 0; i < rows; ++i)
    std::copy_n(slot.constant->data() + (i * shape[axis] + first) * row, (last - first) * row,
                copy.data() + i * (last - first) * row);
  return std::make_shared<const Buffer>(std::move(copy));
}

/// Makes `slot` a slice of itself along `axis`. Returns the byte offset of the slice. nullopt if
/// its kernels cannot read it in place.
std::optional<std::size_t> slice(Slot& slot, std::size_t axis, const UnitRange& stretch,
                                 bool may_stride) {
  Shape& shape = slot.descriptor.shape;
  ensure(axis < shape.size(), "a slot is cut along a dimension that it has");
  const std::size_t dim = shape[axis];
  const std::size_t first = stretch.first(dim), last = stretch.last(dim);
  ensure(first <= last && last <= dim, "a slice lies within its dimension");
  const auto size = static_cast<std::uint32_t>(last - first);
  if (is_outermost(shape, axis) && slot.order.empty()) {
    // Blocks of channels are contiguous; the last one is padded.
    const std::size_t block = axis == 1 ? channel_block(slot.layout) : 1;
    OperandDescriptor before = slot.descriptor;
    before.shape[axis] = static_cast<std::uint32_t>(first);
    if (first % block != 0 || (size % block != 0 && last != dim)) return std::nullopt;
    const std::size_t offset = first == 0 ? 0 : storage_bytes(before, slot.layout);
    if (slot.constant) slot.constant = rest_of(slot.constant, offset);
    shape[axis] = size;
    return offset;
  }
  if (slot.layout != Layout::plain) return std::nullopt;
  if (may_stride) {
    slot.strides = steps_of(slot);
    const std::size_t offset =
        first * static_cast<std::size_t>(slot.strides[axis]) * byte_size(slot.descriptor.data_type);
    if (slot.constant) slot.constant = rest_of(slot.constant, offset);
    shape[axis] = size;
    return offset;
  }
  if (!slot.constant || !slot.order.empty()) return std::nullopt;
  slot.constant = picked(slot, axis, first, last);
  shape[axis] = size;
  return Part::scattered;
}

std::optional<Part> part_of(const Problem& problem, const Cut& cut, const UnitRange& stretch) {
  Part part{problem, {}, 0, 0};
  for (std::size_t i = 0; i < problem.inputs.size(); ++i) {
    std::optional<std::size_t> offset = 0;
    if (cut.inputs[i]) offset = slice(part.problem.inputs[i], *cut.inputs[i], stretch, cut.strides);
    if (!offset) return std::nullopt;
    part.inputs.push_back(*offset);
  }
  const auto offset = slice(part.problem.outputs[0], cut.output, stretch, cut.strides);
  if (!offset) return std::nullopt;
  part.output = *offset;
  if (auto* const a = std::get_if<Conv2dAttributes>(&part.problem.attributes); a && cut.groups)
    a->groups = static_cast<std::uint32_t>(stretch.last(a->groups) - stretch.first(a->groups));
  return part;
}

/// True if the parts have different constants, so that each needs a kernel of its own.
bool slices_constants(const Problem& problem, const Cut& cut) {
  for (std::size_t i = 0; i < problem.inputs.size(); ++i)
    if (cut.inputs[i] && problem.inputs[i].constant) return true;
  return false;
}

}  // namespace

std::vector<Part> cut(const Problem& problem, double least) {
  const auto how = rule(problem);
  if (!how) return {};
  ensure(how->inputs.size() == problem.inputs.size(), "a cut says of each operand how");
  const std::size_t units = (how->extent + how->unit - 1) / how->unit;
  const std::size_t count = parts_of(how->work, units, least);
  if (count < 2) return {};
  const bool own = slices_constants(problem, *how);
  std::vector<Part> parts;
  for (std::size_t i = 0; i < count; ++i) {
    const UnitRange stretch{i * units / count * how->unit,
                            std::min((i + 1) * units / count * how->unit, how->extent),
                            how->extent};
    auto part = part_of(problem, *how, stretch);
    if (!part) return {};
    part->twin = i;
    for (std::size_t k = 0; k < i && !own && part->twin == i; ++k)
      if (parts[k].problem.outputs[0].descriptor == part->problem.outputs[0].descriptor)
        part->twin = k;
    ensure(stretch.begin < stretch.end, "no part is empty");
    parts.push_back(std::move(*part));
  }
  return parts;
}

}  // namespace polychron::kernels
