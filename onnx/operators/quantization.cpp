// Quantized tensors: QuantizeLinear and its kin, and products in integers.
//
// Products of 8-bit integers are calculated in float32, exactly: at most 256 of them are added up
// there, for 256 times 255 times 255 is below 2^24; longer sums are put together in int32.
#include <algorithm>
#include <array>

#include "onnx/handlers.hpp"
#include "onnx/operators/term.hpp"
#include "onnx/operators/window.hpp"

namespace polychron::onnx::detail {

namespace {

constexpr std::uint32_t exact_terms = 256;

/// Scale or zero point of `rank` dimensions: a scalar, a vector along `axis`, or as it is.
Term along(const Term& x, std::size_t rank, std::uint32_t axis) {
  if (x.rank() > 1 || rank == 0) return x;
  if (count(x.shape()) == 1) return x.reshape({});
  Shape shape(rank, 1);
  shape[axis] = x.shape()[0];
  return x.reshape(shape);
}

Term quantized(const Term& x, const Term& scale, const std::optional<Term>& zero, DataType type) {
  auto steps = (x.cast(DataType::float32) / scale).round_even();
  if (zero) steps = steps + zero->cast(DataType::float32);
  const bool is_signed = type == DataType::int8;
  return steps.clamped(is_signed ? -128 : 0, is_signed ? 127 : 255).cast(type);
}

void refuse_blocks(const Node& node) {
  if (node.integer("block_size", 0) != 0) unsupported("blocks");
}

std::optional<Term> optional_term(Node& node, std::size_t i) {
  if (!node.has_input(i)) return std::nullopt;
  return term(node, i);
}

void quantize(Node& node) {
  refuse_blocks(node);
  const auto x = term(node, 0);
  const auto axis = x.rank() > 1 ? node.axis(node.integer("axis", 1), x.rank()) : 0;
  const auto scale = along(term(node, 1), x.rank(), axis);
  auto zero = optional_term(node, 2);
  auto type = ElementType::uint8;
  if (const auto named = node.integer("output_dtype", 0)) type = static_cast<ElementType>(named);
  if (zero) {
    type = node.type(2);
    zero = along(*zero, x.rank(), axis);
  }
  if (type != ElementType::uint8 && type != ElementType::int8)
    unsupported("quantization to " + std::string(to_string(type)));
  node.set(quantized(x, scale, zero, *operand_type(type)).operand(), 0, type);
}

/// The difference is taken in int32, where it is exact.
Term difference(const Term& x, const std::optional<Term>& zero) {
  const auto wide = x.cast(DataType::int32);
  return (zero ? wide - zero->cast(DataType::int32) : wide).cast(DataType::float32);
}

void dequantize(Node& node) {
  refuse_blocks(node);
  const auto x = term(node, 0);
  const auto axis = x.rank() > 1 ? node.axis(node.integer("axis", 1), x.rank()) : 0;
  const auto scale = along(term(node, 1), x.rank(), axis);
  auto zero = optional_term(node, 2);
  if (zero) zero = along(*zero, x.rank(), axis);
  const auto result = difference(x, zero).cast(scale.data_type()) * scale;
  node.set(result.operand(), 0, node.type(1));
}

/// Scale and zero point are made from the range of the values, which 0 is always part of.
void dynamic_quantize(Node& node) {
  const auto x = term(node, 0);
  std::vector<std::uint32_t> axes;
  for (std::uint32_t d = 0; d < x.rank(); ++d) axes.push_back(d);
  const auto high = x.reduce(&GraphBuilder::reduce_max, axes, false).max(0);
  const auto low = x.reduce(&GraphBuilder::reduce_min, axes, false).min(0);
  const auto scale = (high - low) / 255;
  const auto safe = (scale == 0).choose(scale.number(1), scale);
  const auto zero = (-low / safe).round_even().clamped(0, 255).cast(DataType::uint8);
  node.set(quantized(x, safe, zero, DataType::uint8).operand(), 0, ElementType::uint8);
  if (node.wants_output(1)) node.set(scale.operand(), 1);
  if (node.wants_output(2)) node.set(zero.operand(), 2, ElementType::uint8);
}

// -- products -------------------------------------------------------------------------------------

/// Zero points of the rows of a first, or the columns of a second matrix.
std::optional<Term> matrix_zero(Node& node, std::size_t i, bool rows) {
  auto zero = optional_term(node, i);
  if (!zero || zero->rank() != 1) return zero;
  if (count(zero->shape()) == 1) return zero->reshape({});
  return rows ? zero->unsqueeze(1) : *zero;
}

/// The product of integers that float32 holds, in int32.
Term integer_product(const Term& a, const Term& b) {
  const auto inner = a.shape().back();
  std::optional<Term> sum;
  for (std::uint32_t begin = 0; begin < inner; begin += exact_terms) {
    const auto end = std::min(inner, begin + exact_terms);
    const auto part = a.slice(static_cast<std::uint32_t>(a.rank() - 1), begin, end)
                          .matmul(b.slice(static_cast<std::uint32_t>(b.rank() - 2), begin, end))
                          .cast(DataType::int32);
    sum = sum ? *sum + part : part;
    a.node().importer.spend(1);
  }
  return *sum;
}

Term matrix_product(Node& node, std::size_t a, std::size_t a_zero, std::size_t b,
                    std::size_t b_zero) {
  if (node.rank(a) < 2 || node.rank(b) < 2) unsupported("vectors");
  return integer_product(difference(term(node, a), matrix_zero(node, a_zero, true)),
                         difference(term(node, b), matrix_zero(node, b_zero, false)));
}

void matmul_integer(Node& node) {
  node.set(matrix_product(node, 0, 2, 1, 3).operand(), 0, ElementType::int32);
}

/// The result times the scales, in the steps of the output. What is above 2^24 is rounded as it
/// becomes float32, as in other runtimes.
void finish(Node& node, const Term& product, const Term& scale, std::size_t out_scale) {
  const auto real = product.cast(DataType::float32) * scale;
  const auto type = node.type(out_scale + 1);
  node.set(quantized(real, term(node, out_scale).reshape({}), term(node, out_scale + 1).reshape({}),
                     *operand_type(type))
               .operand(),
           0, type);
}

void qlinear_matmul(Node& node) {
  const auto product = matrix_product(node, 0, 2, 3, 5);
  const auto a = *matrix_zero(node, 1, true);
  const auto b = *matrix_zero(node, 4, false);
  finish(node, product, a * b, 6);
}

/// The convolution of integers that float32 holds, in int32: by groups of input channels.
Term integer_convolution(Node& node, std::size_t x, std::size_t x_zero, std::size_t w,
                         std::size_t w_zero) {
  auto zero = optional_term(node, w_zero);
  if (zero) zero = along(*zero, node.rank(w), 0);
  auto x_point = optional_term(node, x_zero);
  if (x_point) x_point = x_point->reshape({});
  const auto input = lifted(node, difference(term(node, x), x_point));
  const auto filter = lifted(node, difference(term(node, w), zero));
  const auto window = read_window(node, {node.shape(w).begin() + 2, node.shape(w).end()});
  auto options = node.options<Conv2dOptions>();
  options.padding = window.padding();
  options.strides = to_list(window.strides);
  options.dilations = to_list(window.dilations);
  options.groups = unsigned_list({node.integer("group", 1)}, "attribute 'group'").front();
  const auto channels = filter.shape()[1];
  const auto area = std::uint64_t{filter.shape()[2]} * filter.shape()[3];
  if (area > exact_terms) unsupported("a window of " + std::to_string(area));
  const auto step = static_cast<std::uint32_t>(exact_terms / area);
  if (options.groups != 1 && channels > step) unsupported("groups of so many channels");
  std::optional<Term> sum;
  for (std::uint32_t begin = 0; begin < channels; begin += step) {
    const auto end = std::min(channels, begin + step);
    const auto part_x = options.groups == 1 ? input.slice(1, begin, end) : input;
    const auto part = input
                          .with(node.builder.conv2d(part_x.operand(),
                                                    filter.slice(1, begin, end).operand(), options))
                          .cast(DataType::int32);
    sum = sum ? *sum + part : part;
    node.importer.spend(1);
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

constexpr std::array rows{
    Row{"ConvInteger", conv_integer},
    Row{"DequantizeLinear", dequantize},
    Row{"DynamicQuantizeLinear", dynamic_quantize},
    Row{"MatMulInteger", matmul_integer},
    Row{"QLinearConv", qlinear_conv},
    Row{"QLinearMatMul", qlinear_matmul},
    Row{"QuantizeLinear", quantize},
};

}  // namespace

std::span<const Row> quantization_rows() noexcept { return rows; }

}  // namespace polychron::onnx::detail
