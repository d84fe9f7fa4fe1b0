#include "onnx/calculate.hpp"

#include <algorithm>
#include <string>

#include "onnx/problem.hpp"

namespace polychron::onnx::detail {

namespace {

template <class T>
std::vector<T> numbers(const Literal& literal) {
  if constexpr (std::is_same_v<T, double>) {
    return reals(literal);
  } else {
    return integers(literal);
  }
}

template <class T, class F>
Literal map_two(F function, ElementType type, const Shape& shape, const Literal& a,
                const Literal& b) {
  const auto left = numbers<T>(strided(a, shape, 0, broadcast_strides(a.shape, shape)));
  const auto right = numbers<T>(strided(b, shape, 0, broadcast_strides(b.shape, shape)));
  std::vector<T> results(left.size());
  std::transform(left.begin(), left.end(), right.begin(), results.begin(), function);
  return make_literal(type, shape, results);
}

template <class T, class F>
Literal map_one(F function, const Literal& a) {
  auto values = numbers<T>(a);
  std::transform(values.begin(), values.end(), values.begin(), function);
  return make_literal(a.type, a.shape, values);
}

/// Rows of a matrix, folded.
template <class T, class F>
Literal fold_rows(F function, const Literal& a, const Shape& shape) {
  const auto values = numbers<T>(a);
  std::vector<T> results(count(shape));
  const auto length = values.size() / std::max<std::size_t>(results.size(), 1);
  for (std::size_t row = 0; row < results.size(); ++row) {
    results[row] = values[row * length];
    for (std::size_t i = 1; i < length; ++i)
      results[row] = function(results[row], values[row * length + i]);
  }
  return make_literal(a.type, shape, results);
}

bool usable(const Literal* literal) { return literal && calculable(*literal); }

}  // namespace

std::optional<Literal> calculate(const Binary& function, const Literal* a, const Literal* b) {
  if (!usable(a) || !usable(b)) return std::nullopt;
  if (a->type != b->type)
    malformed("operands of the types " + std::string(to_string(a->type)) + " and " +
              std::string(to_string(b->type)));
  const auto shape = broadcast_shape(a->shape, b->shape);
  const auto elements = element_count(shape);
  if (!elements || *elements > max_calculated) return std::nullopt;
  const auto type = function.boolean_result ? ElementType::boolean : a->type;
  if (is_real(a->type)) {
    if (!function.real) return std::nullopt;
    return map_two<double>(function.real, type, shape, *a, *b);
  }
  if (!function.integer) return std::nullopt;
  return map_two<std::int64_t>(function.integer, type, shape, *a, *b);
}

std::optional<Literal> calculate(const Unary& function, const Literal* a) {
  if (!usable(a)) return std::nullopt;
  if (is_real(a->type)) {
    if (!function.real) return std::nullopt;
    return map_one<double>(function.real, *a);
  }
  if (!function.integer) return std::nullopt;
  return map_one<std::int64_t>(function.integer, *a);
}

std::optional<Literal> reduce(const Binary& function, const Literal* a,
                              const std::vector<std::uint32_t>& axes, bool keep) {
  if (!usable(a) || count(*a) == 0) return std::nullopt;
  // Moves the folded axes to the end, so that each result has its own row.
  const auto strides = strides_of(a->shape);
  Shape kept, folded, order;
  std::vector<std::int64_t> kept_strides, folded_strides;
  for (std::uint32_t d = 0; d < a->shape.size(); ++d) {
    const bool fold = axes.empty() || std::find(axes.begin(), axes.end(), d) != axes.end();
    (fold ? folded : order).push_back(a->shape[d]);
    (fold ? folded_strides : kept_strides).push_back(strides[d]);
    if (!fold || keep) kept.push_back(fold ? 1 : a->shape[d]);
  }
  order.insert(order.end(), folded.begin(), folded.end());
  kept_strides.insert(kept_strides.end(), folded_strides.begin(), folded_strides.end());
  const auto rows = strided(*a, order, 0, kept_strides);
  if (is_real(a->type)) {
    if (!function.real) return std::nullopt;
    return fold_rows<double>(function.real, rows, kept);
  }
  if (!function.integer) return std::nullopt;
  return fold_rows<std::int64_t>(function.integer, rows, kept);
}

}  // namespace polychron::onnx::detail
