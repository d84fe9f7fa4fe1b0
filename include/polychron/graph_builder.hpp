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

#include "polychron/attributes.hpp"
#include "polychron/braces.hpp"
#include "polychron/buffer.hpp"
#include "polychron/future.hpp"
#include "polychron/operand.hpp"

namespace polychron {

class Context;
class Graph;
class Tensor;

/// Options of GraphBuilder::build().
struct BuildOptions {
  std::string label{};  ///< of the resulting graph
  /// With dynamic dimensions: for how many sets of shapes the graph stays compiled, 1 or more.
  std::size_t most_shapes = 64;
};

/// Validates operators, infers shapes and collects them for build().
///
/// Errors. Every method throws Error (type_error) for a wrong argument, with the operator's label
/// in square brackets, and Error (invalid_state) once build() was called, destroy() was called, or
/// the context is destroyed or lost. A method that throws leaves the builder as it was.
/// Attributes. Methods take operands, attributes, optional operands and a label, in this order. The
/// attributes are one struct. An operator's only attribute, if it is required, is a plain argument,
/// and so are those of split().
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
  /// An input with dynamic dimensions, which each dispatch decides by its tensors: `{"sequence",
  /// 64}`. Then dimensions of results may be dynamic, and checks that need their sizes come with
  /// the dispatch. The context needs the feature "dynamic-dimensions"
  /// (ContextOptions::features), else not_supported. Throws type_error as input() does, for an
  /// empty name of a dimension, and for a name with two bounds.
  Operand dynamic_input(std::string name, const InputDescriptor& descriptor);
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

  /// An operator's label, in every message about it; empty: none.
  using Label = std::string_view;

  // -- any operator, by name ----------------------------------------------------------------------
  /// Adds the operator that the specification calls `name`. `operands` are in the specification's
  /// order; nullptr stands for an absent optional one. `attributes` are the operator's own;
  /// monostate means its defaults. For importers and bindings; each method below is one call of it.
  std::vector<Operand> apply(std::string_view name, std::span<const Operand* const> operands,
                             Attributes attributes = {}, Label label = {});

  // -- element-wise -------------------------------------------------------------------------------
  Operand add(const Operand& a, const Operand& b, Label label = {}) {
    return one("add", {&a, &b}, label);
  }
  Operand sub(const Operand& a, const Operand& b, Label label = {}) {
    return one("sub", {&a, &b}, label);
  }
  Operand mul(const Operand& a, const Operand& b, Label label = {}) {
    return one("mul", {&a, &b}, label);
  }
  Operand div(const Operand& a, const Operand& b, Label label = {}) {
    return one("div", {&a, &b}, label);
  }
  Operand max(const Operand& a, const Operand& b, Label label = {}) {
    return one("max", {&a, &b}, label);
  }
  Operand min(const Operand& a, const Operand& b, Label label = {}) {
    return one("min", {&a, &b}, label);
  }
  Operand pow(const Operand& a, const Operand& b, Label label = {}) {
    return one("pow", {&a, &b}, label);
  }
  Operand equal(const Operand& a, const Operand& b, Label label = {}) {
    return one("equal", {&a, &b}, label);
  }
  Operand not_equal(const Operand& a, const Operand& b, Label label = {}) {
    return one("notEqual", {&a, &b}, label);
  }
  Operand greater(const Operand& a, const Operand& b, Label label = {}) {
    return one("greater", {&a, &b}, label);
  }
  Operand greater_or_equal(const Operand& a, const Operand& b, Label label = {}) {
    return one("greaterOrEqual", {&a, &b}, label);
  }
  Operand lesser(const Operand& a, const Operand& b, Label label = {}) {
    return one("lesser", {&a, &b}, label);
  }
  Operand lesser_or_equal(const Operand& a, const Operand& b, Label label = {}) {
    return one("lesserOrEqual", {&a, &b}, label);
  }
  Operand logical_and(const Operand& a, const Operand& b, Label label = {}) {
    return one("logicalAnd", {&a, &b}, label);
  }
  Operand logical_or(const Operand& a, const Operand& b, Label label = {}) {
    return one("logicalOr", {&a, &b}, label);
  }
  Operand logical_xor(const Operand& a, const Operand& b, Label label = {}) {
    return one("logicalXor", {&a, &b}, label);
  }
  Operand is_nan(const Operand& x, Label label = {}) { return one("isNaN", {&x}, label); }
  Operand is_infinite(const Operand& x, Label label = {}) { return one("isInfinite", {&x}, label); }
  Operand abs(const Operand& x, Label label = {}) { return one("abs", {&x}, label); }
  Operand ceil(const Operand& x, Label label = {}) { return one("ceil", {&x}, label); }
  Operand cos(const Operand& x, Label label = {}) { return one("cos", {&x}, label); }
  Operand erf(const Operand& x, Label label = {}) { return one("erf", {&x}, label); }
  Operand exp(const Operand& x, Label label = {}) { return one("exp", {&x}, label); }
  Operand floor(const Operand& x, Label label = {}) { return one("floor", {&x}, label); }
  Operand identity(const Operand& x, Label label = {}) { return one("identity", {&x}, label); }
  Operand log(const Operand& x, Label label = {}) { return one("log", {&x}, label); }
  Operand logical_not(const Operand& x, Label label = {}) { return one("logicalNot", {&x}, label); }
  Operand neg(const Operand& x, Label label = {}) { return one("neg", {&x}, label); }
  Operand reciprocal(const Operand& x, Label label = {}) { return one("reciprocal", {&x}, label); }
  Operand round_even(const Operand& x, Label label = {}) { return one("roundEven", {&x}, label); }
  Operand sign(const Operand& x, Label label = {}) { return one("sign", {&x}, label); }
  Operand sin(const Operand& x, Label label = {}) { return one("sin", {&x}, label); }
  Operand sqrt(const Operand& x, Label label = {}) { return one("sqrt", {&x}, label); }
  Operand tan(const Operand& x, Label label = {}) { return one("tan", {&x}, label); }
  Operand cast(const Operand& x, DataType type, Label label = {}) {
    return one("cast", {&x}, CastAttributes{type}, label);
  }
  Operand where(const Operand& condition, const Operand& true_value, const Operand& false_value,
                Label label = {}) {
    return one("where", {&condition, &true_value, &false_value}, label);
  }

  // -- activations --------------------------------------------------------------------------------
  Operand clamp(const Operand& x, const ClampAttributes& attributes = {}, Label label = {}) {
    return one("clamp", {&x}, attributes, label);
  }
  Operand elu(const Operand& x, const EluAttributes& attributes = {}, Label label = {}) {
    return one("elu", {&x}, attributes, label);
  }
  Operand gelu(const Operand& x, Label label = {}) { return one("gelu", {&x}, label); }
  Operand hard_sigmoid(const Operand& x, const HardSigmoidAttributes& attributes = {},
                       Label label = {}) {
    return one("hardSigmoid", {&x}, attributes, label);
  }
  Operand hard_swish(const Operand& x, Label label = {}) { return one("hardSwish", {&x}, label); }
  Operand leaky_relu(const Operand& x, const LeakyReluAttributes& attributes = {},
                     Label label = {}) {
    return one("leakyRelu", {&x}, attributes, label);
  }
  Operand linear(const Operand& x, const LinearAttributes& attributes = {}, Label label = {}) {
    return one("linear", {&x}, attributes, label);
  }
  Operand prelu(const Operand& x, const Operand& slope, Label label = {}) {
    return one("prelu", {&x, &slope}, label);
  }
  Operand relu(const Operand& x, Label label = {}) { return one("relu", {&x}, label); }
  Operand sigmoid(const Operand& x, Label label = {}) { return one("sigmoid", {&x}, label); }
  Operand softmax(const Operand& x, std::uint32_t axis, Label label = {}) {
    return one("softmax", {&x}, SoftmaxAttributes{axis}, label);
  }
  Operand softplus(const Operand& x, Label label = {}) { return one("softplus", {&x}, label); }
  Operand softsign(const Operand& x, Label label = {}) { return one("softsign", {&x}, label); }
  Operand tanh(const Operand& x, Label label = {}) { return one("tanh", {&x}, label); }

  // -- matrices, convolution, pooling, resampling -------------------------------------------------
  /// `c` broadcasts to the product; absent: 0.
  Operand gemm(const Operand& a, const Operand& b, const GemmAttributes& attributes = {},
               const std::optional<Operand>& c = {}, Label label = {}) {
    return one("gemm", {&a, &b, given(c)}, attributes, label);
  }
  Operand matmul(const Operand& a, const Operand& b, Label label = {}) {
    return one("matmul", {&a, &b}, label);
  }
  /// `bias` is [output channels]; absent: 0.
  Operand conv2d(const Operand& x, const Operand& filter, const Conv2dAttributes& attributes = {},
                 const std::optional<Operand>& bias = {}, Label label = {}) {
    return one("conv2d", {&x, &filter, given(bias)}, attributes, label);
  }
  /// `bias` is [output channels]; absent: 0.
  Operand conv_transpose2d(const Operand& x, const Operand& filter,
                           const ConvTranspose2dAttributes& attributes = {},
                           const std::optional<Operand>& bias = {}, Label label = {}) {
    return one("convTranspose2d", {&x, &filter, given(bias)}, attributes, label);
  }
  Operand average_pool2d(const Operand& x, const Pool2dAttributes& attributes = {},
                         Label label = {}) {
    return one("averagePool2d", {&x}, attributes, label);
  }
  Operand l2_pool2d(const Operand& x, const Pool2dAttributes& attributes = {}, Label label = {}) {
    return one("l2Pool2d", {&x}, attributes, label);
  }
  Operand max_pool2d(const Operand& x, const Pool2dAttributes& attributes = {}, Label label = {}) {
    return one("maxPool2d", {&x}, attributes, label);
  }
  Operand resample2d(const Operand& x, const Resample2dAttributes& attributes = {},
                     Label label = {}) {
    return one("resample2d", {&x}, attributes, label);
  }

  // -- normalization and reduction ----------------------------------------------------------------
  Operand batch_normalization(const Operand& x, const Operand& mean, const Operand& variance,
                              const BatchNormalizationAttributes& attributes = {},
                              const ScaleAndBias& operands = {}, Label label = {}) {
    return one("batchNormalization",
               {&x, &mean, &variance, given(operands.scale), given(operands.bias)}, attributes,
               label);
  }
  Operand instance_normalization(const Operand& x,
                                 const InstanceNormalizationAttributes& attributes = {},
                                 const ScaleAndBias& operands = {}, Label label = {}) {
    return one("instanceNormalization", {&x, given(operands.scale), given(operands.bias)},
               attributes, label);
  }
  Operand layer_normalization(const Operand& x, const LayerNormalizationAttributes& attributes = {},
                              const ScaleAndBias& operands = {}, Label label = {}) {
    return one("layerNormalization", {&x, given(operands.scale), given(operands.bias)}, attributes,
               label);
  }
  Operand reduce_l1(const Operand& x, const ReduceAttributes& attributes = {}, Label label = {}) {
    return one("reduceL1", {&x}, attributes, label);
  }
  Operand reduce_l2(const Operand& x, const ReduceAttributes& attributes = {}, Label label = {}) {
    return one("reduceL2", {&x}, attributes, label);
  }
  Operand reduce_log_sum(const Operand& x, const ReduceAttributes& attributes = {},
                         Label label = {}) {
    return one("reduceLogSum", {&x}, attributes, label);
  }
  Operand reduce_log_sum_exp(const Operand& x, const ReduceAttributes& attributes = {},
                             Label label = {}) {
    return one("reduceLogSumExp", {&x}, attributes, label);
  }
  Operand reduce_max(const Operand& x, const ReduceAttributes& attributes = {}, Label label = {}) {
    return one("reduceMax", {&x}, attributes, label);
  }
  Operand reduce_mean(const Operand& x, const ReduceAttributes& attributes = {}, Label label = {}) {
    return one("reduceMean", {&x}, attributes, label);
  }
  Operand reduce_min(const Operand& x, const ReduceAttributes& attributes = {}, Label label = {}) {
    return one("reduceMin", {&x}, attributes, label);
  }
  Operand reduce_product(const Operand& x, const ReduceAttributes& attributes = {},
                         Label label = {}) {
    return one("reduceProduct", {&x}, attributes, label);
  }
  Operand reduce_sum(const Operand& x, const ReduceAttributes& attributes = {}, Label label = {}) {
    return one("reduceSum", {&x}, attributes, label);
  }
  Operand reduce_sum_square(const Operand& x, const ReduceAttributes& attributes = {},
                            Label label = {}) {
    return one("reduceSumSquare", {&x}, attributes, label);
  }
  Operand arg_min(const Operand& x, const ArgMinMaxAttributes& attributes, Label label = {}) {
    return one("argMin", {&x}, attributes, label);
  }
  Operand arg_max(const Operand& x, const ArgMinMaxAttributes& attributes, Label label = {}) {
    return one("argMax", {&x}, attributes, label);
  }
  Operand cumulative_sum(const Operand& x, const CumulativeSumAttributes& attributes,
                         Label label = {}) {
    return one("cumulativeSum", {&x}, attributes, label);
  }
  /// Not in WebNN: strict contexts refuse it, and their op_support_limits() omit it. The result has
  /// the indices, as int64; gather_elements() gives the elements at them.
  Operand top_k(const Operand& x, const TopKAttributes& attributes, Label label = {}) {
    return one("topK", {&x}, attributes, label);
  }

  // -- movement and indexing ----------------------------------------------------------------------
  Operand concat(const std::vector<Operand>& inputs, std::uint32_t axis, Label label = {}) {
    return detail::with_errors([&] {
      return std::move(apply("concat", addresses(inputs), ConcatAttributes{axis}, label).front());
    });
  }
  Operand expand(const Operand& x, const Shape& new_shape, Label label = {}) {
    return detail::with_errors(
        [&] { return one("expand", {&x}, ExpandAttributes{new_shape}, label); });
  }
  Operand gather(const Operand& x, const Operand& indices, const GatherAttributes& attributes = {},
                 Label label = {}) {
    return one("gather", {&x, &indices}, attributes, label);
  }
  Operand gather_elements(const Operand& x, const Operand& indices,
                          const GatherAttributes& attributes = {}, Label label = {}) {
    return one("gatherElements", {&x, &indices}, attributes, label);
  }
  Operand gather_nd(const Operand& x, const Operand& indices, Label label = {}) {
    return one("gatherND", {&x, &indices}, label);
  }
  Operand scatter_elements(const Operand& x, const Operand& indices, const Operand& updates,
                           const ScatterAttributes& attributes = {}, Label label = {}) {
    return one("scatterElements", {&x, &indices, &updates}, attributes, label);
  }
  Operand scatter_nd(const Operand& x, const Operand& indices, const Operand& updates,
                     Label label = {}) {
    return one("scatterND", {&x, &indices, &updates}, label);
  }
  /// Not in WebNN: strict contexts refuse it, and their op_support_limits() omit it. Any number of
  /// updates may meet one element: they change it in the order of the indices.
  Operand scatter_reduce(const Operand& x, const Operand& indices, const Operand& updates,
                         const ScatterReduceAttributes& attributes = {}, Label label = {}) {
    return one("scatterReduce", {&x, &indices, &updates}, attributes, label);
  }
  Operand pad(const Operand& x, const PadAttributes& attributes, Label label = {}) {
    return one("pad", {&x}, attributes, label);
  }
  Operand reshape(const Operand& x, const Shape& new_shape, Label label = {}) {
    return detail::with_errors(
        [&] { return one("reshape", {&x}, ReshapeAttributes{new_shape}, label); });
  }
  /// reshape() to sizes and to dynamic dimensions of `x`, by name: `{1, "sequence", 8, 64}`. Throws
  /// type_error for another name.
  Operand dynamic_reshape(const Operand& x, const std::vector<Dimension>& new_shape,
                          Label label = {});
  Operand reverse(const Operand& x, const ReverseAttributes& attributes = {}, Label label = {}) {
    return one("reverse", {&x}, attributes, label);
  }
  Operand slice(const Operand& x, const SliceAttributes& attributes, Label label = {}) {
    return one("slice", {&x}, attributes, label);
  }
  /// This overload makes `parts` equal parts.
  std::vector<Operand> split(const Operand& x, std::uint32_t parts, std::uint32_t axis = 0,
                             Label label = {}) {
    return detail::with_errors([&] {
      return several("split", {&x}, SplitAttributes{{parts}, true, axis}, label);
    });
  }
  /// This overload makes one part of each given size.
  std::vector<Operand> split(const Operand& x, const std::vector<std::uint32_t>& sizes,
                             std::uint32_t axis = 0, Label label = {}) {
    return detail::with_errors([&] {
      return several("split", {&x}, SplitAttributes{sizes, false, axis}, label);
    });
  }
  /// This overload takes the sizes in braces, also one alone.
  std::vector<Operand> split(const Operand& x, std::initializer_list<std::uint32_t> sizes,
                             std::uint32_t axis = 0, Label label = {}) {
    return detail::with_errors([&] {
      return several("split", {&x}, SplitAttributes{sizes, false, axis}, label);
    });
  }
  Operand tile(const Operand& x, const std::vector<std::uint32_t>& repetitions, Label label = {}) {
    return detail::with_errors(
        [&] { return one("tile", {&x}, TileAttributes{repetitions}, label); });
  }
  Operand transpose(const Operand& x, const TransposeAttributes& attributes = {},
                    Label label = {}) {
    return one("transpose", {&x}, attributes, label);
  }
  Operand triangular(const Operand& x, const TriangularAttributes& attributes = {},
                     Label label = {}) {
    return one("triangular", {&x}, attributes, label);
  }

  // -- quantization -------------------------------------------------------------------------------
  Operand quantize_linear(const Operand& x, const Operand& scale, const Operand& zero_point,
                          Label label = {}) {
    return one("quantizeLinear", {&x, &scale, &zero_point}, label);
  }
  Operand dequantize_linear(const Operand& x, const Operand& scale, const Operand& zero_point,
                            Label label = {}) {
    return one("dequantizeLinear", {&x, &scale, &zero_point}, label);
  }

  // -- recurrent networks -------------------------------------------------------------------------
  std::vector<Operand> gru(const Operand& x, const Operand& weight, const Operand& recurrent_weight,
                           const GruAttributes& attributes, const GruOperands& operands = {},
                           Label label = {}) {
    return several("gru",
                   {&x, &weight, &recurrent_weight, given(operands.bias),
                    given(operands.recurrent_bias), given(operands.initial_hidden_state)},
                   attributes, label);
  }
  Operand gru_cell(const Operand& x, const Operand& weight, const Operand& recurrent_weight,
                   const Operand& hidden_state, const GruCellAttributes& attributes,
                   const GruCellOperands& operands = {}, Label label = {}) {
    return one("gruCell",
               {&x, &weight, &recurrent_weight, &hidden_state, given(operands.bias),
                given(operands.recurrent_bias)},
               attributes, label);
  }
  std::vector<Operand> lstm(const Operand& x, const Operand& weight,
                            const Operand& recurrent_weight, const LstmAttributes& attributes,
                            const LstmOperands& operands = {}, Label label = {}) {
    return several("lstm",
                   {&x, &weight, &recurrent_weight, given(operands.bias),
                    given(operands.recurrent_bias), given(operands.peephole_weight),
                    given(operands.initial_hidden_state), given(operands.initial_cell_state)},
                   attributes, label);
  }
  std::vector<Operand> lstm_cell(const Operand& x, const Operand& weight,
                                 const Operand& recurrent_weight, const Operand& hidden_state,
                                 const Operand& cell_state, const LstmCellAttributes& attributes,
                                 const LstmCellOperands& operands = {}, Label label = {}) {
    return several(
        "lstmCell",
        {&x, &weight, &recurrent_weight, &hidden_state, &cell_state, given(operands.bias),
         given(operands.recurrent_bias), given(operands.peephole_weight)},
        attributes, label);
  }

  /// Compiles the graph that computes `outputs`. Rejects with type_error (no outputs, an empty
  /// name, an input or constant as output, another builder's operand) and leaves the builder
  /// usable. Once accepted, the builder refuses every further call.
  template <ArgumentOf<BuildOptions> Options = BuildOptions>
  FutureFrom<Graph, Options> build(const NamedOperands& outputs, Options&& options) {
    return build_with(outputs, options);
  }
  /// With default BuildOptions.
  Future<Graph> build(const NamedOperands& outputs);

  /// Frees the constants and refuses every further call. Idempotent.
  void destroy();

 private:
  Future<Graph> build_with(const NamedOperands& outputs, const BuildOptions& options);
  using Operands = std::initializer_list<const Operand*>;
  /// apply(), for a list of operands.
  template <class A>
  std::vector<Operand> several(std::string_view name, Operands operands, const A& attributes,
                               Label label) {
    const std::span<const Operand* const> span(operands.begin(), operands.size());
    return detail::with_errors([&] { return apply(name, span, attributes, label); });
  }
  /// The same, for operators with one result.
  template <class A>
  Operand one(std::string_view name, Operands operands, const A& attributes, Label label) {
    return std::move(several(name, operands, attributes, label).front());
  }
  Operand one(std::string_view name, Operands operands, Label label) {
    return one(name, operands, Attributes{}, label);
  }
  static const Operand* given(const std::optional<Operand>& x) { return x ? &*x : nullptr; }
  static std::vector<const Operand*> addresses(std::span<const Operand> operands);
  static void check_view(const OperandDescriptor& descriptor, DataType view);
  std::shared_ptr<detail::BuilderState> state_;
};

}  // namespace polychron
