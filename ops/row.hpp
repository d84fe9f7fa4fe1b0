// A row of the operator table: the one description of an operator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "ops/graph.hpp"
#include "ops/signature.hpp"

namespace polychron::ops {

class Call;

/// The shapes of an operator's results. Checks attributes and shapes; throws Error (type_error).
/// Operand types and ranks have been checked against the signature before.
using ShapeRule = std::vector<Shape> (*)(const Call& call);

/// The data type of an operator's results, where an attribute decides it.
class TypeRule {
 public:
  using Function = DataType (*)(const Attributes& attributes);
  constexpr TypeRule() = default;
  constexpr TypeRule(Function function) : function_(function), given_(true) {}
  DataType operator()(const Attributes& attributes) const { return function_(attributes); }
  constexpr explicit operator bool() const { return given_; }

 private:
  Function function_ = nullptr;
  /// GCC 12 under sanitizers cannot compare a function with null at compile time.
  bool given_ = false;
};

/// The allowed distance between a result and the exact one. Integers are always exact. The figures
/// are those of the public test suite.
struct Tolerance {
  enum class Metric : std::uint8_t {
    ulp,      ///< distance in representable values
    absolute  ///< absolute difference
  };
  Metric metric = Metric::ulp;
  double float32 = 0;
  double float16 = 0;
  bool per_term = false;  ///< multiplied by the number of summed terms
};

inline constexpr Tolerance exact{};
constexpr Tolerance ulp(double float32, double float16) {
  return {.float32 = float32, .float16 = float16};
}
constexpr Tolerance ulp(double both) { return ulp(both, both); }
constexpr Tolerance ulp_per_term(double both) {
  return {.float32 = both, .float16 = both, .per_term = true};
}
constexpr Tolerance absolute(double float32, double float16) {
  return {.metric = Tolerance::Metric::absolute, .float32 = float32, .float16 = float16};
}

/// Index of alternative A of Attributes.
template <class A>
consteval std::size_t alternative() {
  return []<std::size_t... I>(std::index_sequence<I...>) {
    std::size_t index = sizeof...(I);
    ((std::is_same_v<std::variant_alternative_t<I, Attributes>, A> ? void(index = I) : void()),
     ...);
    return index;
  }
  (std::make_index_sequence<std::variant_size_v<Attributes>>{});
}

/// The families of operators. Files in ops/, each kernel folder, onnx/ and tests/ have these names.
enum class Family : std::uint8_t {
  elementwise,
  activation,
  matrix,
  convolution,
  pooling,
  resampling,
  normalization,
  reduction,
  movement,
  indexing,
  quantization,
  recurrent
};

/// An operator with two operands is commutative (free) or not (fixed).
enum class Order : std::uint8_t { fixed, free };

struct Row {
  std::string_view name;  ///< the specification's method, for instance "conv2d"
  std::string_view line;  ///< its formula for an element x, for the documentation
  Signature call;
  ShapeRule shape = nullptr;
  /// The rule in words: the results' shapes, and the conditions on the operands'.
  std::string_view shapes;
  /// Index of the alternative of Attributes.
  std::size_t attributes = alternative<std::monostate>();
  TypeRule type{};  ///< none: the signature gives the results' type
  Order order = Order::fixed;
  Family family{};  ///< set by the table
  Tolerance tolerance = exact;
  std::string_view anchor;  ///< in https://www.w3.org/TR/webnn/; empty: an extension

  constexpr std::span<const OperandRule> operands() const { return call.operands(); }
  constexpr std::span<const OperandRule> results() const { return call.results(); }
  /// True if the specification does not have it; strict contexts refuse it.
  constexpr bool is_extension() const { return anchor.empty(); }
  /// True if the results' data type is that of an operand that is always given, or the type rule's.
  constexpr bool inferable() const {
    if (type) return true;
    for (const OperandRule& result : results())
      if (result.same_as == OperandRule::independent ? result.types.size() != 1
                                                     : operands()[result.same_as].optional)
        return false;
    return true;
  }
};

}  // namespace polychron::ops
