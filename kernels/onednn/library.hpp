// oneDNN: hides the differences between its versions 2 and 3.
//
// The rest of this folder calls these few functions.
#pragma once

#include <cmath>
#include <oneapi/dnnl/dnnl.hpp>
#include <vector>

#include "kernels/problem.hpp"
#include "polychron/error.hpp"

namespace polychron::kernels::onednn {

using dnnl::memory;

/// The engine that this thread prepares primitives for: the processor, or that of an EngineScope.
const dnnl::engine& engine();

/// Primitives that this thread prepares while a scope lives are for `engine`. So the rows of this
/// folder serve every engine of the library. `engine` outlives the scope.
class EngineScope {
 public:
  explicit EngineScope(const dnnl::engine& engine) noexcept;
  EngineScope(const EngineScope&) = delete;
  EngineScope& operator=(const EngineScope&) = delete;
  ~EngineScope();

 private:
  const dnnl::engine* const outer_;
};

inline bool is_host(const dnnl::engine& engine) {
  return engine.get_kind() == dnnl::engine::kind::cpu;
}

/// The descriptor of a primitive P. Both versions have the arguments in the same order. Throws
/// dnnl::error if the library has no implementation.
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

/// hardSwish takes its constants as parameters since version 3.
inline constexpr Eltwise hard_swish() {
  return {dnnl::algorithm::eltwise_hardswish, 1.0F / 6, 0.5F};
}
/// False if the function is exact enough only after a sum. Some turn NaN into a number, because
/// their comparisons drop it or they limit the exponent first (2.6.3, 3.7.2). Others lose precision
/// near 0: elu, and in version 3 hardSwish, whose rounded 1/6 costs thousands of ULP next to -3.
/// The rounding of a sum is larger than these errors.
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
/// gelu. Empty in version 3, where infinity becomes NaN and the error at -5 is a fifth (3.7.2).
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

/// The primitive's descriptor of an argument; an empty one if it has none.
inline memory::desc known_to(const dnnl::primitive& primitive, int arg) {
  const auto* const known =
      dnnl_primitive_desc_query_md(primitive.get_primitive_desc(), dnnl_query_exec_arg_md, arg);
  if (known == nullptr) return {};
#if DNNL_VERSION_MAJOR >= 3
  dnnl_memory_desc_t copy = nullptr;
  if (dnnl_memory_desc_clone(&copy, known) != dnnl_success) return {};
  return memory::desc(copy);
#else
  return memory::desc(*known);
#endif
}

/// True if the library respects the operands' strides in a product. With AVX-512, version 3 (3.7.2)
/// ignores two of them. It reads a left operand of one row, and writes a result of one column, as
/// if their elements were contiguous.
inline bool keeps_to_strides(const memory::desc& left, const memory::desc& result) {
#if DNNL_VERSION_MAJOR >= 3
  const memory::dims from = left.get_dims(), from_strides = left.get_strides();
  const memory::dims to = result.get_dims(), to_strides = result.get_strides();
  const std::size_t column = from.size() - 1, row = column - 1;  // both have the same rank
  const bool row_in_steps = from[row] == 1 && from[column] > 1 && from_strides[column] != 1;
  const bool column_in_steps = to[column] == 1 && to[row] > 1 && to_strides[row] != 1;
  return !row_in_steps && !column_in_steps;
#else
  static_cast<void>(left);
  static_cast<void>(result);
  return true;
#endif
}

/// A slot's description for the library: float32, in the slot's layout.
memory::desc describe(const Slot& slot);
memory::desc plain(const memory::dims& dims);
/// A picture in its attribute's layout. An nhwc one has the same dimensions with other strides.
memory::desc picture(const Slot& slot, InputOperandLayout layout);

/// The concatenation of `sources` into `target`.
inline dnnl::concat::primitive_desc describe_concat(const dnnl::primitive_attr& attributes,
                                                    const memory::desc& target, int axis,
                                                    const std::vector<memory::desc>& sources) {
#if DNNL_VERSION_MAJOR >= 3
  return {engine(), target, axis, sources, attributes};
#else
  return {target, axis, sources, engine(), attributes};
#endif
}

/// The library's error as an Error: an unimplemented primitive is not_supported.
Error to_error(const dnnl::error& error);

}  // namespace polychron::kernels::onednn
