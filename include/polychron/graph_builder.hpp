// Building graphs (WebNN: MLGraphBuilder). A builder is a plain value on the caller's side; it
// shares nothing.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "polychron/buffer.hpp"
#include "polychron/future.hpp"
#include "polychron/operand.hpp"
#include "polychron/options.hpp"

namespace polychron {

class Context;
class Graph;
class Tensor;

/// Validates operators, infers shapes and collects them for build().
///
/// Errors. Every method throws Error (type_error) for a wrong argument, with the operator's label
/// in square brackets, and Error (invalid_state) once build() was called, destroy() was called, or
/// the context is destroyed or lost. A method that throws leaves the builder as it was.
/// Thread-safety. A builder is used by one thread at a time; different builders are independent.
/// Source: https://www.w3.org/TR/webnn/#api-mlgraphbuilder
class GraphBuilder {
 public:
  /// An empty builder. Throws type_error (a default-constructed context), invalid_state (one that
  /// is destroyed or lost).
  explicit GraphBuilder(const Context& context);
  /// Movable only, as a graph has one builder. A moved-from builder throws invalid_state.
  GraphBuilder(GraphBuilder&&) = default;
  /// Drops its own graph, and takes over the other's.
  GraphBuilder& operator=(GraphBuilder&&) = default;
  /// The context that the graph is built for.
  Context context() const;
  /// The number of operators added so far, to bound untrusted input. 0 once built, destroyed or
  /// moved from.
  std::size_t operator_count() const noexcept;

  // -- inputs and constants ----------------------------------------------------------------------
  /// An input of the graph. Throws type_error for an empty or repeated name, and for a descriptor
  /// that create_tensor() refuses. https://www.w3.org/TR/webnn/#api-mlgraphbuilder-input
  Operand input(std::string name, const OperandDescriptor& descriptor);
  /// Copies `bytes`, which must be exactly the descriptor's byte length (else type_error).
  Operand constant(const OperandDescriptor& descriptor, std::span<const std::byte> bytes);
  /// Takes over `bytes`; the caller's Buffer is detached. Copies only if the address is not aligned
  /// for the elements.
  Operand constant(const OperandDescriptor& descriptor, Buffer&& bytes);
  /// A scalar: `value`, rounded to the nearest number of `type`.
  Operand constant(DataType type, Number value);
  /// The contents of a constant tensor, shared without a copy.
  Operand constant(const Tensor& constant_tensor);
  /// Copies an array, a vector or a span. Throws type_error if the elements are neither of the
  /// descriptor's type nor std::uint8_t.
  template <Elements R>
  Operand constant(const OperandDescriptor& descriptor, const R& values) {
    check_view(descriptor, data_type_v<element_t<R>>);
    return constant(descriptor, std::as_bytes(std::span(values)));
  }

  // -- any operator, by name ----------------------------------------------------------------------
  /// Adds the operator that the specification calls `name`. `operands` are in the specification's
  /// order; nullptr stands for an absent optional one. `attributes` are the operator's own;
  /// monostate means its defaults. For importers and bindings; each method below is one call of it.
  std::vector<Operand> apply(std::string_view name, std::span<const Operand* const> operands,
                             Attributes attributes = {}, const OperatorOptions& options = {});

  /// The options of operators without attributes: a label.
  using Plain = OperatorOptions;

  // -- element-wise -------------------------------------------------------------------------------
  Operand add(const Operand& a, const Operand& b, const Plain& o = {}) {
    return one("add", {&a, &b}, o);
  }
  Operand sub(const Operand& a, const Operand& b, const Plain& o = {}) {
    return one("sub", {&a, &b}, o);
  }
  Operand mul(const Operand& a, const Operand& b, const Plain& o = {}) {
    return one("mul", {&a, &b}, o);
  }
  Operand div(const Operand& a, const Operand& b, const Plain& o = {}) {
    return one("div", {&a, &b}, o);
  }
  Operand max(const Operand& a, const Operand& b, const Plain& o = {}) {
    return one("max", {&a, &b}, o);
  }
  Operand min(const Operand& a, const Operand& b, const Plain& o = {}) {
    return one("min", {&a, &b}, o);
  }
  Operand pow(const Operand& a, const Operand& b, const Plain& o = {}) {
    return one("pow", {&a, &b}, o);
  }
  Operand equal(const Operand& a, const Operand& b, const Plain& o = {}) {
    return one("equal", {&a, &b}, o);
  }
  Operand not_equal(const Operand& a, const Operand& b, const Plain& o = {}) {
    return one("notEqual", {&a, &b}, o);
  }
  Operand greater(const Operand& a, const Operand& b, const Plain& o = {}) {
    return one("greater", {&a, &b}, o);
  }
  Operand greater_or_equal(const Operand& a, const Operand& b, const Plain& o = {}) {
    return one("greaterOrEqual", {&a, &b}, o);
  }
  Operand lesser(const Operand& a, const Operand& b, const Plain& o = {}) {
    return one("lesser", {&a, &b}, o);
  }
  Operand lesser_or_equal(const Operand& a, const Operand& b, const Plain& o = {}) {
    return one("lesserOrEqual", {&a, &b}, o);
  }
  Operand logical_and(const Operand& a, const Operand& b, const Plain& o = {}) {
    return one("logicalAnd", {&a, &b}, o);
  }
  Operand logical_or(const Operand& a, const Operand& b, const Plain& o = {}) {
    return one("logicalOr", {&a, &b}, o);
  }
  Operand logical_xor(const Operand& a, const Operand& b, const Plain& o = {}) {
    return one("logicalXor", {&a, &b}, o);
  }
  Operand is_nan(const Operand& x, const Plain& o = {}) { return one("isNaN", {&x}, o); }
  Operand is_infinite(const Operand& x, const Plain& o = {}) { return one("isInfinite", {&x}, o); }
  Operand abs(const Operand& x, const Plain& o = {}) { return one("abs", {&x}, o); }
  Operand ceil(const Operand& x, const Plain& o = {}) { return one("ceil", {&x}, o); }
  Operand cos(const Operand& x, const Plain& o = {}) { return one("cos", {&x}, o); }
  Operand erf(const Operand& x, const Plain& o = {}) { return one("erf", {&x}, o); }
  Operand exp(const Operand& x, const Plain& o = {}) { return one("exp", {&x}, o); }
  Operand floor(const Operand& x, const Plain& o = {}) { return one("floor", {&x}, o); }
  Operand identity(const Operand& x, const Plain& o = {}) { return one("identity", {&x}, o); }
  Operand log(const Operand& x, const Plain& o = {}) { return one("log", {&x}, o); }
  Operand logical_not(const Operand& x, const Plain& o = {}) { return one("logicalNot", {&x}, o); }
  Operand neg(const Operand& x, const Plain& o = {}) { return one("neg", {&x}, o); }
  Operand reciprocal(const Operand& x, const Plain& o = {}) { return one("reciprocal", {&x}, o); }
  Operand round_even(const Operand& x, const Plain& o = {}) { return one("roundEven", {&x}, o); }
  Operand sign(const Operand& x, const Plain& o = {}) { return one("sign", {&x}, o); }
  Operand sin(const Operand& x, const Plain& o = {}) { return one("sin", {&x}, o); }
  Operand sqrt(const Operand& x, const Plain& o = {}) { return one("sqrt", {&x}, o); }
  Operand tan(const Operand& x, const Plain& o = {}) { return one("tan", {&x}, o); }
  Operand cast(const Operand& x, DataType type, const Plain& o = {}) {
    return one("cast", {&x}, CastAttributes{type}, o);
  }
  Operand where(const Operand& condition, const Operand& true_value, const Operand& false_value,
                const Plain& o = {}) {
    return one("where", {&condition, &true_value, &false_value}, o);
  }

  // -- activations --------------------------------------------------------------------------------
  Operand clamp(const Operand& x, const ClampOptions& o = {}) { return one("clamp", {&x}, o); }
  Operand elu(const Operand& x, const EluOptions& o = {}) { return one("elu", {&x}, o); }
  Operand gelu(const Operand& x, const Plain& o = {}) { return one("gelu", {&x}, o); }
  Operand hard_sigmoid(const Operand& x, const HardSigmoidOptions& o = {}) {
    return one("hardSigmoid", {&x}, o);
  }
  Operand hard_swish(const Operand& x, const Plain& o = {}) { return one("hardSwish", {&x}, o); }
  Operand leaky_relu(const Operand& x, const LeakyReluOptions& o = {}) {
    return one("leakyRelu", {&x}, o);
  }
  Operand linear(const Operand& x, const LinearOptions& o = {}) { return one("linear", {&x}, o); }
  Operand prelu(const Operand& x, const Operand& slope, const Plain& o = {}) {
    return one("prelu", {&x, &slope}, o);
  }
  Operand relu(const Operand& x, const Plain& o = {}) { return one("relu", {&x}, o); }
  Operand sigmoid(const Operand& x, const Plain& o = {}) { return one("sigmoid", {&x}, o); }
  Operand softmax(const Operand& x, std::uint32_t axis, const Plain& o = {}) {
    return one("softmax", {&x}, SoftmaxAttributes{axis}, o);
  }
  Operand softplus(const Operand& x, const Plain& o = {}) { return one("softplus", {&x}, o); }
  Operand softsign(const Operand& x, const Plain& o = {}) { return one("softsign", {&x}, o); }
  Operand tanh(const Operand& x, const Plain& o = {}) { return one("tanh", {&x}, o); }

  // -- matrices, convolution, pooling, resampling -------------------------------------------------
  Operand gemm(const Operand& a, const Operand& b, const GemmOptions& o = {}) {
    return one("gemm", {&a, &b, given(o.c)}, o);
  }
  Operand matmul(const Operand& a, const Operand& b, const Plain& o = {}) {
    return one("matmul", {&a, &b}, o);
  }
  Operand conv2d(const Operand& x, const Operand& filter, const Conv2dOptions& o = {}) {
    return one("conv2d", {&x, &filter, given(o.bias)}, o);
  }
  Operand conv_transpose2d(const Operand& x, const Operand& filter,
                           const ConvTranspose2dOptions& o = {}) {
    return one("convTranspose2d", {&x, &filter, given(o.bias)}, o);
  }
  Operand average_pool2d(const Operand& x, const Pool2dOptions& o = {}) {
    return one("averagePool2d", {&x}, o);
  }
  Operand l2_pool2d(const Operand& x, const Pool2dOptions& o = {}) {
    return one("l2Pool2d", {&x}, o);
  }
  Operand max_pool2d(const Operand& x, const Pool2dOptions& o = {}) {
    return one("maxPool2d", {&x}, o);
  }
  Operand resample2d(const Operand& x, const Resample2dOptions& o = {}) {
    return one("resample2d", {&x}, o);
  }

  // -- normalization and reduction ----------------------------------------------------------------
  Operand batch_normalization(const Operand& x, const Operand& mean, const Operand& variance,
                              const BatchNormalizationOptions& o = {}) {
    return one("batchNormalization", {&x, &mean, &variance, given(o.scale), given(o.bias)}, o);
  }
  Operand instance_normalization(const Operand& x, const InstanceNormalizationOptions& o = {}) {
    return one("instanceNormalization", {&x, given(o.scale), given(o.bias)}, o);
  }
  Operand layer_normalization(const Operand& x, const LayerNormalizationOptions& o = {}) {
    return one("layerNormalization", {&x, given(o.scale), given(o.bias)}, o);
  }
  Operand reduce_l1(const Operand& x, const ReduceOptions& o = {}) {
    return one("reduceL1", {&x}, o);
  }
  Operand reduce_l2(const Operand& x, const ReduceOptions& o = {}) {
    return one("reduceL2", {&x}, o);
  }
  Operand reduce_log_sum(const Operand& x, const ReduceOptions& o = {}) {
    return one("reduceLogSum", {&x}, o);
  }
  Operand reduce_log_sum_exp(const Operand& x, const ReduceOptions& o = {}) {
    return one("reduceLogSumExp", {&x}, o);
  }
  Operand reduce_max(const Operand& x, const ReduceOptions& o = {}) {
    return one("reduceMax", {&x}, o);
  }
  Operand reduce_mean(const Operand& x, const ReduceOptions& o = {}) {
    return one("reduceMean", {&x}, o);
  }
  Operand reduce_min(const Operand& x, const ReduceOptions& o = {}) {
    return one("reduceMin", {&x}, o);
  }
  Operand reduce_product(const Operand& x, const ReduceOptions& o = {}) {
    return one("reduceProduct", {&x}, o);
  }
  Operand reduce_sum(const Operand& x, const ReduceOptions& o = {}) {
    return one("reduceSum", {&x}, o);
  }
  Operand reduce_sum_square(const Operand& x, const ReduceOptions& o = {}) {
    return one("reduceSumSquare", {&x}, o);
  }
  Operand arg_min(const Operand& x, std::uint32_t axis, const ArgMinMaxOptions& o = {}) {
    return one("argMin", {&x}, ArgMinMaxAttributes{axis, o.keep_dimensions, o.output_data_type},
               {o.label});
  }
  Operand arg_max(const Operand& x, std::uint32_t axis, const ArgMinMaxOptions& o = {}) {
    return one("argMax", {&x}, ArgMinMaxAttributes{axis, o.keep_dimensions, o.output_data_type},
               {o.label});
  }
  Operand cumulative_sum(const Operand& x, std::uint32_t axis, const CumulativeSumOptions& o = {}) {
    return one("cumulativeSum", {&x}, CumulativeSumAttributes{axis, o.exclusive, o.reversed},
               {o.label});
  }
  /// Not in WebNN: strict contexts refuse it, and their op_support_limits() omit it. The result has
  /// the indices, as int64; gather_elements() gives the elements at them.
  Operand top_k(const Operand& x, std::uint32_t k, std::uint32_t axis, const TopKOptions& o = {}) {
    return one("topK", {&x}, TopKAttributes{k, axis, o.largest}, {o.label});
  }

  // -- movement and indexing ----------------------------------------------------------------------
  Operand concat(const std::vector<Operand>& inputs, std::uint32_t axis, const Plain& o = {}) {
    return std::move(apply("concat", addresses(inputs), ConcatAttributes{axis}, o).front());
  }
  Operand expand(const Operand& x, const Shape& new_shape, const Plain& o = {}) {
    return one("expand", {&x}, ExpandAttributes{new_shape}, o);
  }
  Operand gather(const Operand& x, const Operand& indices, const GatherOptions& o = {}) {
    return one("gather", {&x, &indices}, o);
  }
  Operand gather_elements(const Operand& x, const Operand& indices, const GatherOptions& o = {}) {
    return one("gatherElements", {&x, &indices}, o);
  }
  Operand gather_nd(const Operand& x, const Operand& indices, const Plain& o = {}) {
    return one("gatherND", {&x, &indices}, o);
  }
  Operand scatter_elements(const Operand& x, const Operand& indices, const Operand& updates,
                           const ScatterOptions& o = {}) {
    return one("scatterElements", {&x, &indices, &updates}, o);
  }
  Operand scatter_nd(const Operand& x, const Operand& indices, const Operand& updates,
                     const Plain& o = {}) {
    return one("scatterND", {&x, &indices, &updates}, o);
  }
  Operand pad(const Operand& x, const std::vector<std::uint32_t>& beginning_padding,
              const std::vector<std::uint32_t>& ending_padding, const PadOptions& o = {}) {
    return one("pad", {&x}, PadAttributes{beginning_padding, ending_padding, o.mode, o.value},
               {o.label});
  }
  Operand reshape(const Operand& x, const Shape& new_shape, const Plain& o = {}) {
    return one("reshape", {&x}, ReshapeAttributes{new_shape}, o);
  }
  Operand reverse(const Operand& x, const ReverseOptions& o = {}) {
    return one("reverse", {&x}, o);
  }
  Operand slice(const Operand& x, const std::vector<std::uint32_t>& starts,
                const std::vector<std::uint32_t>& sizes, const SliceOptions& o = {}) {
    return one("slice", {&x}, SliceAttributes{starts, sizes, o.strides}, {o.label});
  }
  /// This overload makes `parts` equal parts.
  std::vector<Operand> split(const Operand& x, std::uint32_t parts, const SplitOptions& o = {}) {
    return apply("split", std::vector{&x}, SplitAttributes{{parts}, true, o.axis}, {o.label});
  }
  /// This overload makes one part of each given size.
  std::vector<Operand> split(const Operand& x, const std::vector<std::uint32_t>& sizes,
                             const SplitOptions& o = {}) {
    return apply("split", std::vector{&x}, SplitAttributes{sizes, false, o.axis}, {o.label});
  }
  Operand tile(const Operand& x, const std::vector<std::uint32_t>& repetitions,
               const Plain& o = {}) {
    return one("tile", {&x}, TileAttributes{repetitions}, o);
  }
  Operand transpose(const Operand& x, const TransposeOptions& o = {}) {
    return one("transpose", {&x}, o);
  }
  Operand triangular(const Operand& x, const TriangularOptions& o = {}) {
    return one("triangular", {&x}, o);
  }

  // -- quantization -------------------------------------------------------------------------------
  Operand quantize_linear(const Operand& x, const Operand& scale, const Operand& zero_point,
                          const Plain& o = {}) {
    return one("quantizeLinear", {&x, &scale, &zero_point}, o);
  }
  Operand dequantize_linear(const Operand& x, const Operand& scale, const Operand& zero_point,
                            const Plain& o = {}) {
    return one("dequantizeLinear", {&x, &scale, &zero_point}, o);
  }

  // -- recurrent networks -------------------------------------------------------------------------
  std::vector<Operand> gru(const Operand& x, const Operand& weight, const Operand& recurrent_weight,
                           std::uint32_t steps, std::uint32_t hidden_size,
                           const GruOptions& o = {}) {
    return apply("gru",
                 std::vector{&x, &weight, &recurrent_weight, given(o.bias), given(o.recurrent_bias),
                             given(o.initial_hidden_state)},
                 o.attributes(steps, hidden_size), {o.label});
  }
  Operand gru_cell(const Operand& x, const Operand& weight, const Operand& recurrent_weight,
                   const Operand& hidden_state, std::uint32_t hidden_size,
                   const GruCellOptions& o = {}) {
    return one(
        "gruCell",
        {&x, &weight, &recurrent_weight, &hidden_state, given(o.bias), given(o.recurrent_bias)},
        o.attributes(hidden_size), {o.label});
  }
  std::vector<Operand> lstm(const Operand& x, const Operand& weight,
                            const Operand& recurrent_weight, std::uint32_t steps,
                            std::uint32_t hidden_size, const LstmOptions& o = {}) {
    return apply("lstm",
                 std::vector{&x, &weight, &recurrent_weight, given(o.bias), given(o.recurrent_bias),
                             given(o.peephole_weight), given(o.initial_hidden_state),
                             given(o.initial_cell_state)},
                 o.attributes(steps, hidden_size), {o.label});
  }
  std::vector<Operand> lstm_cell(const Operand& x, const Operand& weight,
                                 const Operand& recurrent_weight, const Operand& hidden_state,
                                 const Operand& cell_state, std::uint32_t hidden_size,
                                 const LstmCellOptions& o = {}) {
    return apply("lstmCell",
                 std::vector{&x, &weight, &recurrent_weight, &hidden_state, &cell_state,
                             given(o.bias), given(o.recurrent_bias), given(o.peephole_weight)},
                 o.attributes(hidden_size), {o.label});
  }

  /// Compiles the graph that computes `outputs`. Rejects with type_error (no outputs, an empty
  /// name, an input or constant as output, another builder's operand) and leaves the builder
  /// usable. Once accepted, the builder refuses every further call.
  Future<Graph> build(const NamedOperands& outputs, const BuildOptions& options);
  /// With default BuildOptions.
  Future<Graph> build(const NamedOperands& outputs);
#ifdef POLYCHRON_NO_BRACES_IN_CO_AWAIT
  /// The overload for braced arguments: see FutureOfBraces.
  FutureOfBraces<Graph> build(const NamedOperands& outputs, BuildOptions&& options) {
    return build(outputs, std::as_const(options));
  }
#endif

  /// Frees the constants and refuses every further call. Idempotent.
  void destroy();

 private:
  using Operands = std::initializer_list<const Operand*>;
  /// apply(), for operators with one result.
  Operand one(std::string_view name, Operands operands, Attributes attributes, const Plain& o) {
    const std::span<const Operand* const> span(operands.begin(), operands.size());
    return std::move(apply(name, span, std::move(attributes), o).front());
  }
  Operand one(std::string_view name, Operands operands, const Plain& o) {
    return one(name, operands, Attributes{}, o);
  }
  template <class O>
  requires requires(const O& o) { Attributes(o.attributes()); }
  Operand one(std::string_view name, Operands operands, const O& o) {
    return one(name, operands, Attributes(o.attributes()), Plain{o.label});
  }
  static const Operand* given(const std::optional<Operand>& x) { return x ? &*x : nullptr; }
  static std::vector<const Operand*> addresses(std::span<const Operand> operands);
  static void check_view(const OperandDescriptor& descriptor, DataType view);
  std::shared_ptr<detail::BuilderState> state_;
};

}  // namespace polychron
