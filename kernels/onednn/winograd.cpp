#include "kernels/onednn/winograd.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>

#include "kernels/minimal_filtering.hpp"
#include "kernels/onednn/library.hpp"
#include "kernels/vectors.hpp"

namespace polychron::kernels::onednn {

namespace {

/// All are finite, and so small that sums of products of them are: below 2^48. NaNs are not.
bool ordinary(std::span<const std::byte> floats) {
  constexpr std::uint32_t magnitude = 0x7fffffff, limit = std::bit_cast<std::uint32_t>(0x1p48F);
  // The top bit is set by whatever is not below the limit. Without a branch, for vectors.
  std::uint32_t any = 0;
  const auto* const bits = reinterpret_cast<const std::uint32_t*>(floats.data());
  const std::size_t count = floats.size() / sizeof(float);
  with_vectors([&] {
    std::uint32_t seen = 0;
    for (std::size_t i = 0; i < count; ++i) seen |= (bits[i] & magnitude) + (magnitude + 1 - limit);
    any = seen;
  });
  return any <= magnitude;
}

class CheckedBound final : public Bound {
 public:
  CheckedBound(std::unique_ptr<Bound> fast, std::unique_ptr<Bound> any, const Arguments& arguments,
               std::size_t bytes)
      : fast_(std::move(fast)), any_(std::move(any)), arguments_(arguments), bytes_(bytes) {}
  void rebind() override {
    fast_->rebind();
    any_->rebind();
  }
  void run() override { (ordinary({arguments_.inputs[0], bytes_}) ? fast_ : any_)->run(); }

 private:
  const std::unique_ptr<Bound> fast_, any_;
  const Arguments& arguments_;
  const std::size_t bytes_;
};

class CheckedKernel final : public Kernel {
 public:
  CheckedKernel(std::unique_ptr<Kernel> fast, std::unique_ptr<Kernel> any, std::size_t bytes)
      : fast_(std::move(fast)), any_(std::move(any)), bytes_(bytes) {}
  std::size_t scratch_bytes() const noexcept override {
    return std::max(fast_->scratch_bytes(), any_->scratch_bytes());
  }
  std::size_t constant_bytes() const noexcept override {
    return fast_->constant_bytes() + any_->constant_bytes();
  }
  bool keeps_constant(std::size_t index) const noexcept override {
    return fast_->keeps_constant(index) && any_->keeps_constant(index);
  }
  bool filters_minimally() const noexcept override { return true; }
  std::unique_ptr<Bound> bind(const Arguments& arguments) const override {
    return std::make_unique<CheckedBound>(fast_->bind(arguments), any_->bind(arguments), arguments,
                                          bytes_);
  }

 private:
  const std::unique_ptr<Kernel> fast_, any_;
  const std::size_t bytes_;
};

}  // namespace

std::optional<std::string> unfit_for_winograd(const Problem& problem) {
  if (!suits_minimal_filtering(problem)) return "too little to gain by minimal filtering";
  if (!is_float32(problem.inputs[0])) return "float32 only";
  const Slot& filter = problem.inputs[1];  // a part's may be the beginning of more
  if (!ordinary(filter.constant->bytes().first(*byte_length(filter.descriptor))))
    return "filters of ordinary values only";
  return std::nullopt;
}

std::unique_ptr<Kernel> with_values_checked(std::unique_ptr<Kernel> fast,
                                            std::unique_ptr<Kernel> any, const Problem& problem) {
  return std::make_unique<CheckedKernel>(
      std::move(fast), std::move(any),
      storage_bytes(problem.inputs[0].descriptor, problem.inputs[0].layout));
}

}  // namespace polychron::kernels::onednn
