// ONNX Runtime's quantized operators, of the domain com.microsoft, as its quantization tools write
// them. https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
#include "onnx/operators/quantized.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "onnx/handlers.hpp"
#include "onnx/operators/reshape.hpp"
#include "polychron/context.hpp"

namespace polychron::onnx::detail {

namespace {

/// True if the context has constants of this type. Strict ones have none of 4 bits.
bool has_constants_of(const Node& node, DataType type) {
  const auto& types = node.builder.context().op_support_limits().constant.data_types;
  return std::ranges::find(types, type) != types.end();
}

}  // namespace

Term packed_constant(Node& node, DataType type, const Shape& shape, std::size_t i) {
  const auto* const literal = node.has_input(i) ? node.literal(i) : nullptr;
  const OperandDescriptor descriptor{type, shape};
  Buffer bytes(*byte_length(descriptor));
  node.importer.spend_bytes(bytes.size());
  for (std::size_t k = 0; literal != nullptr && k < literal->bytes.size(); ++k)
    bytes.data()[k / 2] |= (literal->bytes[k] & std::byte{0xf}) << k % 2 * 4;
  return {node, node.builder.constant(descriptor, std::move(bytes))};
}

std::optional<DataType> packed_type(const Node& node, std::size_t scales) {
  const auto* const x = node.literal(0);
  if (x == nullptr) return std::nullopt;
  if (node.has_input(2) && (!node.literal(2) || count(*node.literal(2)) != scales))
    return std::nullopt;
  if (x->type == ElementType::int4 && has_constants_of(node, DataType::int4)) return DataType::int4;
  if (x->type == ElementType::uint4 && has_constants_of(node, DataType::uint4))
    return DataType::uint4;
  return std::nullopt;
}

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

/// Weights of `bits` bits in blocks, and the type that carries them in the graph.
struct Blocks {
  std::uint32_t rows, inner, block, bits;
  DataType type;

  std::uint32_t count() const {
    return static_cast<std::uint32_t>((std::uint64_t{inner} + block - 1) / block);
  }
};

Blocks read_blocks(const Node& node) {
  const auto whole = [&](const char* name, std::int64_t otherwise = 0) {
    return unsigned_list({node.integer(name, otherwise)}, name).front();
  };
  Blocks w{whole("N"), whole("K"), whole("block_size"), whole("bits", 4), DataType::uint8};
  if (w.bits != 2 && w.bits != 4 && w.bits != 8)
    unsupported("attribute 'bits' of " + std::to_string(w.bits));
  if (w.rows == 0 || w.inner == 0 || w.block == 0 || w.block % (8 / w.bits) != 0)
    malformed("attributes 'N', 'K' and 'block_size' of " + std::to_string(w.rows) + ", " +
              std::to_string(w.inner) + " and " + std::to_string(w.block));
  if (w.bits < 8 && has_constants_of(node, DataType::uint4)) w.type = DataType::uint4;
  return w;
}

/// The constant [rows, columns] of an input with elements of `bits` bits, the lowest first. Each
/// row begins with a byte.
Term elements_of(Node& node, std::size_t input, const Blocks& w, std::int64_t columns) {
  const auto* packed = node.literal(input);
  if (!packed) node.want_value(input);
  const OperandDescriptor descriptor{w.type, to_shape({w.rows, columns})};
  const std::size_t width = count(descriptor.shape) / w.rows;
  const std::size_t in_byte = 8 / w.bits, stride = (width + in_byte - 1) / in_byte * in_byte;
  if (packed->type != ElementType::uint8 || packed->bytes.size() * in_byte != w.rows * stride)
    malformed("input " + std::to_string(input) + " of shape " + to_string(packed->shape) + " for " +
              to_string(descriptor.shape) + " elements of " + std::to_string(w.bits) + " bits");
  const std::size_t bits = w.type == DataType::uint4 ? 4 : 8;
  if (bits == w.bits && stride == width)
    return {node, node.builder.constant(descriptor, share_bytes(*packed))};
  Buffer bytes(*byte_length(descriptor));
  node.importer.spend_bytes(bytes.size());
  const auto mask = std::byte{static_cast<std::uint8_t>((1U << w.bits) - 1)};
  for (std::size_t row = 0, to = 0; row < w.rows; ++row)
    for (auto from = row * stride; from < row * stride + width; ++from, ++to) {
      const auto element = packed->bytes[from / in_byte] >> (from % in_byte * w.bits) & mask;
      bytes.data()[to * bits / 8] |= element << (to * bits % 8);
    }
  return {node, node.builder.constant(descriptor, std::move(bytes))};
}

/// A constant of `w.type` with `value` everywhere.
Term filled(Node& node, const Blocks& w, const Shape& shape, std::uint32_t value) {
  const OperandDescriptor descriptor{w.type, shape};
  Buffer bytes(*byte_length(descriptor));
  if (w.type == DataType::uint4) value *= 0x11;
  std::ranges::fill(bytes.as<std::uint8_t>(), static_cast<std::uint8_t>(value));
  return {node, node.builder.constant(descriptor, std::move(bytes))};
}

/// (elements - zero point) * scale: a row for each column of the product.
Term weights_in_blocks(Node& node, const Blocks& w) {
  const auto scales = term(node, 2).reshape({w.rows, w.count()});
  const auto weights = elements_of(node, 1, w, std::int64_t{w.count()} * w.block);
  const auto real = [&](const Term& steps, const Term& zero) {
    return steps.with(node.builder.dequantize_linear(weights.operand(), steps.operand(),
                                                     zero.operand(), node.label()));
  };
  if (!node.has_input(3)) return real(scales, filled(node, w, scales.shape(), 1U << (w.bits - 1)));
  if (!is_real(node.type(3))) return real(scales, elements_of(node, 3, w, w.count()));
  const auto each = [&](const Term& x) {
    return x.cast(DataType::float32).reshape({w.rows, w.count(), 1});
  };
  const auto one = constant(node, ElementType::float32, {1, 1}, std::vector<double>{1});
  const auto steps = real(one, filled(node, w, {1, 1}, 0));
  return ((steps.reshape({w.rows, w.count(), w.block}) - each(term(node, 3))) * each(scales))
      .reshape(weights.shape())
      .cast(scales.data_type());
}

/// A, B, scales, zero_points?, g_idx?, bias?: B is stored by columns, in blocks with one scale and
/// one zero point each. Zero points may be floats.
void matmul_blocks(Node& node) {
  if (node.has_input(4)) unsupported("input 'g_idx'");
  const auto w = read_blocks(node);
  const auto a = term(node, 0);
  Shape shape = a.shape();
  if (shape.empty() || shape.back() != w.inner)
    malformed("an input of shape " + to_string(shape) + " for attribute 'K' of " +
              std::to_string(w.inner));
  const auto rows = a.reshape({static_cast<std::uint32_t>(count(shape) / w.inner), w.inner});
  const auto b = weights_in_blocks(node, w).slice(1, 0, w.inner);
  shape.back() = w.rows;
  auto result = a.with(node.builder.gemm(rows.operand(), b.operand(), {.b_transpose = true}, {},
                                         node.label()))
                    .reshape(shape);
  if (node.has_input(5)) result = result + term(node, 5);
  node.set(result.operand());
}

// -- tables ---------------------------------------------------------------------------------------

/// A table whose elements of `bits` bits are neighbours in bytes, the lowest bits first.
struct PackedTable {
  Term bytes;
  std::uint32_t bits;
  double offset = 0;  ///< bytes hold each element plus this
};

/// A table of int4 or uint4 as bytes of two elements each, if it is known and its rows are even.
std::optional<PackedTable> packed_table(Node& node, std::size_t i, std::uint32_t last) {
  const auto* const known = node.literal(i);
  if (known == nullptr || known->shape[last] % 2 != 0) return std::nullopt;
  const bool is_signed = known->type == ElementType::int4;
  const auto flip = std::byte{static_cast<std::uint8_t>(is_signed ? 8 : 0)};
  const Dimensions shape(known->shape);
  const OperandDescriptor half{DataType::uint8, shape.with(last, shape[last] / 2)};
  Buffer bytes(known->bytes.size() / 2);
  node.importer.spend_bytes(bytes.size());
  for (std::size_t k = 0; k < known->bytes.size(); ++k)
    bytes.data()[k / 2] |= ((known->bytes[k] & std::byte{0xf}) ^ flip) << k % 2 * 4;
  const Term packed(node, node.builder.constant(half, std::move(bytes)));
  return PackedTable{packed, 4, is_signed ? 8.0 : 0.0};
}

/// `length` elements of each row, as float32.
Term unpacked(const Term& bytes, std::uint32_t bits, std::uint32_t length) {
  auto rest = bytes.cast(DataType::float32);
  const auto rank = static_cast<std::uint32_t>(rest.rank());
  std::vector<Term> parts;
  for (std::uint32_t i = 0; i + bits < 8; i += bits) {
    const auto above = (rest * std::exp2(-static_cast<double>(bits))).floor();
    parts.push_back((rest - above * std::exp2(bits)).unsqueeze(rank));
    rest = above;
  }
  if (parts.empty()) return rest;
  parts.push_back(rest.unsqueeze(rank));
  const auto wide = static_cast<std::uint32_t>(rest.shape().back() * parts.size());
  return concat(parts, rank).reshape(rest.shape().with(rank - 1, wide)).slice(rank - 1, 0, length);
}

/// data, indices, scales, zero_points?: rows are gathered as they are stored, and only they become
/// real numbers.
void gather_blocks(Node& node) {
  const auto type = node.type(0);
  const bool is_bytes = type == ElementType::uint8;
  if (!is_bytes && type != ElementType::int4 && type != ElementType::uint4)
    unsupported("data of " + std::string(to_string(type)));
  const auto bits = unsigned_list({node.integer("bits", 4)}, "bits").front();
  if ((bits != 2 && bits != 4 && bits != 8) || (!is_bytes && bits != 4))
    unsupported("attribute 'bits' of " + std::to_string(bits));
  const auto rank = node.rank(0);
  const auto from = node.axis(node.integer("gather_axis", 0), rank);
  const auto divided = node.axis(node.integer("quantize_axis", 1), rank);
  const auto block = unsigned_list({node.integer("block_size", 128)}, "block_size").front();
  const auto last = static_cast<std::uint32_t>(rank - 1);
  if (from == divided || (is_bytes && bits < 8 && from == last))
    malformed("attributes 'gather_axis' and 'quantize_axis' of " + std::to_string(from) + " and " +
              std::to_string(divided));
  const std::uint32_t in_byte = is_bytes ? 8 / bits : 1;
  Shape whole = node.shape(0);  // of the elements
  whole[last] *= in_byte;
  const auto scales = term(node, 2);
  const auto blocks = scales.rank() == rank ? scales.shape()[divided] : 0;
  const auto length = whole[divided];
  if (block == 0 || scales.shape() != Dimensions(whole).with(divided, (length - 1) / block + 1))
    malformed("scales of shape " + to_string(scales.shape()) + " for blocks of " +
              std::to_string(block) + " of " + to_string(whole));

  const auto indices = term(node, 1);
  const auto taken = [&](const Term& x) { return x.gather(indices, from); };
  const auto moved = [&](std::uint32_t axis) {
    return axis < from ? axis : axis + static_cast<std::uint32_t>(indices.rank()) - 1;
  };
  const auto steps = [&](std::size_t input, std::uint32_t width) {
    return unpacked(taken(term(node, input)), is_bytes ? bits : 8, width);
  };
  const auto packed = is_bytes || from == last ? std::nullopt : packed_table(node, 0, last);
  const auto values =
      packed ? unpacked(taken(packed->bytes), packed->bits, whole[last]) : steps(0, whole[last]);
  const double offset = packed ? packed->offset : 0;
  const auto zero = node.has_input(3) ? steps(3, scales.shape()[last]) + offset
                                      : values.number(offset + (is_bytes ? 1U << (bits - 1) : 0U));
  // A number of each block, for each element.
  const auto at = moved(divided);
  const auto wide = std::min(block, length);  // a block may be wider than the axis
  const auto each = [&](const Term& x) {
    if (x.rank() == 0) return x;
    Shape repeated = x.unsqueeze(at + 1).shape();
    repeated[at + 1] = wide;
    return x.unsqueeze(at + 1)
        .expand(repeated)
        .reshape(x.shape().with(at, blocks * wide))
        .slice(at, 0, length);
  };
  const auto real = (values - each(zero)) * each(taken(scales).cast(DataType::float32));
  node.set(real.cast(scales.data_type()).operand(), 0, node.type(2));
}

}  // namespace

std::span<const Row> quantized_rows() noexcept {
  static constexpr std::array rows{
      Row{"com.microsoft:DynamicQuantizeMatMul", dynamic_quantize_matmul},
      Row{"com.microsoft:GatherBlockQuantized", gather_blocks},
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
