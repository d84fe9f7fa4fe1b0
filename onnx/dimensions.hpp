// Checked access to the dimensions of an operand.
#pragma once

#include <cstdint>

#include "onnx/problem.hpp"
#include "polychron/descriptor.hpp"

namespace polychron::onnx::detail {

/// A view of a shape. Handlers expect certain ranks, but a model may have any: access to a missing
/// dimension throws bad_data. The shapes of operands and literals stay valid during the call of a
/// handler.
class Dimensions {
 public:
  explicit Dimensions(const Shape& shape) noexcept : shape_(&shape) {}
  operator const Shape&() const noexcept { return *shape_; }

  std::uint32_t operator[](std::size_t i) const {
    if (i >= shape_->size())
      malformed("rank " + std::to_string(shape_->size()) + ": there is no dimension " +
                std::to_string(i));
    return (*shape_)[i];
  }
  std::uint32_t back() const {
    if (shape_->empty()) malformed("rank 0: there is no last dimension");
    return shape_->back();
  }
  /// Dimensions i, i + 1, ...
  Shape from(std::size_t i) const {
    if (i > size()) malformed("rank " + std::to_string(size()) + " is too small");
    return {begin() + static_cast<std::ptrdiff_t>(i), end()};
  }
  /// The shape with another size in dimension `i`.
  Shape with(std::size_t i, std::uint32_t size) const {
    static_cast<void>((*this)[i]);
    auto shape = *shape_;
    shape[i] = size;
    return shape;
  }
  std::size_t size() const noexcept { return shape_->size(); }
  bool empty() const noexcept { return shape_->empty(); }
  Shape::const_iterator begin() const noexcept { return shape_->begin(); }
  Shape::const_iterator end() const noexcept { return shape_->end(); }

  friend bool operator==(const Dimensions& a, const Shape& b) { return *a.shape_ == b; }
  friend bool operator==(const Dimensions& a, const Dimensions& b) {
    return *a.shape_ == *b.shape_;
  }

 private:
  const Shape* shape_;
};

}  // namespace polychron::onnx::detail
