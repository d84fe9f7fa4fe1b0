// oneDNN, one place for what its versions 2 and 3 say differently.
//
// Everything else in this folder is written against these few functions.
#pragma once

#include <cmath>
#include <oneapi/dnnl/dnnl.hpp>
#include <vector>

#include "kernels/problem.hpp"
#include "polychron/error.hpp"

namespace polychron::kernels::onednn {

using dnnl::memory;

/// The processor as an engine; lives as long as the process.
const dnnl::engine& engine();

/// The descriptor of a primitive P, from the arguments that both versions have in the same order.
/// Throws dnnl::error if the library has no implementation.
template <class P, class... Arguments>
typename P::primitive_desc describe_primitive(const dnnl::primitive_attr& attributes,
                                              const Arguments&... arguments) {
#if DNNL_VERSION_MAJOR >= 3
  return typename P::primitive_desc(engine(), arguments..., attributes);
#else
  return typename P::primitive_desc(typename P::desc(arguments...), attributes, engine());
#endif
}

#if DNNL_VERSION_MAJOR >= 3
using Pooling = dnnl::pooling_forward;
using Softmax = dnnl::softmax_forward;
#else
using Pooling = dnnl::pooling_v2_forward;
using Softmax = dnnl::softmax_v2_forward;
#endif
inline constexpr auto inference = dnnl::prop_kind::forward_inference;
inline constexpr auto average_without_padding = dnnl::algorithm::pooling_avg_exclude_padding;

/// An element-wise function of the library.
struct Eltwise {
  dnnl::algorithm algorithm{};
  float alpha = 0;
  float beta = 0;
};

inline dnnl::eltwise_forward::primitive_desc describe_eltwise(
    const dnnl::primitive_attr& attributes, const memory::desc& desc, const Eltwise& eltwise) {
#if DNNL_VERSION_MAJOR >= 3
  return describe_primitive<dnnl::eltwise_forward>(attributes, inference, eltwise.algorithm, desc,
                                                   desc, eltwise.alpha, eltwise.beta);
#else
  return describe_primitive<dnnl::eltwise_forward>(attributes, inference, eltwise.algorithm, desc,
                                                   eltwise.alpha, eltwise.beta);
#endif
}

inline dnnl::layer_normalization_forward::primitive_desc describe_layer_normalization(
    const dnnl::primitive_attr& attributes, const memory::desc& desc, float epsilon,
    dnnl::normalization_flags flags) {
#if DNNL_VERSION_MAJOR >= 3
  return describe_primitive<dnnl::layer_normalization_forward>(attributes, inference, desc, desc,
                                                               epsilon, flags);
#else
  return describe_primitive<dnnl::layer_normalization_forward>(attributes, inference, desc, epsilon,
                                                               flags);
#endif
}

inline void append_eltwise(dnnl::post_ops& post_ops, const Eltwise& eltwise) {
#if DNNL_VERSION_MAJOR >= 3
  post_ops.append_eltwise(eltwise.algorithm, eltwise.alpha, eltwise.beta);
#else
  post_ops.append_eltwise(1.0F, eltwise.algorithm, eltwise.alpha, eltwise.beta);
#endif
}

/// hardSwish takes its constants from version 3 on.
inline constexpr Eltwise hard_swish() {
  return {dnnl::algorithm::eltwise_hardswish, 1.0F / 6, 0.5F};
}
/// False if the function is right only behind a sum. Alone, some make a number of NaN, as they
/// compare with instructions that drop it, or bring an exponent into range first (2.6.3, 3.7.2).
/// Others lose what is nearly 0: elu next to 0, and in version 3 hardSwish, whose sixth costs
/// thousands of ULP next to -3. A sum is off by more itself.
inline bool exact_alone(const Eltwise& eltwise) {
  switch (eltwise.algorithm) {
    case dnnl::algorithm::eltwise_clip:
    case dnnl::algorithm::eltwise_elu:
    case dnnl::algorithm::eltwise_logistic:
    case dnnl::algorithm::eltwise_swish:
      return false;
    case dnnl::algorithm::eltwise_linear:  // 0 is not added: -0 stays
      return eltwise.beta != 0 || std::signbit(eltwise.beta);
    case dnnl::algorithm::eltwise_relu:
      return eltwise.alpha != 0;
    case dnnl::algorithm::eltwise_hardswish:
      return DNNL_VERSION_MAJOR < 3;
    default:
      return true;
  }
}
/// gelu; of version 3 it is not taken: infinity becomes NaN, and at -5 a fifth is missing (3.7.2).
inline std::vector<Eltwise> gelu() {
#if DNNL_VERSION_MAJOR >= 3
  return {};
#else
  return {{dnnl::algorithm::eltwise_gelu_erf}};
#endif
}

/// The library's name of a layout of rank-4 values.
memory::format_tag format_tag(Layout layout) noexcept;

bool is_float32(const Slot& slot) noexcept;

memory::dims to_dims(const Shape& shape);
/// Row-major strides.
memory::dims row_major(const memory::dims& dims);

inline memory::dims dims_of(const memory::desc& desc) {
#if DNNL_VERSION_MAJOR >= 3
  return desc.get_dims();
#else
  return desc.dims();
#endif
}

/// Whether a product is computed as its operands lie. Version 3 (3.7.2, with AVX-512) takes a
/// single row of the left one as if its elements were neighbours, and writes a single column of the
/// result so, whatever their descriptions say.
inline bool keeps_to_strides(const memory::desc& left, const memory::desc& result) {
#if DNNL_VERSION_MAJOR >= 3
  const memory::dims from = left.get_dims(), from_strides = left.get_strides();
  const memory::dims to = result.get_dims(), to_strides = result.get_strides();
  const std::size_t column = from.size() - 1, row = column - 1;  // both have one rank
  const bool row_in_steps = from[row] == 1 && from[column] > 1 && from_strides[column] != 1;
  const bool column_in_steps = to[column] == 1 && to[row] > 1 && to_strides[row] != 1;
  return !row_in_steps && !column_in_steps;
#else
  static_cast<void>(left);
  static_cast<void>(result);
  return true;
#endif
}

/// A slot as the library sees it: float32, in the slot's layout.
memory::desc describe(const Slot& slot);
memory::desc plain(const memory::dims& dims);
/// A picture by its attribute's layout: an nhwc one is the same dimensions with other strides.
memory::desc picture(const Slot& slot, InputOperandLayout layout);

/// The concatenation of `sources` to `target`.
inline dnnl::concat::primitive_desc describe_concat(const dnnl::primitive_attr& attributes,
                                                    const memory::desc& target, int axis,
                                                    const std::vector<memory::desc>& sources) {
#if DNNL_VERSION_MAJOR >= 3
  return {engine(), target, axis, sources, attributes};
#else
  return {target, axis, sources, engine(), attributes};
#endif
}

/// The error as this library's own: an unimplemented primitive is not_supported.
Error to_error(const dnnl::error& error);

}  // namespace polychron::kernels::onednn
