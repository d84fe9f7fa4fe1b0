// Operators that move elements without looking at them: exact for every type.
#include <algorithm>
#include <cstring>

#include "kernels/reference/reference.hpp"
#include "kernels/reference/types.hpp"
#include "kernels/reference/walk.hpp"
#include "ops/table.hpp"

namespace polychron::kernels::reference {
namespace {

using ops::op;

/// Copies input 0 from `offset` with `strides` along the dimensions of output `index`.
void copy_strided(const Call& call, std::size_t index, std::int64_t offset,
                  const Strides& strides) {
  with_size(call.in_type(), [&]<class T>(T) {
    const T* in = call.in<T>(0) + offset;
    T* out = call.out<T>(index);
    for_each<1>(call.out_shape(index), {strides},
                [&](const auto& at, const auto&) { *out++ = in[at[0]]; });
  });
}

void expand(const Call& call) {
  copy_strided(call, 0, 0, broadcast_strides(call.in_shape(0), call.out_shape()));
}

void transpose(const Call& call) {
  const auto& permutation = std::get<TransposeAttributes>(call.problem.attributes).permutation;
  const Strides from = strides_of(call.in_shape(0));
  const std::size_t rank = call.out_shape().size();
  Strides strides{};
  for (std::size_t i = 0; i < rank; ++i)
    strides[i] = from[permutation ? (*permutation)[i] : rank - 1 - i];
  copy_strided(call, 0, 0, strides);
}

void slice(const Call& call) {
  const auto& a = std::get<SliceAttributes>(call.problem.attributes);
  Strides strides = strides_of(call.in_shape(0));
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < a.starts.size(); ++i) {
    offset += strides[i] * a.starts[i];
    if (a.strides) strides[i] *= (*a.strides)[i];
  }
  copy_strided(call, 0, offset, strides);
}

void split(const Call& call) {
  const std::uint32_t axis = std::get<SplitAttributes>(call.problem.attributes).axis;
  const Strides strides = strides_of(call.in_shape(0));
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < call.outputs.size(); ++i) {
    copy_strided(call, i, offset, strides);
    offset += strides[axis] * call.out_shape(i)[axis];
  }
}

void concat(const Call& call) {
  const std::uint32_t axis = std::get<ConcatAttributes>(call.problem.attributes).axis;
  const Shape& shape = call.out_shape();
  const std::size_t size = byte_size(call.out_type());
  const auto inner = static_cast<std::size_t>(strides_of(shape)[axis]) * size;
  const std::int64_t outer = count_of({shape.data(), axis});
  std::byte* out = call.outputs[0];
  for (std::int64_t i = 0; i < outer; ++i)
    for (std::size_t k = 0; k < call.problem.own_inputs; ++k) {
      const std::size_t bytes = inner * call.in_shape(k)[axis];
      std::memcpy(out, call.inputs[k] + static_cast<std::size_t>(i) * bytes, bytes);
      out += bytes;
    }
}

/// The source of coordinate `at` of the padded dimension, or -1 for the constant.
std::int64_t padded_source(std::int64_t at, std::int64_t before, std::int64_t extent,
                           PaddingMode mode) {
  const std::int64_t x = at - before;
  if (x >= 0 && x < extent) return x;
  if (mode == PaddingMode::edge) return x < 0 ? 0 : extent - 1;
  if (mode == PaddingMode::reflection) return x < 0 ? -x : 2 * (extent - 1) - x;
  return -1;
}

void pad(const Call& call) {
  const auto& a = std::get<PadAttributes>(call.problem.attributes);
  const Shape& shape = call.in_shape(0);
  const Strides strides = strides_of(shape);
  with_element(call.in_type(), [&]<class T>(T) {
    const auto filler =
        std::visit([](auto value) { return narrow<T>(value); }, ops::cast(a.value, call.in_type()));
    const T* in = call.in<T>(0);
    T* out = call.out<T>();
    for_each<1>(call.out_shape(), {Strides{}}, [&](const auto&, const auto& at) {
      std::int64_t offset = 0;
      bool inside = true;
      for (std::size_t i = 0; i < shape.size() && inside; ++i) {
        const std::int64_t x = padded_source(at[i], a.beginning_padding[i], shape[i], a.mode);
        inside = x >= 0;
        offset += x * strides[i];
      }
      *out++ = inside ? in[offset] : filler;
    });
  });
}

void reverse(const Call& call) {
  const auto& axes = std::get<ReverseAttributes>(call.problem.attributes).axes;
  const Shape& shape = call.in_shape(0);
  Strides strides = strides_of(shape);
  std::int64_t offset = 0;
  for (std::uint32_t i = 0; i < shape.size(); ++i) {
    if (axes && std::find(axes->begin(), axes->end(), i) == axes->end()) continue;
    offset += strides[i] * (shape[i] - 1);
    strides[i] = -strides[i];
  }
  copy_strided(call, 0, offset, strides);
}

void tile(const Call& call) {
  const Shape& shape = call.in_shape(0);
  const Strides strides = strides_of(shape);
  with_size(call.in_type(), [&]<class T>(T) {
    const T* in = call.in<T>(0);
    T* out = call.out<T>();
    for_each<1>(call.out_shape(), {Strides{}}, [&](const auto&, const auto& at) {
      std::int64_t offset = 0;
      for (std::size_t i = 0; i < shape.size(); ++i) offset += at[i] % shape[i] * strides[i];
      *out++ = in[offset];
    });
  });
}

void triangular(const Call& call) {
  const auto& a = std::get<TriangularAttributes>(call.problem.attributes);
  const std::size_t rank = call.in_shape(0).size();
  with_size(call.in_type(), [&]<class T>(T) {
    const T* in = call.in<T>(0);
    T* out = call.out<T>();
    for_each<1>(call.in_shape(0), {Strides{}}, [&](const auto&, const auto& at) {
      const std::int64_t diagonal = std::int64_t{at[rank - 1]} - at[rank - 2];
      const bool kept = a.upper ? diagonal >= a.diagonal : diagonal <= a.diagonal;
      *out++ = kept ? *in : T{};
      ++in;
    });
  });
}

}  // namespace

std::span<const Entry> movement_entries() noexcept {
  static constexpr Entry entries[] = {{op("concat"), concat},
                                      {op("expand"), expand},
                                      {op("pad"), pad},
                                      {op("slice"), slice},
                                      {op("split"), split},
                                      {op("transpose"), transpose},
                                      {op("reshape"), copy},
                                      {op_copy, copy},
                                      {op("reverse"), reverse},
                                      {op("tile"), tile},
                                      {op("triangular"), triangular}};
  return entries;
}

}  // namespace polychron::kernels::reference
