// Building graphs (WebNN: MLGraphBuilder). A plain value on the caller's side; nothing in it is
// shared.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
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

/// WebNN's MLNamedOperands: the outputs of a graph by name, in the order they shall have.
using NamedOperands = std::vector<std::pair<std::string, Operand>>;

struct BuildOptions {
  std::string label;  ///< of the resulting graph
};

/// Validates operators, infers shapes and collects them for build().
///
/// Errors. Every method throws Error (type_error) for a wrong argument, with the operator's label
/// in square brackets, and Error (invalid_state) once build() was called, destroy() was called, or
/// the context is destroyed or lost. A method that throws leaves the builder as it was.
/// Thread-safety. A builder is used by one thread at a time; different builders are independent.
/// Source: https://www.w3.org/TR/webnn/#api-mlgraphbuilder
class GraphBuilder {
 public:
  explicit GraphBuilder(const Context& context);

  // -- inputs and constants ----------------------------------------------------------------------
  Operand input(std::string name, const OperandDescriptor& descriptor);
  /// Copies `bytes`, which must be exactly the descriptor's byte length.
  Operand constant(const OperandDescriptor& descriptor, std::span<const std::byte> bytes);
  /// Takes `bytes` without a copy; the caller's Buffer is detached.
  Operand constant(const OperandDescriptor& descriptor, Buffer&& bytes);
  /// A scalar.
  Operand constant(DataType type, Number value);
  /// The contents of a constant tensor, shared, not copied.
  Operand constant(const Tensor& constant_tensor);
  /// Copies typed values; type_error if T is not the descriptor's type.
  template <Element T>
  Operand constant(const OperandDescriptor& descriptor, std::span<const T> values) {
    check_view(descriptor, data_type_v<T>);
    return constant(descriptor, std::as_bytes(values));
  }
  template <Element T>
  Operand constant(const OperandDescriptor& descriptor, const std::vector<T>& values) {
    return constant(descriptor, std::span<const T>(values));
  }

  // -- element-wise, two operands ----------------------------------------------------------------
  Operand add(const Operand& a, const Operand& b, const OperatorOptions& options = {});
  Operand sub(const Operand& a, const Operand& b, const OperatorOptions& options = {});
  Operand mul(const Operand& a, const Operand& b, const OperatorOptions& options = {});
  Operand div(const Operand& a, const Operand& b, const OperatorOptions& options = {});
  Operand max(const Operand& a, const Operand& b, const OperatorOptions& options = {});
  Operand min(const Operand& a, const Operand& b, const OperatorOptions& options = {});
  Operand pow(const Operand& a, const Operand& b, const OperatorOptions& options = {});
  Operand equal(const Operand& a, const Operand& b, const OperatorOptions& options = {});
  Operand not_equal(const Operand& a, const Operand& b, const OperatorOptions& options = {});
  Operand greater(const Operand& a, const Operand& b, const OperatorOptions& options = {});
  Operand greater_or_equal(const Operand& a, const Operand& b, const OperatorOptions& options = {});
  Operand lesser(const Operand& a, const Operand& b, const OperatorOptions& options = {});
  Operand lesser_or_equal(const Operand& a, const Operand& b, const OperatorOptions& options = {});
  Operand logical_and(const Operand& a, const Operand& b, const OperatorOptions& options = {});
  Operand logical_or(const Operand& a, const Operand& b, const OperatorOptions& options = {});
  Operand logical_xor(const Operand& a, const Operand& b, const OperatorOptions& options = {});
  Operand prelu(const Operand& input, const Operand& slope, const OperatorOptions& options = {});

  // -- element-wise, one operand -----------------------------------------------------------------
  Operand abs(const Operand& input, const OperatorOptions& options = {});
  Operand ceil(const Operand& input, const OperatorOptions& options = {});
  Operand cos(const Operand& input, const OperatorOptions& options = {});
  Operand erf(const Operand& input, const OperatorOptions& options = {});
  Operand exp(const Operand& input, const OperatorOptions& options = {});
  Operand floor(const Operand& input, const OperatorOptions& options = {});
  Operand identity(const Operand& input, const OperatorOptions& options = {});
  Operand log(const Operand& input, const OperatorOptions& options = {});
  Operand logical_not(const Operand& a, const OperatorOptions& options = {});
  Operand neg(const Operand& input, const OperatorOptions& options = {});
  Operand reciprocal(const Operand& input, const OperatorOptions& options = {});
  Operand round_even(const Operand& input, const OperatorOptions& options = {});
  Operand sign(const Operand& input, const OperatorOptions& options = {});
  Operand sin(const Operand& input, const OperatorOptions& options = {});
  Operand sqrt(const Operand& input, const OperatorOptions& options = {});
  Operand tan(const Operand& input, const OperatorOptions& options = {});
  Operand cast(const Operand& input, DataType type, const OperatorOptions& options = {});

  // -- activations -------------------------------------------------------------------------------
  Operand clamp(const Operand& input, const ClampOptions& options = {});
  Operand elu(const Operand& input, const EluOptions& options = {});
  Operand gelu(const Operand& input, const OperatorOptions& options = {});
  Operand hard_sigmoid(const Operand& input, const HardSigmoidOptions& options = {});
  Operand hard_swish(const Operand& input, const OperatorOptions& options = {});
  Operand leaky_relu(const Operand& input, const LeakyReluOptions& options = {});
  Operand linear(const Operand& input, const LinearOptions& options = {});
  Operand relu(const Operand& input, const OperatorOptions& options = {});
  Operand sigmoid(const Operand& input, const OperatorOptions& options = {});
  Operand softmax(const Operand& input, std::uint32_t axis, const OperatorOptions& options = {});
  Operand softplus(const Operand& input, const OperatorOptions& options = {});
  Operand softsign(const Operand& input, const OperatorOptions& options = {});
  Operand tanh(const Operand& input, const OperatorOptions& options = {});

  // -- matrices, convolution, pooling, resampling ------------------------------------------------
  Operand conv2d(const Operand& input, const Operand& filter, const Conv2dOptions& options = {});
  Operand conv_transpose2d(const Operand& input, const Operand& filter,
                           const ConvTranspose2dOptions& options = {});
  Operand gemm(const Operand& a, const Operand& b, const GemmOptions& options = {});
  Operand matmul(const Operand& a, const Operand& b, const OperatorOptions& options = {});
  Operand average_pool2d(const Operand& input, const Pool2dOptions& options = {});
  Operand max_pool2d(const Operand& input, const Pool2dOptions& options = {});
  Operand resample2d(const Operand& input, const Resample2dOptions& options = {});

  // -- normalisation and reduction ---------------------------------------------------------------
  Operand batch_normalization(const Operand& input, const Operand& mean, const Operand& variance,
                              const BatchNormalizationOptions& options = {});
  Operand instance_normalization(const Operand& input,
                                 const InstanceNormalizationOptions& options = {});
  Operand layer_normalization(const Operand& input, const LayerNormalizationOptions& options = {});
  Operand reduce_l1(const Operand& input, const ReduceOptions& options = {});
  Operand reduce_l2(const Operand& input, const ReduceOptions& options = {});
  Operand reduce_log_sum(const Operand& input, const ReduceOptions& options = {});
  Operand reduce_log_sum_exp(const Operand& input, const ReduceOptions& options = {});
  Operand reduce_max(const Operand& input, const ReduceOptions& options = {});
  Operand reduce_mean(const Operand& input, const ReduceOptions& options = {});
  Operand reduce_min(const Operand& input, const ReduceOptions& options = {});
  Operand reduce_product(const Operand& input, const ReduceOptions& options = {});
  Operand reduce_sum(const Operand& input, const ReduceOptions& options = {});
  Operand reduce_sum_square(const Operand& input, const ReduceOptions& options = {});

  // -- shape and data movement -------------------------------------------------------------------
  Operand concat(const std::vector<Operand>& inputs, std::uint32_t axis,
                 const OperatorOptions& options = {});
  Operand expand(const Operand& input, const Shape& new_shape, const OperatorOptions& options = {});
  Operand gather(const Operand& input, const Operand& indices, const GatherOptions& options = {});
  Operand pad(const Operand& input, const std::vector<std::uint32_t>& beginning_padding,
              const std::vector<std::uint32_t>& ending_padding, const PadOptions& options = {});
  Operand reshape(const Operand& input, const Shape& new_shape,
                  const OperatorOptions& options = {});
  Operand slice(const Operand& input, const std::vector<std::uint32_t>& starts,
                const std::vector<std::uint32_t>& sizes, const SliceOptions& options = {});
  /// Into `parts` equal parts.
  std::vector<Operand> split(const Operand& input, std::uint32_t parts,
                             const SplitOptions& options = {});
  /// Into parts of the given sizes.
  std::vector<Operand> split(const Operand& input, const std::vector<std::uint32_t>& sizes,
                             const SplitOptions& options = {});
  Operand transpose(const Operand& input, const TransposeOptions& options = {});
  Operand where(const Operand& condition, const Operand& true_value, const Operand& false_value,
                const OperatorOptions& options = {});

  /// Compiles the graph up to `outputs`. Rejects with type_error (no outputs, an empty name, an
  /// input or constant as output, a foreign operand) and leaves the builder usable; once it was
  /// accepted, the builder is built and refuses every further call.
  Future<Graph> build(const NamedOperands& outputs, const BuildOptions& options = {});

  /// Frees the constants and refuses every further call. Idempotent.
  void destroy();

 private:
  static void check_view(const OperandDescriptor& descriptor, DataType view);
  std::shared_ptr<detail::BuilderState> state_;
};

}  // namespace polychron
