// The Bound of a kernel that computes its parts itself, and prefetches what the next step reads
// first.
#pragma once

#include <utility>

#include "kernels/kernel.hpp"

namespace polychron::kernels::direct {

/// `Own` is a Kernel with whole() and share(part), which return the work to compute, with
/// compute(work, operands, read_next) and with read_first(work). `Operands` describes the memory
/// that it is bound to. It may be a reference to the Arguments, which outlive this object.
template <class Own, class Operands>
class PartsBound final : public Bound {
 public:
  PartsBound(const Own& kernel, Operands operands)
      : kernel_(kernel), operands_(std::move(operands)) {}
  std::size_t parts() const noexcept override { return kernel_.parts(); }
  void run() override { kernel_.compute(kernel_.whole(), operands_, read_by_next(0)); }
  void run_part(std::size_t part) override {
    kernel_.compute(kernel_.share(part), operands_, read_by_next(part));
  }
  std::span<const std::byte> reads_first(std::size_t part) const noexcept override {
    return kernel_.read_first(kernel_.share(part));
  }
  void precedes(const Bound& next) override { next_ = &next; }

 private:
  std::span<const std::byte> read_by_next(std::size_t part) const {
    return next_ == nullptr ? std::span<const std::byte>{}
                            : next_->reads_first(part * next_->parts() / parts());
  }

  const Own& kernel_;
  const Operands operands_;
  const Bound* next_ = nullptr;
};

}  // namespace polychron::kernels::direct
