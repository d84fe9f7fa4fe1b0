// A product with a constant matrix of 4-bit or 8-bit integers that stay packed: packed_loops.cpp
// computes its parts.
#include <algorithm>

#include "base/kept_once.hpp"
#include "kernels/direct/direct.hpp"
#include "kernels/direct/packed_panels.hpp"
#include "kernels/direct/parts_bound.hpp"
#include "kernels/parts.hpp"

namespace polychron::kernels::direct {
namespace {

/// Some panels.
struct PanelShare {
  std::size_t first, last, worker;
};

class PackedProduct final : public Kernel {
 public:
  PackedProduct(const PackedOperands& operands, const Problem& problem) : o_(operands) {
    layout_ = {.elements = o_.elements,
               .block = o_.block,
               .width = columns_of_panel(),
               .four_bits = o_.four_bits};
    panels_ = kept_once(std::make_shared<const Buffer>(pack_panels(problem, o_, layout_)));
    const std::size_t panels = (o_.columns + layout_.width - 1) / layout_.width;
    const auto weights = static_cast<double>(o_.elements * o_.columns);
    const double work = std::max(weights / weights_per_ns,
                                 2 * weights * static_cast<double>(o_.rows) / operations_per_ns);
    const std::size_t parts = parts_of(work, panels);
    for (std::size_t i = 0; i < parts; ++i)
      shares_.push_back({panels * i / parts, panels * (i + 1) / parts, i});
  }

  std::size_t parts() const noexcept override { return shares_.size(); }
  std::size_t scratch_bytes() const noexcept override { return parts() * worker_floats() * 4; }
  void add_constants(Constants& constants) const override { constants.push_back(panels_); }
  bool keeps_constant(std::size_t index) const noexcept override { return index > 0; }
  std::unique_ptr<Bound> bind(const Arguments& arguments) const override {
    return std::make_unique<PartsBound<PackedProduct, const Arguments&>>(*this, arguments);
  }

  PanelShare whole() const { return {0, shares_.back().last, 0}; }
  const PanelShare& share(std::size_t part) const { return shares_[part]; }
  std::span<const std::byte> read_first(const PanelShare&) const noexcept { return {}; }

  void compute(const PanelShare& share, const Arguments& arguments,
               std::span<const std::byte>) const {
    auto* const sums = reinterpret_cast<float*>(arguments.scratch) + share.worker * worker_floats();
    for (std::size_t row = 0; row < o_.rows; row += most_packed_rows) {
      PackedTiles tiles{.count = std::min(most_packed_rows, o_.rows - row), .step = o_.columns};
      tiles.rows = reinterpret_cast<const float*>(arguments.inputs[0]) + row * o_.elements;
      tiles.block_sums = sums;
      if (layout_.minima)
        for (std::size_t i = 0; i < tiles.count * o_.blocks; ++i)
          sums[i] = sum_of_floats(tiles.rows + i * o_.block, o_.block);
      for (std::size_t panel = share.first; panel < share.last; ++panel) {
        const std::size_t column = panel * layout_.width;
        tiles.panel = panels_->data() + panel * layout_.panel_bytes();
        tiles.results = reinterpret_cast<float*>(arguments.outputs[0]) + row * o_.columns + column;
        tiles.columns = std::min(layout_.width, o_.columns - column);
        multiply_panel(layout_, tiles);
      }
    }
  }

 private:
  static constexpr double weights_per_ns = 8;  // of one row

  std::size_t worker_floats() const {
    return layout_.minima ? (std::min(o_.rows, most_packed_rows) * o_.blocks + 15) / 16 * 16 : 0;
  }

  const PackedOperands o_;
  PackedLayout layout_;
  KeptBytes panels_;
  std::vector<PanelShare> shares_;
};

}  // namespace

KernelResult prepare_packed_product(const Problem& problem) {
  const auto operands = packed_operands(problem);
  if (!operands) return refuse("not a product with packed weights as our own loops take it");
  return KernelResult(std::make_unique<PackedProduct>(*operands, problem));
}

}  // namespace polychron::kernels::direct
