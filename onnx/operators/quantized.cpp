// ONNX Runtime's quantized operators, of the domain com.microsoft, as its quantization tools write
// them. https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
#include "onnx/operators/quantized.hpp"

#include <array>

#include "onnx/handlers.hpp"
#include "onnx/operators/reshape.hpp"

namespace polychron::onnx::detail {

namespace {

/// The real value of three inputs from `i` on: value, scale and zero point.
Term real_input(Node& node, std::size_t i) {
  return dequantized(term(node, i), term(node, i + 1), optional_term(node, i + 2));
}

/// Quantizes with the scale and zero point from input `scale` on, to the first operand's type.
void set_quantized(Node& node, const Term& x, std::size_t scale, std::size_t operand = 0) {
  const auto type = node.type(operand);
  node.set(quantized(x, term(node, scale), optional_term(node, scale + 1), 0, type).operand(), 0,
           type);
}

Term sum_of(const Term& a, const Term& b) { return a + b; }
Term product_of(const Term& a, const Term& b) { return a * b; }

template <Term function(const Term&, const Term&)>
void qlinear(Node& node) {
  set_quantized(node, function(real_input(node, 0), real_input(node, 3)), 6);
}

void qlinear_sigmoid(Node& node) { set_quantized(node, real_input(node, 0).sigmoid(), 3); }

void qlinear_leaky_relu(Node& node) {
  const auto alpha = node.real("alpha", 0.01F);
  const auto x = real_input(node, 0);
  set_quantized(node, x.with(node.builder.leaky_relu(x.operand(), {.alpha = alpha}, node.label())),
                3);
}

/// Channels are the second dimension, or the last.
void qlinear_global_average(Node& node) {
  const auto x = real_input(node, 0);
  const auto rank = static_cast<std::uint32_t>(x.rank());
  if (rank < 3) malformed("an input of shape " + to_string(x.shape()));
  const std::uint32_t first = node.integer("channels_last", 0) != 0 ? 1 : 2;
  std::vector<std::uint32_t> axes;
  for (std::uint32_t d = first; d < rank - 2 + first; ++d) axes.push_back(d);
  set_quantized(node, x.mean(axes, true), 3);
}

/// Inputs: scale, zero point; then each part with its own scale and zero point.
void qlinear_concat(Node& node) {
  if (node.input_count() < 5 || node.input_count() % 3 != 2)
    malformed(std::to_string(node.input_count()) + " inputs");
  std::vector<Term> parts;
  for (std::size_t i = 2; i < node.input_count(); i += 3) parts.push_back(real_input(node, i));
  const auto axis = node.axis(node.integer("axis", 0), parts.front().rank());
  set_quantized(node, concat(parts, axis), 0, 2);
}

// -- products -------------------------------------------------------------------------------------

Term transposed(const Term& x, bool is_set) { return is_set ? x.transpose({1, 0}) : x; }

/// a, a_scale, a_zero_point, b, b_scale, b_zero_point, c?, y_scale?, y_zero_point?
void qgemm(Node& node) {
  if (node.rank(0) != 2 || node.rank(3) != 2)
    malformed("matrices of shape " + to_string(node.shape(0)) + " and " + to_string(node.shape(3)));
  const bool b_turned = node.integer("transB", 0) != 0;
  const auto b = transposed(term(node, 3), b_turned);
  auto b_zero = optional_term(node, 5);
  if (b_zero) b_zero = for_matrix(*b_zero, false);
  auto a_zero = optional_term(node, 2);
  if (a_zero) a_zero = a_zero->reshape({});
  const auto a = transposed(term(node, 0), node.integer("transA", 0) != 0);
  auto result = matrix_product(difference(a, a_zero), difference(b, b_zero));
  if (node.has_input(6)) result = result + term(node, 6);
  const auto scale = term(node, 1).reshape({}) * for_matrix(term(node, 4), false);
  const auto real = result.cast(DataType::float32) * (scale * node.real("alpha", 1));
  if (node.has_input(7)) return set_quantized(node, real, 7);
  node.set(real.operand(), 0, ElementType::float32);
}

/// The product of a and b, times both scales, plus a bias.
void set_real(Node& node, const Term& a, const Term& a_scale, std::size_t b_input,
              std::size_t b_scale, std::size_t b_zero, std::size_t bias) {
  auto zero = optional_term(node, b_zero);
  if (zero) zero = for_matrix(*zero, false);
  const auto b = difference(term(node, b_input), zero);
  const auto scale = a_scale * for_matrix(term(node, b_scale), false);
  auto result = matrix_product(a, b).cast(DataType::float32) * scale;
  if (node.has_input(bias)) result = result + term(node, bias);
  node.set(result.operand(), 0, ElementType::float32);
}

/// A, B, b_scale, b_zero_point?, bias?
void dynamic_quantize_matmul(Node& node) {
  const auto a = dynamic_steps(term(node, 0));
  set_real(node, difference(a.values, a.zero), a.scale, 1, 2, 3, 4);
}

/// A, B, a_scale, b_scale, a_zero_point?, b_zero_point?, bias?
void matmul_integer_to_float(Node& node) {
  auto zero = optional_term(node, 4);
  if (zero) zero = for_matrix(*zero, node.rank(0) > 1);
  set_real(node, difference(term(node, 0), zero), for_matrix(term(node, 2), true), 1, 3, 5, 6);
}

/// Elements of `bits` bits, the lowest first, each in a byte.
Literal bytes_of(const Literal& packed, std::uint32_t bits, const Shape& shape) {
  const auto in_byte = 8 / bits;
  auto bytes = Buffer::uninitialized(packed.bytes.size() * in_byte);
  const auto mask = std::byte{static_cast<std::uint8_t>((1U << bits) - 1)};
  std::size_t at = 0;
  for (const auto byte : packed.bytes)
    for (std::uint32_t shift = 0; shift < 8; shift += bits)
      bytes.data()[at++] = (byte >> shift) & mask;
  return make_literal(ElementType::uint8, shape, std::move(bytes));
}

/// The weights' elements, unpacked: a row for each column of the product, as `columns` bytes.
Term unpacked(Node& node, std::size_t input, std::uint32_t bits, const Shape& shape) {
  const auto* packed = node.literal(input);
  if (!packed) node.want_value(input);
  if (packed->type != ElementType::uint8 || packed->bytes.size() * (8 / bits) != count(shape))
    malformed("input " + std::to_string(input) + " of shape " + to_string(packed->shape) + " for " +
              to_string(shape) + " elements of " + std::to_string(bits) + " bits");
  node.importer.spend_bytes(count(shape));
  return {node, node.constant_of(bytes_of(*packed, bits, shape))};
}

/// A, B, scales, zero_points?, g_idx?, bias?: B is stored by columns, in blocks with one scale and
/// one zero point each.
void matmul_blocks(Node& node) {
  if (node.has_input(4)) unsupported("input 'g_idx'");
  const auto whole = [&](const char* name) {
    return unsigned_list({node.integer(name, 0)}, name).front();
  };
  const auto rows = whole("N"), inner = whole("K"), block = whole("block_size");
  const auto bits = unsigned_list({node.integer("bits", 4)}, "bits").front();
  if (bits != 2 && bits != 4 && bits != 8)
    unsupported("attribute 'bits' of " + std::to_string(bits));
  if (rows == 0 || inner == 0 || block == 0 || block % (8 / bits) != 0)
    malformed("attributes 'N', 'K' and 'block_size' of " + std::to_string(rows) + ", " +
              std::to_string(inner) + " and " + std::to_string(block));
  const auto blocks = static_cast<std::uint32_t>((std::uint64_t{inner} + block - 1) / block);
  const auto weights = unpacked(node, 1, bits, to_shape({rows, std::int64_t{blocks} * block}));
  const auto scales = term(node, 2).reshape({rows, blocks});
  auto zero = weights.number(static_cast<double>(1U << (bits - 1))).expand({rows, blocks});
  if (node.has_input(3)) {
    if (node.type(3) != ElementType::uint8) unsupported("input 'zero_points' of another type");
    const auto in_byte = 8 / bits, padded = (blocks + in_byte - 1) / in_byte * in_byte;
    zero = unpacked(node, 3, bits, {rows, padded}).slice(1, 0, blocks);
  }
  const auto b = weights.with(node.builder.dequantize_linear(weights.operand(), scales.operand(),
                                                             zero.operand(), node.label()));
  auto result = term(node, 0).matmul(b.slice(1, 0, inner).transpose({1, 0}));
  if (node.has_input(5)) result = result + term(node, 5);
  node.set(result.operand());
}

}  // namespace

std::span<const Row> quantized_rows() noexcept {
  static constexpr std::array rows{
      Row{"com.microsoft:DynamicQuantizeMatMul", dynamic_quantize_matmul},
      Row{"com.microsoft:MatMulIntegerToFloat", matmul_integer_to_float},
      Row{"com.microsoft:MatMulNBits", matmul_blocks},
      Row{"com.microsoft:QGemm", qgemm},
      Row{"com.microsoft:QLinearAdd", qlinear<sum_of>},
      Row{"com.microsoft:QLinearConcat", qlinear_concat},
      Row{"com.microsoft:QLinearGlobalAveragePool", qlinear_global_average},
      Row{"com.microsoft:QLinearLeakyRelu", qlinear_leaky_relu},
      Row{"com.microsoft:QLinearMul", qlinear<product_of>},
      Row{"com.microsoft:QLinearSigmoid", qlinear_sigmoid},
  };
  return rows;
}

}  // namespace polychron::onnx::detail
