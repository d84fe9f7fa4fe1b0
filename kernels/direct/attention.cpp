// softmax(scale * Q K + mask) V of each head in one step. The weights of eight queries at a time
// stay in a core's first-level cache between the two products. A head's keys and values are packed
// into panels once for all of its queries.
#include <algorithm>

#include "kernels/attention_operands.hpp"
#include "kernels/direct/column_panels.hpp"
#include "kernels/direct/direct.hpp"
#include "kernels/direct/parts_bound.hpp"
#include "kernels/direct/row_product.hpp"
#include "kernels/direct/softmax_rows.hpp"
#include "kernels/parts.hpp"

namespace polychron::kernels::direct {
namespace {

/// A part: a range of units. Each unit is a head or, if there are few heads, a block of its
/// queries.
struct HeadShare {
  std::size_t first, last;
  std::size_t worker;
};

class Attention final : public Kernel {
 public:
  explicit Attention(AttentionOperands operands)
      : operands_(std::move(operands)), keys_{operands_.keys}, features_{operands_.value_features} {
    const auto& o = operands_;
    constexpr std::size_t least_block = 32;  // fewest queries that are worth packing panels for
    blocks_ = o.heads >= usual_parts
                  ? 1
                  : std::clamp<std::size_t>(o.queries / least_block, 1, usual_parts);
    // An exponential and the work around it count as 16 operations.
    const double operations =
        static_cast<double>(o.heads * o.queries) *
        static_cast<double>(o.keys * (2 * o.features + 2 * o.value_features + 16));
    const std::size_t units = o.heads * blocks_,
                      parts = parts_of(operations / operations_per_ns, units);
    for (std::size_t i = 0; i < parts; ++i)
      shares_.push_back({units * i / parts, units * (i + 1) / parts, i});
    value_panels_ = keys_.floats(o.features);
    scores_ = value_panels_ + features_.floats(o.keys);
    worker_floats_ = scores_ + RowTile::get().rows * scores_step();
  }

  std::size_t parts() const noexcept override { return shares_.size(); }
  std::size_t scratch_bytes() const noexcept override {
    return parts() * worker_floats_ * sizeof(float);
  }
  std::unique_ptr<Bound> bind(const Arguments& arguments) const override {
    return std::make_unique<PartsBound<Attention, const Arguments&>>(*this, arguments);
  }

  HeadShare whole() const { return {0, operands_.heads * blocks_, 0}; }
  const HeadShare& share(std::size_t part) const { return shares_[part]; }
  std::span<const std::byte> read_first(const HeadShare&) const noexcept { return {}; }

  void compute(const HeadShare& share, const Arguments& arguments,
               std::span<const std::byte>) const {
    float* const scratch =
        reinterpret_cast<float*>(arguments.scratch) + share.worker * worker_floats_;
    for (std::size_t unit = share.first; unit < share.last; ++unit) {
      const std::size_t head = unit / blocks_, block = unit % blocks_;
      const Head at = head_of(head, arguments);
      if (unit == share.first || block == 0) make_panels(at, scratch);
      attend(at, scratch, operands_.queries * block / blocks_,
             operands_.queries * (block + 1) / blocks_);
    }
  }

 private:
  struct Head {
    const float *queries, *keys, *values;
    Mask mask;
    float* result;
  };

  std::size_t scores_step() const { return keys_.floats(1); }

  Head head_of(std::size_t head, const Arguments& arguments) const {
    const auto& o = operands_;
    const auto input = [&](std::size_t index, const HeadSteps& steps) {
      return reinterpret_cast<const float*>(arguments.inputs[index]) + o.offset(steps, head);
    };
    Mask mask;
    if (o.masked)
      mask = {input(3, o.mask), static_cast<std::size_t>(o.mask.row), o.mask.column == 1};
    return {input(0, o.query), input(1, o.key), input(2, o.value), mask,
            reinterpret_cast<float*>(arguments.outputs[0]) + o.offset(o.result, head)};
  }

  void make_panels(const Head& head, float* scratch) const {
    const auto& o = operands_;
    fill_panels({head.keys, o.key.row, o.key.column, o.features, o.keys}, keys_, scratch);
    fill_panels({head.values, o.value.row, o.value.column, o.keys, o.value_features}, features_,
                scratch + value_panels_);
  }

  void attend(const Head& head, float* scratch, std::size_t first, std::size_t last) const {
    const auto& o = operands_;
    float* const scores = scratch + scores_;
    const RowGroups groups{last - first};
    for (std::size_t group = 0; group < groups.groups(); ++group) {
      const std::size_t query = first + groups.first_row(group), rows = groups.rows_of(group);
      const std::size_t query_row = static_cast<std::size_t>(o.query.row);
      const std::size_t result_row = static_cast<std::size_t>(o.result.row);
      multiply(head.queries + query * query_row, query_row, o.features, scratch, keys_, scores,
               scores_step(), rows);
      Mask mask = head.mask;
      if (mask.numbers != nullptr) mask.numbers += query * mask.row_step;
      soften_rows(scores, scores_step(), rows, o.keys, o.scale, mask);
      multiply(scores, scores_step(), o.keys, scratch + value_panels_, features_,
               head.result + query * result_row, result_row, rows);
    }
  }
  static void multiply(const float* left, std::size_t left_step, std::size_t elements,
                       const float* matrix, const ColumnPanels& panels, float* result,
                       std::size_t result_step, std::size_t rows) {
    for (std::size_t panel = 0; panel < panels.panels(); ++panel) {
      const std::size_t column = panels.first_column(panel);
      multiply_rows({.left = left,
                     .left_step = left_step,
                     .panel = matrix + column * elements,
                     .elements = elements,
                     .vectors = panels.vectors_of(panel),
                     .result = result + column,
                     .result_step = result_step,
                     .columns = panels.columns - column,
                     .continues = false,
                     .ends = true},
                    rows);
    }
  }

  const AttentionOperands operands_;
  const ColumnPanels keys_, features_;
  std::size_t blocks_ = 1;  ///< of each head's queries
  std::vector<HeadShare> shares_;
  /// Offsets in a worker's scratch memory, behind the panels of keys.
  std::size_t value_panels_ = 0, scores_ = 0, worker_floats_ = 0;
};

}  // namespace

KernelResult prepare_attention(const Problem& problem) {
  auto operands = attention_operands(problem);
  if (!operands) return refuse("not an attention as our own loops take it");
  return KernelResult(std::make_unique<Attention>(std::move(*operands)));
}

}  // namespace polychron::kernels::direct
