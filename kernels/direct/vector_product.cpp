// Products of one row with a constant matrix, for example of a classifier. Their limit is the
// memory bandwidth for the matrix. It is packed in panels of columns, which are read from one end
// to the other.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "base/kept_once.hpp"
#include "kernels/direct/direct.hpp"
#include "kernels/direct/matrix_panels.hpp"
#include "kernels/vectors.hpp"
#include "ops/table.hpp"

namespace polychron::kernels::direct {
namespace {

using ops::op;

constexpr std::size_t wide = 64, narrow = 16;  // columns of a panel: `wide`, or fewer at the end
constexpr std::size_t summed_rows = 256;  // rows that are summed separately, to keep errors small

/// The layout of the matrix: wide panels, and a last one for the remaining columns, padded with
/// zeros.
struct Panels {
  std::size_t rows, columns;
  std::size_t floats() const { return rows * ((columns + narrow - 1) / narrow * narrow); }
  /// The distance of prefetches, in bytes. From the second-level cache it gives 240 GB/s, against
  /// 200 without prefetching and 212 with 1 KiB. Memory needs a longer distance.
  std::size_t ahead() const {
    constexpr std::size_t near = 512U << 10U;  // fits well into a core's own caches
    return floats() * sizeof(float) <= near ? 2048 : 16384;
  }
  /// Calls f(first column, columns that exist, columns of the panel) for each panel.
  template <class F>
  void each(F&& f) const {
    for (std::size_t at = 0; at < columns; at += wide) {
      const std::size_t there = std::min(wide, columns - at);
      f(at, there, (there + narrow - 1) / narrow * narrow);
    }
  }
};

/// Adds a row of a panel, times x, to its sums. Prefetches `ahead` bytes ahead, in the panel or
/// behind it.
template <std::size_t Width>
void add_row(float x, const float* row, std::size_t ahead, float* sums) {
  for (std::size_t column = 0; column < Width; column += narrow)
    __builtin_prefetch(
        reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(row + column) + ahead));
  POLYCHRON_INDEPENDENT_STEPS
  for (std::size_t column = 0; column < Width; ++column)
    sums[column] = std::fma(x, row[column], sums[column]);
}

/// Adds in the rows' order, so that a column's result does not depend on its panel. The sums stay
/// in registers. With several rows at once the compiler made worse code.
template <std::size_t Width>
void multiply_panel(const float* x, const float* panel, std::size_t rows, std::size_t ahead,
                    float* sums) {
  alignas(64) std::array<float, Width> own;
  std::fill_n(sums, Width, 0.0F);
  for (std::size_t begin = 0; begin < rows; begin += summed_rows) {
    const std::size_t end = std::min(begin + summed_rows, rows);
    own.fill(0.0F);
    for (std::size_t row = begin; row < end; ++row)
      add_row<Width>(x[row], panel + row * Width, ahead, own.data());
    for (std::size_t column = 0; column < Width; ++column) sums[column] += own[column];
  }
}

void multiply(const float* x, const float* packed, const Panels& matrix, float* result) {
  const std::size_t ahead = matrix.ahead();
  matrix.each([&](std::size_t at, std::size_t there, std::size_t width) {
    alignas(64) std::array<float, wide> sums;
    if (width == wide)
      multiply_panel<wide>(x, packed, matrix.rows, ahead, sums.data());
    else if (width == 3 * narrow)
      multiply_panel<3 * narrow>(x, packed, matrix.rows, ahead, sums.data());
    else if (width == 2 * narrow)
      multiply_panel<2 * narrow>(x, packed, matrix.rows, ahead, sums.data());
    else
      multiply_panel<narrow>(x, packed, matrix.rows, ahead, sums.data());
    std::copy_n(sums.data(), there, result + at);
    packed += matrix.rows * width;
  });
}

/// The epilogue: adds a vector, or replaces negative numbers by 0.
struct Finish {
  std::size_t vector = 0;  ///< number of the input; 0: none
};

void finish(const Finish& how, const std::byte* input, float* result, std::size_t count) {
  if (how.vector != 0) {
    const auto* const vector = reinterpret_cast<const float*>(input);
    POLYCHRON_INDEPENDENT_STEPS
    for (std::size_t i = 0; i < count; ++i) result[i] += vector[i];
    return;
  }
  for (std::size_t i = 0; i < count; ++i) result[i] = result[i] < 0 ? 0 : result[i];  // NaN stays
}

class VectorProduct final : public Kernel {
 public:
  VectorProduct(const Panels& matrix, KeptBytes packed, std::vector<Finish> finishes)
      : matrix_(matrix), packed_(std::move(packed)), finishes_(std::move(finishes)) {}
  void add_constants(Constants& constants) const override { constants.push_back(packed_); }
  bool keeps_constant(std::size_t index) const noexcept override { return index == 1; }
  std::unique_ptr<Bound> bind(const Arguments& arguments) const override {
    return std::make_unique<VectorBound>(*this, arguments);
  }

 private:
  class VectorBound final : public Bound {
   public:
    VectorBound(const VectorProduct& kernel, const Arguments& arguments)
        : kernel_(kernel), arguments_(arguments) {}
    void run() override {
      const auto* const x = reinterpret_cast<const float*>(arguments_.inputs[0]);
      const auto* const packed = reinterpret_cast<const float*>(kernel_.packed_->data());
      auto* const result = reinterpret_cast<float*>(arguments_.outputs[0]);
      with_fused_vectors([&] {
        multiply(x, packed, kernel_.matrix_, result);
        for (const Finish& how : kernel_.finishes_)
          finish(how, arguments_.inputs[how.vector], result, kernel_.matrix_.columns);
      });
    }

   private:
    const VectorProduct& kernel_;
    const Arguments& arguments_;
  };

  Panels matrix_;
  KeptBytes packed_;
  std::vector<Finish> finishes_;
};

/// Packs the matrix into panels.
KeptBytes pack(const Panels& panels, const RightMatrix& matrix) {
  auto bytes = Buffer::uninitialized(panels.floats() * sizeof(float));
  float* to = bytes.as<float>().data();
  panels.each([&](std::size_t at, std::size_t there, std::size_t width) {
    fill_panel(matrix, at, there, width, to);
    to += panels.rows * width;
  });
  return kept_once(std::make_shared<const Buffer>(std::move(bytes)));
}

/// The epilogue that adds input `index`, if it is a vector for the result.
std::optional<Finish> vector(const Problem& problem, std::size_t index) {
  const Slot& slot = problem.inputs[index];
  const std::size_t columns = problem.outputs[0].descriptor.shape.back();
  const Shape& shape = slot.descriptor.shape;
  if (slot.descriptor.data_type != DataType::float32 || !slot.present || shape.empty() ||
      slot.layout != Layout::plain || !slot.order.empty() || shape.back() != columns ||
      *element_count(shape) != columns || steps_of(slot).back() != 1)
    return std::nullopt;
  return Finish{index};
}

std::optional<std::vector<Finish>> finishes_of(const Problem& problem) {
  std::vector<Finish> list;
  const auto add = [&](std::optional<Finish> how) {
    if (how) list.push_back(*how);
    return how.has_value();
  };
  if (problem.own_inputs > 2 && problem.inputs[2].present && !add(vector(problem, 2)))
    return std::nullopt;
  for (const PostOp& post : problem.post_ops) {
    if (post.op == op("add") && post.operands.size() == 1) {
      if (!add(vector(problem, post.operands[0]))) return std::nullopt;
    } else if (post.op == op("relu")) {
      list.push_back({});
    } else {
      return std::nullopt;
    }
  }
  return list;
}

bool is_row(const Slot& slot) {
  const Shape& shape = slot.descriptor.shape;
  return shape.size() >= 2 && slot.order.empty() && slot.layout == Layout::plain &&
         *element_count(shape) == shape.back() && steps_of(slot).back() == 1;
}

}  // namespace

KernelResult prepare_vector_product(const Problem& problem) {
  // A product that is rounded on its own may be infinite although the sum is finite.
  if (!has_fused_vectors()) return refuse("no multiplication and addition in one");
  for (std::size_t i = 0; i < 2; ++i)
    if (problem.inputs[i].descriptor.data_type != DataType::float32) return refuse("float32 only");
  const Slot& b = problem.inputs[1];
  const Shape& shape = b.descriptor.shape;
  const auto* const gemm = std::get_if<GemmAttributes>(&problem.attributes);
  if (gemm != nullptr && (gemm->alpha != 1 || gemm->beta != 1 || gemm->a_transpose))
    return refuse("factors of one, and rows as they are only");
  if (!is_row(problem.inputs[0]) || !is_row(problem.outputs[0])) return refuse("one row only");
  if (!b.constant || b.layout != Layout::plain ||
      std::any_of(shape.begin(), shape.end() - 2, [](std::uint32_t n) { return n != 1; }))
    return refuse("one constant matrix only");
  auto finishes = finishes_of(problem);
  if (!finishes) return refuse("vectors to add and relu only");
  const auto matrix = RightMatrix::of(problem);
  const Panels panels{matrix.rows, matrix.columns};
  return KernelResult(
      std::make_unique<VectorProduct>(panels, pack(panels, matrix), std::move(*finishes)));
}

}  // namespace polychron::kernels::direct
