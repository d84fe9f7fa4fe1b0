// quantizeLinear and dequantizeLinear: each element with the scale and zero point of its block.
#include "kernels/packed_int4.hpp"
#include "kernels/reference/reference.hpp"
#include "kernels/reference/types.hpp"
#include "kernels/reference/walk.hpp"
#include "ops/table.hpp"

namespace polychron::kernels::reference {
namespace {

using ops::op;

/// Calls f(element, block) with the indices of each element and of its block.
template <class F>
void each_in_block(const Call& call, F&& f) {
  const Shape& shape = call.in_shape(0);
  const Shape& blocks = call.in_shape(1);
  const Strides strides = strides_of(blocks);
  for_each<1>(shape, {strides_of(shape)}, [&](const auto& element, const auto& at) {
    std::int64_t block = 0;
    for (std::size_t i = 0; i < shape.size(); ++i)
      block += at[i] / (shape[i] / blocks[i]) * strides[i];
    f(element[0], block);
  });
}

/// Element `index` of an integer operand.
template <class Q>
double integer(const std::byte* bytes, std::int64_t index) {
  using Value = typename IntegerTraits<Q>::Value;
  if constexpr (IntegerTraits<Q>::packed)
    return nibble<Value>(reinterpret_cast<const std::uint8_t*>(bytes),
                         static_cast<std::size_t>(index));
  else
    return static_cast<double>(reinterpret_cast<const Value*>(bytes)[index]);
}

template <class Q>
void store(double value, std::byte* bytes, std::int64_t index) {
  using Traits = IntegerTraits<Q>;
  if constexpr (Traits::packed) {
    const double bounded = std::fmin(std::fmax(value, Traits::least), Traits::most);
    const auto element = narrow<typename Traits::Value>(std::isnan(value) ? 0 : bounded);
    pack(&element, static_cast<std::size_t>(index), 1, reinterpret_cast<std::uint8_t*>(bytes));
  } else {
    reinterpret_cast<Q*>(bytes)[index] = narrow<Q>(value);
  }
}

template <class T, class Q>
void quantize_as(const Call& call) {
  each_in_block(call, [&](std::int64_t i, std::int64_t block) {
    const double steps = widen(call.in<T>(0)[i]) / widen(call.in<T>(1)[block]);
    const double zero_point = integer<Q>(call.inputs[2], block);
    store<Q>(std::nearbyint(steps) + zero_point, call.outputs[0], i);
  });
}

template <class T, class Q>
void dequantize_as(const Call& call) {
  each_in_block(call, [&](std::int64_t i, std::int64_t block) {
    const double steps = integer<Q>(call.inputs[0], i) - integer<Q>(call.inputs[2], block);
    call.out<T>()[i] = narrow<T>(steps * widen(call.in<T>(1)[block]));
  });
}

/// The operator table allows no other integer types.
void quantize(const Call& call) {
  with_float(call.in_type(), [&]<class T>(T) {
    with_integer(
        call.in_type(2), [&]<class Q>(Q) { quantize_as<T, Q>(call); }, [] {});
  });
}
void dequantize(const Call& call) {
  with_float(call.out_type(), [&]<class T>(T) {
    with_integer(
        call.in_type(2), [&]<class Q>(Q) { dequantize_as<T, Q>(call); }, [] {});
  });
}

}  // namespace

std::span<const Entry> quantization_entries() noexcept {
  static constexpr Entry entries[] = {{op("dequantizeLinear"), dequantize},
                                      {op("quantizeLinear"), quantize}};
  return entries;
}

}  // namespace polychron::kernels::reference
