// Functions that WebNN lacks: hyperbolic ones, and the inverses of these and the circular ones.
//
// A polynomial replaces a plain formula that would suffer cancellation: those of Cephes (asinf,
// atanf, asinhf, acoshf, atanhf), good to about one unit in the last place of float32.
#include <array>
#include <initializer_list>
#include <numbers>

#include "onnx/handlers.hpp"
#include "onnx/operators/term.hpp"

namespace polychron::onnx::detail {

namespace {

constexpr double pi = std::numbers::pi;
constexpr double ln2 = std::numbers::ln2;

/// Coefficients from the highest power to the constant.
Term polynomial(const Term& x, std::initializer_list<double> coefficients) {
  auto next = coefficients.begin();
  auto result = x * *next + *(next + 1);
  for (next += 2; next != coefficients.end(); ++next) result = result * x + *next;
  return result;
}

/// exp(|x|) / 2 without overflow before the result itself does.
Term half_exp(const Term& x) {
  const auto root = (x.abs() * 0.5).exp();
  return root * 0.5 * root;
}

Term cosh(const Term& x) { return half_exp(x) + (-x.abs()).exp() * 0.5; }

Term sinh(const Term& x) {
  const auto large = (half_exp(x) - (-x.abs()).exp() * 0.5) * x.sign();
  const auto small =
      x + x * x * x * polynomial(x * x, {1 / 362880.0, 1 / 5040.0, 1 / 120.0, 1 / 6.0});
  return (x.abs() < 1).choose(small, large);
}

/// Where |x| is above a half, pi / 2 - 2 asin(sqrt((1 - |x|) / 2)): the root is at most a half.
Term asin(const Term& x) {
  const auto size = x.abs();
  const auto is_large = size > 0.5;
  const auto z = is_large.choose((1 - size) * 0.5, size * size);
  const auto start = is_large.choose(z.sqrt(), size);
  const auto core = start + start * z *
                                polynomial(z, {4.2163199048e-2, 2.4181311049e-2, 4.5470025998e-2,
                                               7.4953002686e-2, 1.6666752422e-1});
  return is_large.choose(pi / 2 - core * 2, core) * x.sign();
}

/// By Abramowitz and Stegun's formula 4.4.46, which takes few steps: good to three units in the
/// last place.
Term acos(const Term& x) {
  const auto size = x.abs();
  const auto of_size =
      (1 - size).sqrt() *
      polynomial(size, {-1.2624911e-3, 6.6700901e-3, -1.70881256e-2, 3.0891881e-2, -5.01743046e-2,
                        8.89789874e-2, -2.145988016e-1, 1.570796305});
  return (x < 0).choose(pi - of_size, of_size);
}

Term atan(const Term& x) {
  const auto size = x.abs();
  const auto is_large = size > 2.414213562373095;
  const auto is_middle = size > 0.4142135623730950;
  const auto start =
      is_large.choose(x.number(pi / 2), is_middle.choose(x.number(pi / 4), x.number(0)));
  const auto reduced = is_large.choose(-1 / size, is_middle.choose((size - 1) / (size + 1), size));
  const auto z = reduced * reduced;
  const auto core =
      polynomial(z, {8.05374449538e-2, -1.38776856032e-1, 1.99777106478e-1, -3.33329491539e-1});
  return (start + (core * z * reduced + reduced)) * x.sign();
}

Term asinh(const Term& x) {
  const auto size = x.abs();
  const auto z = x * x;
  const auto small =
      x +
      x * z * polynomial(z, {2.0122003309e-2, -4.2699340972e-2, 7.4847586088e-2, -1.6666288134e-1});
  const auto middle = (size + (z + 1).sqrt()).log();
  const auto large = (size > 1500).choose(size.log() + ln2, middle);
  return (size < 0.5).choose(small, large * x.sign());
}

Term acosh(const Term& x) {
  const auto z = x - 1;
  const auto small = z.sqrt() * polynomial(z, {1.7596881071e-3, -7.5272886713e-3, 2.6454905019e-2,
                                               -1.1784741703e-1, 1.4142135263});
  const auto middle = (x + (z * (x + 1)).sqrt()).log();
  return (z < 0.5).choose(small, (x > 1500).choose(x.log() + ln2, middle));
}

Term atanh(const Term& x) {
  const auto z = x * x;
  const auto small = x + x * z *
                             polynomial(z, {1.81740078349e-1, 8.24370301058e-2, 1.46691431730e-1,
                                            1.99782164500e-1, 3.33337300303e-1});
  return (x.abs() < 0.5).choose(small, ((1 + x) / (1 - x)).log() * 0.5);
}

// In float32 inside: a chain of steps in float16 is slow, and rounds after each.
template <Term function(const Term&)>
void apply(Node& node) {
  const auto x = term(node, 0);
  node.set(function(x.cast(DataType::float32)).cast(x.data_type()).operand());
}

}  // namespace

std::span<const Row> function_rows() noexcept {
  static constexpr std::array rows{
      Row{"Acos", apply<acos>},   Row{"Acosh", apply<acosh>}, Row{"Asin", apply<asin>},
      Row{"Asinh", apply<asinh>}, Row{"Atan", apply<atan>},   Row{"Atanh", apply<atanh>},
      Row{"Cosh", apply<cosh>},   Row{"Sinh", apply<sinh>},
  };
  return rows;
}

}  // namespace polychron::onnx::detail
