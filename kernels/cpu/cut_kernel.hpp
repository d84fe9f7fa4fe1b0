// A kernel made of one kernel for each part of a step.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernels/cpu/cut.hpp"
#include "kernels/kernel.hpp"

namespace polychron::kernels {

/// Immutable, as its parts' kernels are. The parts of its Bound may run at the same time.
class CutKernel final : public Kernel {
 public:
  /// `kernels` has one for each part, or null if the part has a twin.
  CutKernel(const Problem& whole, std::vector<Part> parts,
            std::vector<std::unique_ptr<Kernel>> kernels);

  /// True if the kernels find all their operands in those of the whole.
  bool fits() const noexcept;

  std::size_t scratch_bytes() const noexcept override { return scratch_bytes_; }
  void add_constants(Constants& constants) const override {
    for (const PlacedPart& place : places_) place.kernel->add_constants(constants);
  }
  std::size_t parts() const noexcept override { return places_.size(); }
  bool keeps_constant(std::size_t index) const noexcept override;
  bool in_place(std::size_t index) const noexcept override;
  std::unique_ptr<Bound> bind(const Arguments& arguments) const override;

 private:
  friend class CutBound;
  struct PlacedPart {
    std::shared_ptr<const Kernel> kernel;
    std::vector<std::size_t> inputs;
    std::size_t output, scratch;  ///< byte offsets
  };
  std::vector<PlacedPart> places_;
  std::vector<bool> alike_;  ///< inputs that are cut like the result
  std::size_t scratch_bytes_ = 0;
};

/// A kernel of parts for `problem`, or null if it is to be computed as a whole. `text` describes
/// it.
std::unique_ptr<Kernel> prepare_in_parts(const Problem& problem, std::string& text,
                                         double least = least_work);

}  // namespace polychron::kernels
