// Products of several rows with a constant matrix, packed in panels of its columns. Panels are read
// from one end to the other, and prefetched. Sums stay in registers during a stretch of elements.
#include <algorithm>

#include "base/kept_once.hpp"
#include "kernels/direct/column_panels.hpp"
#include "kernels/direct/direct.hpp"
#include "kernels/direct/parts_bound.hpp"
#include "kernels/direct/row_product.hpp"
#include "kernels/epilogue.hpp"
#include "kernels/parts.hpp"
#include "kernels/vectors.hpp"

namespace polychron::kernels::direct {
namespace {

/// How much of the operands stays in a core's own caches.
struct Caches {
  std::size_t stretch;  ///< the elements after which the next rows follow
  std::size_t rows;     ///< bytes of the rows that are computed in a round
};
/// Processors with AVX-512 have at least 1 MiB for each core. (Zen 3, AVX2, 512 KiB: 64 rows of
/// MiniLM take 18.4 ms with these numbers, up to 21.6 with stretches of 96 elements.)
Caches caches() { return has_avx512() ? Caches{1536, 2048 * 1024} : Caches{768, 128 * 1024}; }

struct Sizes : RowGroups, ColumnPanels {
  std::size_t elements;

  std::size_t floats_before(std::size_t panel) const { return first_column(panel) * elements; }
};

/// A part: some groups of rows by some panels.
struct Share {
  std::size_t first_group, last_group;
  std::size_t first_panel, last_panel;
};

class MatrixProduct final : public Kernel {
 public:
  MatrixProduct(const Sizes& sizes, const Epilogue& epilogue, KeptBytes panels)
      : sizes_(sizes), epilogue_(epilogue), panels_(std::move(panels)) {
    const double operations =
        2.0 * static_cast<double>(sizes.rows * sizes.elements) * static_cast<double>(sizes.columns);
    // Every part reads all of one operand: the matrix, or the rows.
    const std::size_t groups = sizes.groups(), panel_count = sizes.panels();
    const bool by_groups = sizes.columns <= sizes.rows && groups >= 2 * usual_parts;
    const std::size_t parts =
        parts_of(operations / operations_per_ns, by_groups ? groups : panel_count);
    for (std::size_t i = 0; i < parts; ++i) {
      const auto part_of = [&](std::size_t count, std::size_t k) { return count * k / parts; };
      shares_.push_back(
          by_groups ? Share{part_of(groups, i), part_of(groups, i + 1), 0, panel_count}
                    : Share{0, groups, part_of(panel_count, i), part_of(panel_count, i + 1)});
    }
  }

  std::size_t parts() const noexcept override { return shares_.size(); }
  void add_constants(Constants& constants) const override { constants.push_back(panels_); }
  bool keeps_constant(std::size_t index) const noexcept override { return index == 1; }
  std::unique_ptr<Bound> bind(const Arguments& arguments) const override {
    return std::make_unique<PartsBound<MatrixProduct, const Arguments&>>(*this, arguments);
  }

  Share whole() const { return {0, sizes_.groups(), 0, sizes_.panels()}; }
  const Share& share(std::size_t part) const { return shares_[part]; }
  std::span<const std::byte> read_first(const Share& share) const noexcept {
    return std::as_bytes(
        std::span(panel_at(share.first_panel),
                  std::min(most_read_first / sizeof(float), floats_of(share.first_panel))));
  }

  /// Takes a number of rows at a time of which one stretch stays in the near caches for all panels.
  void compute(const Share& share, const Arguments& operands,
               std::span<const std::byte> read_next) const {
    const std::size_t groups = share.last_group - share.first_group;
    const std::size_t most = std::max<std::size_t>(
        caches().rows /
            (sizes_.tile.rows * std::min(sizes_.elements, caches().stretch) * sizeof(float)),
        1);
    const std::size_t rounds = (groups + most - 1) / most;
    for (std::size_t i = 0; i < rounds; ++i) {
      const bool last = i + 1 == rounds;
      compute_round(
          {share.first_group + groups * i / rounds, share.first_group + groups * (i + 1) / rounds,
           share.first_panel, share.last_panel},
          operands, last ? read_next : read_first(share));
    }
  }

 private:
  const float* panel_at(std::size_t panel) const {
    return reinterpret_cast<const float*>(panels_->data()) + sizes_.floats_before(panel);
  }
  std::size_t floats_of(std::size_t panel) const {
    return sizes_.floats_before(panel + 1) - sizes_.floats_before(panel);
  }

  /// Computes stretch by stretch. A stretch of the rows stays in cache for all panels.
  void compute_round(const Share& share, const Arguments& operands,
                     std::span<const std::byte> read_next) const {
    const std::size_t stretches = (sizes_.elements + caches().stretch - 1) / caches().stretch;
    // A single group reads panels in sequence, which the hardware prefetcher foresees.
    const bool many = share.last_group - share.first_group > 1;
    const auto begin_of = [&](std::size_t i) { return sizes_.elements * i / stretches; };
    for (std::size_t i = 0; i < stretches; ++i) {
      const std::size_t first = begin_of(i), end = begin_of(i + 1);
      for (std::size_t panel = share.first_panel; panel < share.last_panel; ++panel) {
        PanelAhead ahead = panel + 1 < share.last_panel ? ahead_of(panel + 1, first, end)
                           : i + 1 < stretches ? ahead_of(share.first_panel, end, begin_of(i + 2))
                                               : PanelAhead(read_next);
        for (std::size_t group = share.first_group; group < share.last_group; ++group) {
          RowProduct product = product_of(group, panel, operands);
          product.left += first;
          product.panel = stretch_of(panel, first);
          product.elements = end - first;
          product.continues = i > 0;
          product.ends = i + 1 == stretches;
          if (many)
            product.fetch =
                ahead.share(product.elements / elements_at_once, 1, share.last_group - group);
          multiply_rows(product, sizes_.rows_of(group));
        }
      }
    }
  }
  /// A panel's elements from `first` on.
  const float* stretch_of(std::size_t panel, std::size_t first) const {
    return panel_at(panel) + first * sizes_.width_of(panel);
  }
  PanelAhead ahead_of(std::size_t panel, std::size_t first, std::size_t end) const {
    return {stretch_of(panel, first), (end - first) * sizes_.width_of(panel)};
  }

  RowProduct product_of(std::size_t group, std::size_t panel, const Arguments& operands) const {
    const auto floats = [&](std::size_t input) {
      return reinterpret_cast<const float*>(operands.inputs[input]);
    };
    const std::size_t row = sizes_.first_row(group);
    const std::size_t column = sizes_.first_column(panel);
    const std::size_t at = row * sizes_.columns + column;
    return {.left = floats(0) + row * sizes_.elements,
            .left_step = sizes_.elements,
            .panel = nullptr,
            .elements = 0,
            .vectors = sizes_.vectors_of(panel),
            .result = reinterpret_cast<float*>(operands.outputs[0]) + at,
            .result_step = sizes_.columns,
            .columns = sizes_.columns - column,
            .continues = false,
            .ends = true,
            .bias = epilogue_.bias == 0 ? nullptr : floats(epilogue_.bias) + column,
            .added = epilogue_.added == 0 ? nullptr : floats(epilogue_.added) + at,
            .lowest = epilogue_.lowest,
            .highest = epilogue_.highest,
            .gelu = epilogue_.gelu ? &NormalTail::get() : nullptr};
  }

  const Sizes sizes_;
  const Epilogue epilogue_;
  const KeptBytes panels_;
  std::vector<Share> shares_;
};

KeptBytes panels_of(const Sizes& sizes, const RightMatrix& matrix) {
  auto bytes = Buffer::uninitialized(sizes.floats(sizes.elements) * sizeof(float));
  fill_panels(matrix, sizes, bytes.as<float>().data());
  return kept_once(std::make_shared<const Buffer>(std::move(bytes)));
}

}  // namespace

Refusal refuse_matrix_product(const Problem& problem) {
  if (!has_fused_vectors()) return "processors that multiply and add in one instruction only";
  const auto* const gemm = std::get_if<GemmAttributes>(&problem.attributes);
  if (gemm != nullptr && (gemm->alpha != 1 || gemm->beta != 1 || gemm->a_transpose))
    return "without alpha, beta and aTranspose only";
  for (const Slot& slot : problem.inputs)
    if (slot.present && slot.descriptor.data_type != DataType::float32) return "float32 only";
  const Slot &a = problem.inputs[0], &b = problem.inputs[1], &result = problem.outputs[0];
  if (!b.constant) return "constant matrices only";
  if (b.layout != Layout::plain || !a.lies_plain() || !result.lies_plain())
    return "plain layouts only";
  const Shape &matrix = b.descriptor.shape, &out = result.descriptor.shape;
  if (!std::all_of(matrix.begin(), matrix.end() - 2, [](std::uint32_t n) { return n == 1; }))
    return "one matrix only";
  // With shorter sums the work around them dominates: 100,000 rows of 32 by 32 take a third longer.
  // The limit lies between 32 and 64; its exact place was not measured.
  if (a.descriptor.shape.back() < 64) return "sums of 64 elements or more only";
  if (*element_count(out) / out.back() < 2) return "two rows or more only";
  if (!product_epilogue_of(problem)) return "behind it additions and one function only";
  return std::nullopt;
}

KernelResult prepare_matrix_product(const Problem& problem) {
  if (auto why = refuse_matrix_product(problem)) return refuse(*std::move(why));
  const auto matrix = RightMatrix::of(problem);
  const Sizes sizes{{*element_count(problem.outputs[0].descriptor.shape) / matrix.columns},
                    {matrix.columns},
                    matrix.rows};
  return KernelResult(std::make_unique<MatrixProduct>(sizes, *product_epilogue_of(problem),
                                                      panels_of(sizes, matrix)));
}

}  // namespace polychron::kernels::direct
