// Quantized tensors: QuantizeLinear and related operators, and products of integers.
//
// Products of 8-bit integers are calculated in float32, exactly, in parts (exact_sums.hpp) that are
// added up in int32. The compiler of graphs knows this pattern, and multiplies integers.
#include <algorithm>
#include <array>

#include "onnx/handlers.hpp"
#include "onnx/operators/exact_sums.hpp"
#include "onnx/operators/quantized.hpp"
#include "onnx/operators/window.hpp"

namespace polychron::onnx::detail {

namespace {

/// Zero point of `rank` dimensions: a scalar, a vector along `axis`, or as it is.
Term along(const Term& x, std::size_t rank, std::uint32_t axis) {
  if (x.rank() > 1 || rank == 0) return x;
  if (count(x.shape()) == 1) return x.reshape({});
  Shape shape(rank, 1);
  shape[axis] = x.shape()[0];
  return x.reshape(shape);
}

// -- steps ----------------------------------------------------------------------------------------

/// Scale or zero point with the input's rank, as WebNN requires.
Term of_rank(const Term& x, std::size_t rank, std::uint32_t axis) {
  if (x.rank() > 1) return x;
  Shape shape(rank, 1);
  if (rank > 0) shape[axis] = static_cast<std::uint32_t>(count(x.shape()));
  return x.reshape(shape);
}

/// The zero point for `scale`, which has the input's rank: 0 if the model has none.
Term zero_point(const Term& scale, const std::optional<Term>& zero, std::uint32_t axis,
                DataType type) {
  if (zero) return of_rank(*zero, scale.rank(), axis).expand(scale.shape());
  const auto none = scale.with(scale.node().builder.constant(type, std::int64_t{0}));
  return none.expand(scale.shape());
}

/// The range of a quantized type, for types that QuantizeLinear can make from WebNN's numbers.
struct Range {
  double least, most;
};
std::optional<Range> range_of(ElementType type) {
  switch (type) {
    case ElementType::int4:
      return Range{-8, 7};
    case ElementType::uint4:
      return Range{0, 15};
    case ElementType::int8:
      return Range{-128, 127};
    case ElementType::uint8:
      return Range{0, 255};
    case ElementType::int16:
      return Range{-32768, 32767};
    case ElementType::uint16:
      return Range{0, 65535};
    default:
      return std::nullopt;
  }
}

/// The type of the division: the scale's, or since opset 23 one that the node names. If types
/// differ, it is float32.
DataType precision_of(const Node& node, const Term& x, const Term& scale) {
  if (const auto named = node.integer("precision", 0)) {
    const auto type = static_cast<ElementType>(named);
    if (type != ElementType::float32 && type != ElementType::float16)
      unsupported("attribute 'precision' of " + std::string(to_string(type)));
    return *operand_type(type);
  }
  return x.data_type() == scale.data_type() ? x.data_type() : DataType::float32;
}

}  // namespace

// Uses WebNN's own operator, which divides exactly. A plain division by a constant may become a
// product with the reciprocal, which changes values in the middle between two steps.
Term quantized(Term x, Term scale, const std::optional<Term>& zero, std::uint32_t axis,
               ElementType type) {
  const auto range = range_of(type);
  if (!range) unsupported("quantization to " + std::string(to_string(type)));
  const auto precision = precision_of(x.node(), x, scale);
  x = x.cast(precision);
  scale = scale.cast(precision);
  scale = of_rank(scale, x.rank(), axis);
  const auto offset = zero_point(scale, zero, axis, *operand_type(type));
  const auto steps = x.with(x.node().builder.quantize_linear(x.operand(), scale.operand(),
                                                             offset.operand(), x.node().label()));
  const bool whole = type == ElementType::int8 || type == ElementType::uint8;
  return whole ? steps : steps.clamped(range->least, range->most);
}

Term dequantized(const Term& x, const Term& scale, const std::optional<Term>& zero) {
  const auto steps = of_rank(scale, x.rank(), 0);
  const auto from = zero_point(steps, zero, 0, x.data_type());
  return x.with(x.node().builder.dequantize_linear(x.operand(), steps.operand(), from.operand(),
                                                   x.node().label()));
}

DynamicSteps dynamic_steps(const Term& x) {
  std::vector<std::uint32_t> axes;
  for (std::uint32_t d = 0; d < x.rank(); ++d) axes.push_back(d);
  const auto high = x.reduce(&GraphBuilder::reduce_max, axes, false).max(0);
  const auto low = x.reduce(&GraphBuilder::reduce_min, axes, false).min(0);
  const auto range = high - low;
  const auto none = range == 0;
  // Not a constant: by a constant the quotient could be off by a rounding error, which moves values
  // in the middle between two steps.
  const auto steps = none.choose(range.number(255), range.number(255));
  const auto scale = none.choose(range.number(1), range / steps);
  const auto zero = (-low / scale).round_even().clamped(0, 255).cast(DataType::uint8);
  return {quantized(x, scale, zero, 0, ElementType::uint8), scale, zero};
}

namespace {

/// The axis of a node's scale, and the number of elements missing in its last block.
struct Steps {
  std::uint32_t axis = 0;
  std::uint32_t missing = 0;
};

/// Checks the scale's shape: WebNN would accept any block shape that divides the input's.
Steps read_steps(const Node& node) {
  const auto& shape = node.shape(0);
  const auto& scale = node.shape(1);
  Steps steps;
  if (count(scale) == 1 && scale.size() < 2) return steps;
  if (shape.empty()) malformed("a scale of shape " + to_string(scale) + " for a scalar");
  if (shape.size() > 1) steps.axis = node.axis(node.integer("axis", 1), shape.size());
  const auto length = shape[steps.axis];
  if (length == 0) unsupported("an empty input, which WebNN does not have");
  const auto block = node.integer("block_size", 0);
  if (block < 0) malformed("attribute 'block_size' is " + std::to_string(block));
  // A block that is longer than the axis covers all of it.
  const std::uint64_t size =
      block == 0 ? 1 : std::min<std::uint64_t>(static_cast<std::uint64_t>(block), length);
  const auto blocks = (length + (size - 1)) / size;
  const bool fits = block == 0 ? scale.size() == 1 && scale[0] == length
                               : scale.size() == shape.size() && scale[steps.axis] == blocks;
  if (!fits)
    malformed("a scale of shape " + to_string(scale) + " for " + to_string(shape) + " along axis " +
              std::to_string(steps.axis) +
              (block == 0 ? "" : ", in blocks of " + std::to_string(block)));
  steps.missing = static_cast<std::uint32_t>(blocks * size - length);
  return steps;
}

void quantize(Node& node) {
  const auto steps = read_steps(node);
  const auto x = term(node, 0);
  auto type = ElementType::uint8;
  if (const auto named = node.integer("output_dtype", 0)) type = static_cast<ElementType>(named);
  if (node.has_input(2)) type = node.type(2);
  const auto length = x.rank() == 0 ? 0 : x.shape()[steps.axis];
  auto result = quantized(x.pad(steps.axis, 0, steps.missing), term(node, 1),
                          optional_term(node, 2), steps.axis, type);
  if (steps.missing > 0) result = result.slice(steps.axis, 0, length);
  node.set(result.operand(), 0, type);
}

void dequantize(Node& node) {
  const auto steps = read_steps(node);
  const auto x = term(node, 0);
  const auto length = x.rank() == 0 ? 0 : x.shape()[steps.axis];
  auto input = x.pad(steps.axis, 0, steps.missing);
  const auto scale = of_rank(term(node, 1), x.rank(), steps.axis);
  auto zero = zero_point(scale, optional_term(node, 2), steps.axis, x.data_type());
  const auto packed = steps.missing == 0 ? packed_type(node, count(scale.shape())) : std::nullopt;
  if (packed) {
    input = packed_constant(node, *packed, x.shape(), 0);
    zero = packed_constant(node, *packed, scale.shape(), 2);
  }
  auto result = x.with(node.builder.dequantize_linear(input.operand(), scale.operand(),
                                                      zero.operand(), node.label()));
  if (steps.missing > 0) result = result.slice(steps.axis, 0, length);
  // Since opset 23 the result may have another type than the scale.
  auto type = node.type(1);
  if (const auto named = node.integer("output_dtype", 0)) {
    const auto wanted = static_cast<ElementType>(named);
    if (wanted != type && wanted != ElementType::float32 && wanted != ElementType::float16)
      unsupported("attribute 'output_dtype' of " + std::string(to_string(wanted)));
    type = wanted;
    result = result.cast(*operand_type(type));
  }
  node.set(result.operand(), 0, type);
}

void dynamic_quantize(Node& node) {
  const auto made = dynamic_steps(term(node, 0));
  node.set(made.values.operand(), 0, ElementType::uint8);
  if (node.wants_output(1)) node.set(made.scale.operand(), 1);
  if (node.wants_output(2)) node.set(made.zero.operand(), 2, ElementType::uint8);
}

}  // namespace

// -- products -------------------------------------------------------------------------------------

Term difference(const Term& x, const std::optional<Term>& zero) {
  const auto wide = x.cast(DataType::int32);
  return (zero ? wide - zero->cast(DataType::int32) : wide).cast(DataType::float32);
}

Term for_matrix(const Term& steps, bool rows) {
  if (steps.rank() != 1) return steps;
  if (count(steps.shape()) == 1) return steps.reshape({});
  return rows ? steps.unsqueeze(1) : steps;
}

namespace {

std::optional<Term> matrix_zero(Node& node, std::size_t i, bool rows) {
  const auto zero = optional_term(node, i);
  return zero ? std::optional(for_matrix(*zero, rows)) : std::nullopt;
}

/// The int32 product of integers held in float32.
Term integer_product(const Term& a, const Term& b, const std::vector<std::uint32_t>& parts) {
  std::optional<Term> sum;
  std::uint32_t begin = 0;
  for (const std::uint32_t end : parts) {
    const auto part = a.slice(static_cast<std::uint32_t>(a.rank() - 1), begin, end)
                          .matmul(b.slice(static_cast<std::uint32_t>(b.rank() - 2), begin, end))
                          .cast(DataType::int32);
    sum = sum ? *sum + part : part;
    begin = end;
    a.node().importer.spend(1);
  }
  return *sum;
}

}  // namespace

Term matrix_product(Term left, Term right, const std::vector<std::uint32_t>& parts) {
  if (left.rank() == 0 || right.rank() == 0) malformed("a scalar is not a matrix");
  // A vector counts as a matrix of one row or column, which the result drops.
  const bool row = left.rank() == 1, column = right.rank() == 1;
  if (row) left = left.unsqueeze(0);
  if (column) right = right.unsqueeze(1);
  const auto product =
      integer_product(left, right, parts.empty() ? equal_parts(left.shape().back()) : parts);
  Shape shape = product.shape();
  if (column) shape.pop_back();
  if (row) shape.erase(shape.end() - (column ? 1 : 2));
  return product.reshape(shape);
}

namespace {

Term matrix_product(Node& node, std::size_t a, std::size_t a_zero, std::size_t b,
                    std::size_t b_zero) {
  std::vector<std::uint32_t> parts;
  if (node.rank(b) == 2) {
    const auto sizes = known_sizes(node, b, b_zero, false);
    const std::size_t columns = node.shape(b).back();
    if (!sizes.empty())
      parts = exact_parts(node.shape(b)[0], columns,
                          [&](std::size_t i, std::size_t k) { return sizes[i * columns + k]; });
  }
  return matrix_product(difference(term(node, a), matrix_zero(node, a_zero, node.rank(a) > 1)),
                        difference(term(node, b), matrix_zero(node, b_zero, false)), parts);
}

void matmul_integer(Node& node) {
  node.set(matrix_product(node, 0, 2, 1, 3).operand(), 0, ElementType::int32);
}

/// The product times the scales, quantized for the output. Values above 2^24 are rounded to
/// float32, as in other runtimes.
void finish(Node& node, const Term& product, const Term& scale, std::size_t out_scale) {
  const auto real = product.cast(DataType::float32) * scale;
  const auto type = node.type(out_scale + 1);
  node.set(quantized(real, term(node, out_scale), term(node, out_scale + 1), 0, type).operand(), 0,
           type);
}

void qlinear_matmul(Node& node) {
  const auto product = matrix_product(node, 0, 2, 3, 5);
  const auto scale = for_matrix(term(node, 1), true).cast(DataType::float32) *
                     for_matrix(term(node, 4), false).cast(DataType::float32);
  finish(node, product, scale, 6);
}

/// Channels [begin, end) of each group.
Term channels_of(const Term& x, std::uint32_t groups, std::uint32_t begin, std::uint32_t end) {
  if (groups == 1) return x.slice(1, begin, end);
  const auto& s = x.shape();
  return x.reshape({s[0], groups, s[1] / groups, s[2], s[3]})
      .slice(2, begin, end)
      .reshape({s[0], groups * (end - begin), s[2], s[3]});
}

/// Splits `filter` into a sum of filters with few nonzero elements in each window, and calls
/// f(part) for each.
template <class F>
void each_window_part(const Term& filter, F&& f) {
  const auto height = filter.shape()[2], width = filter.shape()[3];
  const auto columns = std::min(width, exact_terms);
  const auto rows = std::min(height, exact_terms / columns);
  for (std::uint32_t r = 0; r < height; r += rows)
    for (std::uint32_t c = 0; c < width; c += columns) {
      const auto bottom = std::min(height, r + rows), right = std::min(width, c + columns);
      f(filter.slice(2, r, bottom)
            .slice(3, c, right)
            .pad(2, r, height - bottom)
            .pad(3, c, width - right));
    }
}

/// The int32 convolution of integers held in float32, by a few input channels at a time.
Term integer_convolution(Node& node, std::size_t x, std::size_t x_zero, std::size_t w,
                         std::size_t w_zero) {
  auto zero = optional_term(node, w_zero);
  if (zero) zero = along(*zero, node.rank(w), 0);
  auto x_point = optional_term(node, x_zero);
  if (x_point) x_point = x_point->reshape({});
  const auto input = lifted(node, difference(term(node, x), x_point));
  const auto filter = lifted(node, difference(term(node, w), zero));
  const auto window = read_window(node, node.shape(w).from(2));
  const Conv2dAttributes attributes{
      .padding = window.padding(),
      .strides = to_list(window.strides),
      .dilations = to_list(window.dilations),
      .groups = unsigned_list({node.integer("group", 1)}, "attribute 'group'").front()};
  const auto channels = filter.shape()[1];
  if (attributes.groups == 0 || std::uint64_t{channels} * attributes.groups != input.shape()[1])
    malformed("an input of shape " + to_string(node.shape(x)) + " for a filter of shape " +
              to_string(node.shape(w)) + " and " + std::to_string(attributes.groups) + " groups");
  const auto area = std::uint64_t{filter.shape()[2]} * filter.shape()[3];
  // Also split windows of more than 256 elements, unless their weights are known to be small.
  const auto step = area > exact_terms ? 1 : static_cast<std::uint32_t>(exact_terms / area);
  auto parts = equal_parts(channels, step);
  bool whole_windows = area <= exact_terms;
  if (const auto sizes = known_sizes(node, w, w_zero, true); !sizes.empty()) {
    std::vector<std::int64_t> sums(sizes.size() / area, 0);  // of one channel of a filter's window
    for (std::size_t i = 0; i < sizes.size(); ++i) sums[i / area] += sizes[i];
    if (std::ranges::max(sums) * largest_difference <= exact_sum) {
      whole_windows = true;
      parts = exact_parts(channels, sums.size() / channels,
                          [&](std::size_t i, std::size_t k) { return sums[k * channels + i]; });
    }
  }
  std::optional<Term> sum;
  std::uint32_t begin = 0;
  for (const std::uint32_t end : parts) {
    const auto part_x = channels_of(input, attributes.groups, begin, end);
    const auto add = [&](const Term& part_w) {
      node.importer.spend(1);
      const auto part = input
                            .with(node.builder.conv2d(part_x.operand(), part_w.operand(),
                                                      attributes, {}, node.label()))
                            .cast(DataType::int32);
      sum = sum ? *sum + part : part;
    };
    const auto part_filter = filter.slice(1, begin, end);
    if (whole_windows)
      add(part_filter);
    else
      each_window_part(part_filter, add);
    begin = end;
  }
  return *sum;
}

void conv_integer(Node& node) {
  node.set(lowered(node, integer_convolution(node, 0, 2, 1, 3)).operand(), 0, ElementType::int32);
}

void qlinear_conv(Node& node) {
  auto product = integer_convolution(node, 0, 2, 3, 5);
  if (node.has_input(8)) product = product + along(term(node, 8), 4, 1);
  product = lowered(node, product);
  const auto scale = term(node, 1).reshape({}) * along(term(node, 4), node.rank(0), 1);
  finish(node, product, scale, 6);
}

}  // namespace

std::span<const Row> quantization_rows() noexcept {
  static constexpr std::array rows{
      Row{"ConvInteger", conv_integer},
      Row{"DequantizeLinear", dequantize},
      Row{"DynamicQuantizeLinear", dynamic_quantize},
      Row{"MatMulInteger", matmul_integer},
      Row{"QLinearConv", qlinear_conv},
      Row{"QLinearMatMul", qlinear_matmul},
      Row{"QuantizeLinear", quantize},
      Row{"com.microsoft:DequantizeLinear", dequantize},
      Row{"com.microsoft:QuantizeLinear", quantize},
  };
  return rows;
}

}  // namespace polychron::onnx::detail
