// Eigen arrays over the operands, function by function. Binary operators take operands of equal
// size, or one operand of a single number.
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/eigen/eigen.hpp"
#include "kernels/function_kernel.hpp"
#include "ops/table.hpp"

namespace polychron::kernels::eigen {
namespace {

using ops::op;
using In = Eigen::Map<const Eigen::ArrayXf>;
using Out = Eigen::Map<Eigen::ArrayXf>;

/// Up to this size Eigen is faster than oneDNN (Xeon with AVX-512, one thread). An add takes 0.08
/// us instead of 0.29, of which 0.27 are the call to the library.
constexpr std::uint64_t small = 1024;

struct Unary {
  ops::OpId op;
  void (*compute)(const In& x, Out& y);
  std::uint64_t most = ~std::uint64_t{0};  ///< elements; oneDNN is faster for more
};

constexpr Unary unaries[] = {
    {op("abs"), [](const In& x, Out& y) { y = x.abs(); }, small},
    {op("cos"), [](const In& x, Out& y) { y = x.cos(); }},
    {op("floor"), [](const In& x, Out& y) { y = x.floor(); }},
    // oneDNN's error at 1 is 1.4e-6. Eigen's treats subnormal numbers as the smallest normal one.
    {op("log"),
     [](const In& x, Out& y) {
       if (((x > 0.0F) && (x < std::numeric_limits<float>::min())).any())
         y = x.unaryExpr([](float value) { return std::log(value); });
       else
         y = x.log();
     }},
    {op("neg"), [](const In& x, Out& y) { y = -x; }, small},
    {op("reciprocal"), [](const In& x, Out& y) { y = x.inverse(); }},
    {op("relu"), [](const In& x, Out& y) { y = (x < 0.0F).select(0.0F, x); }, small},
    {op("roundEven"), [](const In& x, Out& y) { y = x.rint(); }},
    {op("sin"), [](const In& x, Out& y) { y = x.sin(); }},
    {op("softsign"), [](const In& x, Out& y) { y = x / (1.0F + x.abs()); }},
    // The error of Eigen's own is 2 units in the last place (3.4); the row allows 1.
    {op("sqrt"),
     [](const In& x, Out& y) { y = x.unaryExpr([](float value) { return std::sqrt(value); }); },
     small},
    {op("tan"), [](const In& x, Out& y) { y = x.tan(); }},
};

/// Operands are arrays of one size, or one of them a single number.
struct Binary {
  ops::OpId op;
  void (*arrays)(const In& a, const In& b, Out& y);
  void (*left)(float a, const In& b, Out& y);
  void (*right)(const In& a, float b, Out& y);
};

template <class F>
constexpr Binary binary(ops::OpId id, F) {
  return {id, [](const In& a, const In& b, Out& y) { y = F{}(a, b); },
          [](float a, const In& b, Out& y) { y = F{}(a, b); },
          [](const In& a, float b, Out& y) { y = F{}(a, b); }};
}

constexpr Binary binaries[] = {
    binary(op("add"), [](const auto& a, const auto& b) { return a + b; }),
    binary(op("div"), [](const auto& a, const auto& b) { return a / b; }),
    binary(op("mul"), [](const auto& a, const auto& b) { return a * b; }),
    binary(op("sub"), [](const auto& a, const auto& b) { return a - b; }),
};

const float* floats(const std::byte* bytes) { return reinterpret_cast<const float*>(bytes); }
Out result(const Arguments& arguments, Eigen::Index count) {
  return {reinterpret_cast<float*>(arguments.outputs[0]), count};
}

std::optional<std::string> unsupported(const Problem& problem) {
  for (const Slot& slot : problem.inputs) {
    if (slot.descriptor.data_type != DataType::float32) return "float32 only";
    if (slot.layout != Layout::plain) return "plain layout only";
  }
  if (problem.outputs[0].layout != Layout::plain) return "plain layout only";
  if (!problem.post_ops.empty()) return "no post-operations";
  return std::nullopt;
}

/// A kernel that may work in place on operands of the result's size.
template <class F>
KernelResult in_place_kernel(F function, bool first, bool second) {
  class InPlace final : public Kernel {
   public:
    InPlace(F f, bool a, bool b) : kernel_(std::move(f)), first_(a), second_(b) {}
    bool in_place(std::size_t index) const noexcept override {
      return index == 0 ? first_ : second_;
    }
    std::unique_ptr<Bound> bind(const Arguments& arguments) const override {
      return kernel_.bind(arguments);
    }

   private:
    FunctionKernel<F> kernel_;
    bool first_, second_;
  };
  return KernelResult(std::make_unique<InPlace>(std::move(function), first, second));
}

std::uint64_t elements(const Slot& slot) { return *element_count(slot.descriptor.shape); }

KernelResult prepare_unary(const Problem& problem) {
  if (const auto reason = unsupported(problem)) return refuse(*reason);
  const auto* found = std::ranges::find(unaries, problem.op, &Unary::op);
  if (elements(problem.outputs[0]) > found->most) return refuse("up to 1024 elements only");
  const auto count = static_cast<Eigen::Index>(elements(problem.outputs[0]));
  return in_place_kernel(
      [compute = found->compute, count](const Arguments& arguments) {
        Out y = result(arguments, count);
        compute(In(floats(arguments.inputs[0]), count), y);
      },
      true, false);
}

KernelResult prepare_binary(const Problem& problem) {
  if (const auto reason = unsupported(problem)) return refuse(*reason);
  const auto* found = std::ranges::find(binaries, problem.op, &Binary::op);
  const std::uint64_t size = elements(problem.outputs[0]);
  if (size > small) return refuse("up to 1024 elements only");
  const bool left = elements(problem.inputs[0]) == 1 && size > 1;
  const bool right = elements(problem.inputs[1]) == 1 && size > 1;
  if ((!left && elements(problem.inputs[0]) != size) ||
      (!right && elements(problem.inputs[1]) != size) || (left && right))
    return refuse("operands of one size, or a single number, only");
  const auto count = static_cast<Eigen::Index>(size);
  return in_place_kernel(
      [b = *found, count, left, right](const Arguments& arguments) {
        Out y = result(arguments, count);
        const float* first = floats(arguments.inputs[0]);
        const float* second = floats(arguments.inputs[1]);
        if (left)
          b.left(*first, In(second, count), y);
        else if (right)
          b.right(In(first, count), *second, y);
        else
          b.arrays(In(first, count), In(second, count), y);
      },
      !left, !right);
}

}  // namespace

std::span<const Entry> elementwise_entries() noexcept {
  static constexpr auto entries =
      joined(entries_of(unaries, prepare_unary), entries_of(binaries, prepare_binary));
  return entries;
}

}  // namespace polychron::kernels::eigen
