// Operators that move elements: Concat, Split, Transpose, Tile, Pad and others.
#include <algorithm>
#include <array>
#include <numeric>

#include "onnx/handlers.hpp"
#include "onnx/operators/reshape.hpp"
#include "onnx/operators/term.hpp"

namespace polychron::onnx::detail {

namespace {

/// The shape of the result. Throws if the parts do not match.
Shape concatenated_shape(const Node& node, std::uint32_t axis) {
  const auto shape = node.shape(0);
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < node.input_count(); ++i) {
    const auto part = node.shape(i);
    if (part.size() != shape.size() || part.with(axis, shape[axis]) != shape)
      malformed("cannot concatenate " + to_string(shape) + " and " + to_string(part));
    length += part[axis];
  }
  return shape.with(axis, to_shape({static_cast<std::int64_t>(length)}).front());
}

void concatenate(Node& node) {
  if (node.input_count() == 0) malformed("there are no inputs");
  if (node.input_count() == 1) return node.forward(0);
  const auto axis = node.axis(node.integer("axis", 1), node.rank(0));
  const auto shape = concatenated_shape(node, axis);
  std::vector<const Literal*> literals;
  for (std::size_t i = 0; i < node.input_count(); ++i)
    if (const auto* known = node.calculable_literal(i)) literals.push_back(known);
  const bool all_known = literals.size() == node.input_count();
  if (all_known && element_count(shape).value_or(max_calculated + 1) <= max_calculated) {
    for (const auto* literal : literals)
      if (literal->type != literals.front()->type) malformed("the inputs' types differ");
    return node.set(concatenated(literals, axis, shape));
  }
  // Skip empty parts, such as a cache that is still empty.
  std::vector<Operand> parts;
  for (std::size_t i = 0; i < node.input_count(); ++i)
    if (node.shape(i)[axis] != 0) parts.push_back(node.operand(i));
  node.set(node.builder.concat(parts, axis, node.label()));
}

/// The sizes of the parts: an attribute until opset 12, then an input. By default they are equal;
/// since opset 18 the last may be smaller.
std::vector<std::uint32_t> split_sizes(const Node& node, std::uint32_t length) {
  if (const auto given = node.list("split", 1, 13)) {
    const auto sizes = unsigned_list(*given, "a part");
    if (std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0}) != length)
      malformed("the parts do not add up to " + std::to_string(length));
    if (sizes.size() != node.output_count()) malformed("there are not as many outputs as parts");
    return sizes;
  }
  const auto parts = node.output_count();
  const auto size = (length + parts - 1) / parts;
  if ((node.opset < 18 && length % parts != 0) || size * (parts - 1) > length)
    malformed(std::to_string(length) + " cannot be split into " + std::to_string(parts) +
              " equal parts");
  std::vector<std::uint32_t> sizes(parts, static_cast<std::uint32_t>(size));
  sizes.back() = static_cast<std::uint32_t>(length - size * (parts - 1));
  return sizes;
}

void split(Node& node) {
  if (node.output_count() == 0) malformed("there are no outputs");
  const auto axis = node.axis(node.integer("axis", 0), node.rank(0));
  const auto sizes = split_sizes(node, node.shape(0)[axis]);
  if (sizes.size() == 1) return node.forward(0);
  if (const auto* known = node.calculable_literal(0)) {
    const auto input = *known;  // setting outputs may move the node's tensors
    const auto strides = strides_of(input.shape);
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      auto shape = input.shape;
      shape[axis] = sizes[i];
      node.set(strided(input, shape, offset, strides), i);
      offset += strides[axis] * sizes[i];
    }
    return;
  }
  // WebNN has no empty parts; the importer knows what is in them.
  std::vector<std::uint32_t> filled;
  std::ranges::copy_if(sizes, std::back_inserter(filled), [](auto size) { return size != 0; });
  if (filled.size() == 1) {
    for (std::size_t i = 0; i < sizes.size(); ++i)
      if (sizes[i] != 0) node.forward(0, i);
  } else {
    const auto parts = node.builder.split(node.operand(0), filled, axis, node.label());
    for (std::size_t i = 0, next = 0; i < sizes.size(); ++i)
      if (sizes[i] != 0) node.set(parts[next++], i);
  }
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] == 0)
      node.set(make_literal(node.type(0), node.shape(0).with(axis, 0), Buffer()), i);
}

void transpose(Node& node) {
  const auto& from = node.shape(0);
  std::vector<std::uint32_t> order(from.size());
  std::iota(order.rbegin(), order.rend(), 0U);
  if (const auto given = node.integer_list("perm")) order = node.axes(*given, from.size());
  if (order.size() != from.size()) malformed("attribute 'perm' does not name each axis once");
  if (std::is_sorted(order.begin(), order.end())) return node.forward(0);
  if (const auto* known = node.calculable_literal(0)) {
    const auto strides = strides_of(from);
    Shape shape;
    std::vector<std::int64_t> moved;
    for (const auto axis : order) {
      shape.push_back(from[axis]);
      moved.push_back(strides[axis]);
    }
    return node.set(strided(*known, shape, 0, moved));
  }
  node.set(node.builder.transpose(node.operand(0), {.permutation = order}, node.label()));
}

/// Repeats one axis: [before, 1, from it on] is expanded to [before, times, from it on].
Operand repeat(Node& node, const Operand& input, std::size_t axis, std::uint32_t times) {
  auto shape = input.shape();
  const auto middle = shape.begin() + static_cast<std::ptrdiff_t>(axis);
  const auto before = static_cast<std::uint32_t>(count({shape.begin(), middle}));
  const auto rest = static_cast<std::uint32_t>(count({middle, shape.end()}));
  const auto rows = node.builder.reshape(input, {before, 1, rest}, node.label());
  const auto many = node.builder.expand(rows, {before, times, rest}, node.label());
  shape[axis] = to_shape({std::int64_t{shape[axis]} * times}).front();
  return node.builder.reshape(many, shape, node.label());
}

void tile(Node& node) {
  const auto& from = node.shape(0);
  auto repeats = node.integers(1);
  if (node.opset < 6) {
    // One repetition, and its axis.
    const auto axis = node.integers(2);
    if (repeats.size() != 1 || axis.size() != 1) malformed("a repetition and an axis are expected");
    const auto all = repeats.front();
    repeats.assign(from.size(), 1);
    repeats[node.axis(axis.front(), from.size())] = all;
  }
  const auto times = unsigned_list(repeats, "a repetition");
  if (times.size() != from.size()) malformed("expected one repetition for each axis");
  std::vector<std::int64_t> wanted;
  for (std::size_t d = 0; d < from.size(); ++d)
    wanted.push_back(to_shape({static_cast<std::int64_t>(from[d]) * times[d]}).front());
  const auto to = to_shape(wanted);
  if (from == to) return node.forward(0);
  const auto* known = node.calculable_literal(0);
  if (known && element_count(to).value_or(max_calculated + 1) <= max_calculated) {
    Shape shape;
    std::vector<std::int64_t> strides;
    const auto plain = strides_of(from);
    for (std::size_t d = 0; d < from.size(); ++d) {
      shape.insert(shape.end(), {times[d], from[d]});
      strides.insert(strides.end(), {0, plain[d]});
    }
    return node.set(reshaped(strided(*known, shape, 0, strides), to));
  }
  auto result = node.operand(0);
  for (std::size_t d = 0; d < times.size(); ++d)
    if (times[d] != 1) result = repeat(node, result, d, times[d]);
  node.set(result);
}

PaddingMode padding_mode(const std::string& mode) {
  if (mode == "constant") return PaddingMode::constant;
  if (mode == "edge") return PaddingMode::edge;
  if (mode == "reflect") return PaddingMode::reflection;
  malformed("attribute 'mode' is " + quote(mode));
}

/// The padding of each axis. Negative padding crops, and is already done.
struct Padding {
  std::vector<std::uint32_t> beginning, ending;
};

/// Crops by the negative entries of `pads`, at beginnings and endings of `axes`.
Term cropped(Term x, const std::vector<std::int64_t>& pads,
             const std::vector<std::uint32_t>& axes) {
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t length = x.shape()[axes[i]];
    // Clamp first: the smallest int64 has no negation.
    const auto taken = [&](std::int64_t pad) { return -std::clamp<std::int64_t>(pad, -length, 0); };
    const auto begin = taken(pads[i]);
    const auto end = length - taken(pads[axes.size() + i]);
    if (begin >= end) unsupported("an empty result, which WebNN does not have");
    x = x.slice(axes[i], static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end));
  }
  return x;
}

/// Wraps the tensor around: gathers its elements.
Term wrapped_around(Term x, const Padding& padding) {
  for (std::uint32_t d = 0; d < x.rank(); ++d) {
    if (padding.beginning[d] == 0 && padding.ending[d] == 0) continue;
    const std::int64_t length = x.shape()[d];
    const auto whole = length + padding.beginning[d] + padding.ending[d];
    if (whole > static_cast<std::int64_t>(max_calculated) * 16) unsupported("so much padding");
    std::vector<std::int64_t> places(static_cast<std::size_t>(whole));
    for (std::int64_t i = 0; i < whole; ++i)
      places[static_cast<std::size_t>(i)] = ((i - padding.beginning[d]) % length + length) % length;
    x = x.gather(
        constant(x.node(), ElementType::int32, {static_cast<std::uint32_t>(whole)}, places), d);
  }
  return x;
}

/// An unknown value fills the places where a padded mask is 0.
Term padded_with(const Term& x, const Padding& padding, const Term& value) {
  auto& node = x.node();
  const auto one = x.with(node.builder.constant(DataType::uint8, std::int64_t{1}));
  const auto pad = [&](const Term& t) {
    return t.with(node.builder.pad(
        t.operand(), {.beginning_padding = padding.beginning, .ending_padding = padding.ending},
        node.label()));
  };
  return pad(one.expand(x.shape())).choose(pad(x), value.reshape({}));
}

/// Padding and value became inputs at opset 11, the axes can be chosen since 18.
void pad(Node& node) {
  const auto rank = node.rank(0);
  const auto mode = node.text("mode", "constant");
  auto pads = node.list("pads", 1, 11);
  if (!pads) pads = node.integer_list("paddings");  // in opset 1
  if (!pads) malformed("the padding is missing");
  std::vector<std::uint32_t> axes(rank);
  std::iota(axes.begin(), axes.end(), 0U);
  if (const auto chosen = node.opset < 18 ? std::nullopt : node.optional_integers(3))
    axes = node.axes(*chosen, rank);
  if (pads->size() != 2 * axes.size()) malformed("expected two paddings for each axis");
  const auto x = cropped(term(node, 0), *pads, axes);
  Padding padding{std::vector<std::uint32_t>(rank, 0), std::vector<std::uint32_t>(rank, 0)};
  for (auto& size : *pads) size = std::max<std::int64_t>(size, 0);
  const auto sizes = unsigned_list(*pads, "padding");
  for (std::size_t i = 0; i < axes.size(); ++i) {
    padding.beginning[axes[i]] = sizes[i];
    padding.ending[axes[i]] = sizes[axes.size() + i];
  }
  if (mode == "wrap") {
    const auto result = wrapped_around(x, padding);
    return node.set(node.builder.identity(result.operand(), node.label()));
  }
  if (node.opset >= 11 && node.has_input(2) && !node.literal(2) && mode == "constant")
    return node.set(padded_with(x, padding, term(node, 2)).operand());
  PadAttributes attributes{.beginning_padding = padding.beginning,
                           .ending_padding = padding.ending};
  attributes.mode = padding_mode(mode);
  if (node.opset < 11) attributes.value = node.real("value", 0);
  if (node.opset >= 11 && mode == "constant")
    attributes.value = node.optional_scalar(2).value_or(0);
  node.set(node.builder.pad(x.operand(), attributes, node.label()));
}

/// Moves blocks of channels into blocks of pixels, or back: a transposition of six dimensions.
void rearrange(Node& node, const Shape& split, const std::vector<std::uint32_t>& order,
               const Shape& to) {
  const auto blocks = node.builder.reshape(node.operand(0), split, node.label());
  node.set(node.builder.reshape(
      node.builder.transpose(blocks, {.permutation = order}, node.label()), to, node.label()));
}

std::uint32_t block_size(const Node& node, const Shape& shape) {
  const auto block = unsigned_list({node.integer("blocksize", 0)}, "attribute 'blocksize'").front();
  if (shape.size() != 4 || block == 0 || block > 0xffff)
    malformed("a blocksize of " + std::to_string(block) + " for shape " + to_string(shape));
  return block;
}

/// True if a block's place is the slower part of a channel's number.
bool depth_first(const Node& node) {
  const auto mode = node.text("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") malformed("attribute 'mode' is " + quote(mode));
  return mode == "DCR";
}

void depth_to_space(Node& node) {
  const auto s = node.shape(0);
  const auto b = block_size(node, s);
  const auto c = s[1] / (b * b);
  const Shape to{s[0], c, s[2] * b, s[3] * b};
  if (depth_first(node))
    return rearrange(node, {s[0], b, b, c, s[2], s[3]}, {0, 3, 4, 1, 5, 2}, to);
  rearrange(node, {s[0], c, b, b, s[2], s[3]}, {0, 1, 4, 2, 5, 3}, to);
}

/// The mode is an attribute since opset 28.
void space_to_depth(Node& node) {
  const auto s = node.shape(0);
  const auto b = block_size(node, s);
  const auto height = s[2] / b;
  const auto width = s[3] / b;
  const bool blocks_first = depth_first(node);
  rearrange(node, {s[0], s[1], height, b, width, b},
            blocks_first ? std::vector<std::uint32_t>{0, 3, 5, 1, 2, 4}
                         : std::vector<std::uint32_t>{0, 1, 3, 5, 2, 4},
            {s[0], s[1] * b * b, height, width});
}

/// Crops or pads axes to sizes, by half of the difference at either end.
void center_crop_pad(Node& node) {
  auto x = term(node, 0);
  const auto sizes = unsigned_list(node.integers(1), "a size");
  std::vector<std::uint32_t> axes(x.rank());
  std::iota(axes.begin(), axes.end(), 0U);
  if (const auto given = node.integer_list("axes")) axes = node.axes(*given, x.rank());
  if (sizes.size() != axes.size())
    malformed(std::to_string(sizes.size()) + " sizes for " + std::to_string(axes.size()) + " axes");
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto have = x.shape()[axes[i]], want = sizes[i];
    if (want == 0) unsupported("an empty result, which WebNN does not have");
    const auto begin = (std::max(have, want) - std::min(have, want)) / 2;
    x = want < have ? x.slice(axes[i], begin, begin + want)
                    : x.pad(axes[i], begin, want - have - begin);
  }
  if (x.shape() == node.shape(0)) return node.forward(0);
  node.set(x.operand());
}

}  // namespace

std::span<const Row> movement_rows() noexcept {
  static constexpr std::array rows{
      Row{"CenterCropPad", center_crop_pad},
      Row{"Concat", concatenate},
      Row{"DepthToSpace", depth_to_space},
      Row{"Pad", pad},
      Row{"SpaceToDepth", space_to_depth},
      Row{"Split", split},
      Row{"Tile", tile},
      Row{"Transpose", transpose},
  };
  return rows;
}

}  // namespace polychron::onnx::detail
