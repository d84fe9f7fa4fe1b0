// Products of 8-bit integers with a constant matrix, exact in int32. They may end as float32, times
// a factor and plus a summand, or as 8-bit integers again.
#include "kernels/integer_product.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "base/kept_once.hpp"
#include "kernels/direct/direct.hpp"
#include "kernels/direct/integer_panels.hpp"
#include "kernels/direct/narrow_steps.hpp"
#include "kernels/direct/parts_bound.hpp"
#include "kernels/parts.hpp"

namespace polychron::kernels::direct {
namespace {

/// A part: some rows by some panels.
struct Share {
  std::size_t first_row, last_row;
  std::size_t first_panel, last_panel;
  std::size_t worker;
};

/// Where a panel begins, and the numbers of its steps if it is narrow.
struct Panel {
  std::size_t at, steps = 0, doubled = 0;
};

std::int32_t integer_at(const std::byte* elements, std::size_t i, bool is_signed) {
  const auto value = std::to_integer<std::uint8_t>(elements[i]);
  return is_signed ? static_cast<std::int8_t>(value) : std::int32_t{value};
}

class IntegerProduct final : public Kernel {
 public:
  IntegerProduct(const IntegerOperands& operands, const Problem& problem)
      : o_(operands),
        pairs_((o_.elements + 2 * pairs_at_once - 1) / (2 * pairs_at_once) * pairs_at_once),
        width_(integer_columns()) {
    const std::size_t panels = (o_.columns + width_ - 1) / width_;
    pack(problem.inputs[1], panels);
    zeros_.assign(panels * width_, 0);
    const Slot& zero = problem.inputs[3];
    for (std::size_t i = 0; i < o_.columns; ++i) {
      const std::size_t at = o_.one_zero ? 0 : i;
      const auto point = zero.present ? integer_at(zero.constant->data(), at, o_.right_signed) : 0;
      zeros_[i] = point - offset();
    }
    divide(panels);
    // The rows that stay in a core's second-level cache while all panels pass.
    constexpr std::size_t own = std::size_t{128} << 10;
    const std::size_t groups = own / (row_bytes() * most_integer_rows);
    block_ = std::min(std::max<std::size_t>(groups, 1) * most_integer_rows, o_.rows);
    worker_bytes_ = (block_ * row_bytes() + 63) / 64 * 64;
  }

  std::size_t parts() const noexcept override { return shares_.size(); }
  std::size_t scratch_bytes() const noexcept override { return parts() * worker_bytes_; }
  void add_constants(Constants& constants) const override { constants.push_back(panels_); }
  bool keeps_constant(std::size_t index) const noexcept override {
    return index == 1 || index == 3;
  }
  std::unique_ptr<Bound> bind(const Arguments& arguments) const override {
    return std::make_unique<PartsBound<IntegerProduct, const Arguments&>>(*this, arguments);
  }

  Share whole() const { return {0, o_.rows, 0, zeros_.size() / width_, 0}; }
  const Share& share(std::size_t part) const { return shares_[part]; }
  std::span<const std::byte> read_first(const Share&) const noexcept { return {}; }

  void compute(const Share& share, const Arguments& arguments, std::span<const std::byte>) const {
    const Scratch rows(arguments.scratch + share.worker * worker_bytes_, *this);
    for (std::size_t first = share.first_row; first < share.last_row; first += block_) {
      const std::size_t count = std::min(block_, share.last_row - first);
      for (std::size_t r = 0; r < count; ++r) write_row(first + r, arguments, rows, r);
      for (std::size_t panel = share.first_panel; panel < share.last_panel; ++panel)
        multiply_panel(panel, first, count, rows, arguments);
    }
  }

 private:
  /// Rows as the panels need them, and two numbers of each.
  struct Scratch {
    std::int32_t *sums, *zeros;
    std::int16_t* wide;
    std::byte* narrow;
    Scratch(std::byte* at, const IntegerProduct& product)
        : sums(reinterpret_cast<std::int32_t*>(at)),
          zeros(sums + product.block_),
          wide(reinterpret_cast<std::int16_t*>(zeros + product.block_)),
          narrow(reinterpret_cast<std::byte*>(
              wide + (product.any_wide_ ? product.block_ * 2 * product.pairs_ : 0))) {}
  };
  std::size_t row_bytes() const {
    return 2 * sizeof(std::int32_t) +
           2 * pairs_ * ((any_wide_ ? sizeof(std::int16_t) : 0) + (any_narrow_ ? 1 : 0));
  }
  /// Unsigned elements of the matrix are kept minus 128, as signed ones.
  std::int32_t offset() const { return o_.right_signed ? 0 : 128; }

  void pack(const Slot& matrix, std::size_t panels) {
    std::vector<std::int8_t> bytes;
    const std::int32_t most = most_of_narrow_sum();
    sums_.assign(panels * width_, 0);
    const auto steps = steps_of(matrix);
    std::vector<std::int16_t> rows(width_ * pairs_ * 2);  // of a panel, row after row
    for (std::size_t p = 0; p < panels; ++p) {
      std::ranges::fill(rows, std::int16_t{0});
      const std::size_t first = p * width_, columns = std::min(width_, o_.columns - first);
      for (std::size_t row = 0; row < o_.elements; ++row)
        for (std::size_t column = 0; column < columns; ++column) {
          const auto from = static_cast<std::int64_t>(row) * steps[0] +
                            static_cast<std::int64_t>(first + column) * steps[1];
          const std::int32_t element =
              integer_at(matrix.constant->data(), static_cast<std::size_t>(from), o_.right_signed) -
              offset();
          rows[row * width_ + column] = static_cast<std::int16_t>(element);
          sums_[first + column] += element;
        }
      Panel panel{.at = bytes.size()};
      const auto narrow = most == 0 ? NarrowSteps() : narrow_steps(rows, width_, most);
      if (most != 0 && narrow.time <= narrow.wide_time) {
        panel.steps = narrow.steps.size(), panel.doubled = narrow.doubled;
        append_narrow(rows, narrow.steps, bytes);
      } else {
        for (std::size_t i = 0; i < rows.size(); i += 2 * width_)
          for (std::size_t k = 0; k < width_; ++k)
            for (const std::int16_t x : {rows[i + k], rows[i + width_ + k]})
              bytes.push_back(static_cast<std::int8_t>(x));
      }
      (panel.steps > 0 ? any_narrow_ : any_wide_) = true;
      shapes_.push_back(panel);
    }
    panels_ = kept_once(
        std::make_shared<const Buffer>(Buffer::copy_of(std::span<const std::int8_t>(bytes))));
  }

  /// Appends the elements of each step, and then where they are in a row.
  void append_narrow(const std::vector<std::int16_t>& rows, const std::vector<NarrowStep>& steps,
                     std::vector<std::int8_t>& bytes) const {
    for (const NarrowStep& step : steps)
      for (std::size_t k = 0; k < width_; ++k)
        for (std::size_t i = 0; i < 4; ++i)
          bytes.push_back(
              static_cast<std::int8_t>(step.part_of(rows[(4 * step.four + i) * width_ + k])));
    for (const NarrowStep& step : steps) {
      const auto two = std::bit_cast<std::array<std::int8_t, 2>>(step.four);
      bytes.insert(bytes.end(), two.begin(), two.end());
    }
    bytes.resize((bytes.size() + 63) / 64 * 64);
  }

  void divide(std::size_t panels) {
    const double operations =
        2.0 * static_cast<double>(o_.rows * o_.elements) * static_cast<double>(o_.columns);
    // Every part reads all of one operand: the matrix, or the rows.
    const std::size_t groups = (o_.rows + most_integer_rows - 1) / most_integer_rows;
    const bool by_rows = o_.columns <= o_.rows && groups >= 2 * usual_parts;
    const std::size_t units = by_rows ? groups : panels;
    const std::size_t parts = parts_of(operations / operations_per_ns, units);
    for (std::size_t i = 0; i < parts; ++i) {
      const std::size_t begin = units * i / parts, end = units * (i + 1) / parts;
      shares_.push_back(by_rows ? Share{begin * most_integer_rows,
                                        std::min(end * most_integer_rows, o_.rows), 0, panels, i}
                                : Share{0, o_.rows, begin, end, i});
    }
  }

  /// Writes a row of the left operand as row `at` of the scratch memory.
  void write_row(std::size_t row, const Arguments& arguments, const Scratch& to,
                 std::size_t at) const {
    const std::byte* const zeros = arguments.inputs[2];
    const std::int32_t zero =
        zeros == nullptr ? 0 : integer_at(zeros, row % o_.row_zeros, o_.left_signed);
    const std::byte* const from = arguments.inputs[0] + row * o_.elements;
    const std::size_t length = 2 * pairs_;
    if (any_narrow_) {
      const std::int32_t offset = offset_of_row(o_.left_signed);
      std::byte* const narrow = to.narrow + at * length;
      std::fill(narrow + o_.elements, narrow + length, std::byte{0});
      to.zeros[at] = zero + offset;
      to.sums[at] = copy_row(from, o_.elements, offset, narrow) -
                    static_cast<std::int32_t>(o_.elements) * to.zeros[at];
    }
    if (any_wide_) {
      std::int16_t* const wide = to.wide + at * length;
      std::fill(wide + o_.elements, wide + length, std::int16_t{0});
      to.sums[at] = widen_row(from, o_.elements, zero, o_.left_signed, wide);
    }
  }

  void multiply_panel(std::size_t panel, std::size_t first_row, std::size_t count,
                      const Scratch& rows, const Arguments& arguments) const {
    std::array<float, most_integer_columns> factors, summands, scales;
    std::array<std::int32_t, most_integer_columns> zeros;
    const std::size_t column = panel * width_, columns = std::min(width_, o_.columns - column);
    const Panel& shape = shapes_[panel];
    const std::byte* const elements = panels_->data() + shape.at;
    const bool narrow = shape.steps > 0;
    IntegerTiles tiles{
        .count = count,
        .pairs = pairs_,
        .rows = rows.wide,
        .narrow_rows = rows.narrow,
        .row_sums = rows.sums,
        .row_zeros = rows.zeros,
        .fours = narrow
                     ? reinterpret_cast<const std::uint16_t*>(elements + shape.steps * 4 * width_)
                     : nullptr,
        .steps = shape.steps,
        .doubled = shape.doubled,
        .panel = reinterpret_cast<const std::int8_t*>(elements),
        .sums = sums_.data() + column,
        .zeros = zeros_.data() + column,
        .type = o_.result,
        .results = arguments.outputs[0] + (first_row * o_.columns + column) * byte_size(o_.result),
        .step = o_.columns,
        .columns = columns};
    if (o_.result != DataType::int32) {
      factors.fill(o_.factor);
      summands.fill(-0.0F);  // which changes nothing; +0 would change -0
      take(o_.factors, column, columns, arguments, factors.data());
      take(o_.summands, column, columns, arguments, summands.data());
      tiles.factors = factors.data();
      tiles.summands = summands.data();
    }
    if (o_.scales.input != 0) {
      scales.fill(1);
      zeros.fill(0);
      take(o_.scales, column, columns, arguments, scales.data());
      for (std::size_t i = 0; i < columns; ++i)
        zeros[i] = integer_at(arguments.inputs[o_.zeros], o_.scales.one ? 0 : column + i,
                              o_.result == DataType::int8);
      tiles.scales = scales.data();
      tiles.result_zeros = zeros.data();
    }
    multiply_integers(tiles);
  }

  /// The numbers of an input for columns [first, first + count).
  static void take(const IntegerOperands::ForColumns& of, std::size_t first, std::size_t count,
                   const Arguments& arguments, float* to) {
    if (of.input == 0) return;
    const auto* const numbers = reinterpret_cast<const float*>(arguments.inputs[of.input]);
    if (of.one)
      std::fill_n(to, count, *numbers);
    else
      std::copy_n(numbers + first, count, to);
  }

  const IntegerOperands o_;
  const std::size_t pairs_, width_;  ///< of each column, columns of a panel
  KeptBytes panels_;
  std::vector<std::int32_t> sums_, zeros_;  ///< of the panels' columns
  std::vector<Panel> shapes_;
  bool any_narrow_ = false, any_wide_ = false;
  std::vector<Share> shares_;
  std::size_t block_ = 0, worker_bytes_ = 0;
};

}  // namespace

KernelResult prepare_integer_product(const Problem& problem) {
  const auto operands = integer_operands(problem);
  if (!operands) return refuse("not a product of integers as our own loops take it");
  return KernelResult(std::make_unique<IntegerProduct>(*operands, problem));
}

}  // namespace polychron::kernels::direct
