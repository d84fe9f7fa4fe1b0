// Operators that only passes make. The specification does not have them, and neither does a
// builder. Their ids follow those of the specification's table.
#pragma once

#include "ops/table.hpp"

namespace polychron::kernels {

inline constexpr std::array<std::string_view, 14> internal_operators{
    "swish",               // x * sigmoid(alpha * x), LinearAttributes.alpha
    "reorder",             // the same values in another layout
    "depth_to_space",      // channels, tap by tap, become pixels
    "copy",                // the same bytes elsewhere
    "view",                // the same bytes under another shape; has no kernel
    "attention",           // two products with a softmax between: kernels/attention_operands.hpp
    "integerProduct",      // an exact product of 8-bit integers: kernels/integer_product.hpp
    "packedProduct",       // with a matrix of 4-bit or 8-bit integers: kernels/packed_product.hpp
    "integerConvolution",  // exact, of 8-bit integers: kernels/integer_convolution.hpp
    // float32 -> uint8 of the same shape, and the scale and zero point that its extremes give
    "dynamicQuantization",
    "cachedAttention",   // over cached and new keys: kernels/attention_operands.hpp
    "chain",             // operators of each element, as one: kernels/chain.hpp
    "rmsNormalization",  // x / sqrt(mean(x * x) + epsilon) * scale: kernels/rms_normalization.hpp
    "rotaryEmbedding",   // pairs of numbers, turned by angles: kernels/rotary_embedding.hpp
};

consteval ops::OpId internal(std::string_view name) {
  for (std::size_t i = 0; i < internal_operators.size(); ++i)
    if (internal_operators[i] == name)
      return ops::OpId{static_cast<std::uint16_t>(ops::table.size() + i)};
  throw "no internal operator of that name";
}

inline constexpr ops::OpId op_swish = internal("swish");
inline constexpr ops::OpId op_reorder = internal("reorder");
inline constexpr ops::OpId op_depth_to_space = internal("depth_to_space");
inline constexpr ops::OpId op_copy = internal("copy");
inline constexpr ops::OpId op_view = internal("view");
inline constexpr ops::OpId op_attention = internal("attention");
inline constexpr ops::OpId op_integer_product = internal("integerProduct");
inline constexpr ops::OpId op_packed_product = internal("packedProduct");
inline constexpr ops::OpId op_integer_convolution = internal("integerConvolution");
inline constexpr ops::OpId op_dynamic_quantization = internal("dynamicQuantization");
inline constexpr ops::OpId op_cached_attention = internal("cachedAttention");
inline constexpr ops::OpId op_chain = internal("chain");
inline constexpr ops::OpId op_rms_normalization = internal("rmsNormalization");
inline constexpr ops::OpId op_rotary_embedding = internal("rotaryEmbedding");

constexpr bool is_internal(ops::OpId op) {
  return static_cast<std::size_t>(op) >= ops::table.size();
}

/// Properties of the operator's row; false for internal operators.
constexpr bool is(ops::OpId op, ops::Family family) {
  return !is_internal(op) && ops::row(op).family == family;
}
constexpr bool commutes(ops::OpId op) {
  return !is_internal(op) && ops::row(op).order == ops::Order::free;
}

}  // namespace polychron::kernels
