// Random graphs, made through the public builder: every choice comes from a seed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "polychron/polychron.hpp"

namespace polychron::tests {

/// Grows a graph operator by operator; every choice comes from the seed, so that two builders get
/// the same graph.
class RandomGraph {
 public:
  RandomGraph(GraphBuilder& builder, std::uint64_t seed) : builder_(builder), random_(seed) {
    const Shape shapes[] = {{2, 8, 4, 6}, {1, 16, 5, 5}, {3, 4, 10}, {6, 12}, {2, 20, 3, 3}};
    for (std::size_t i = 0; i < 2; ++i)
      pool_.push_back(builder_.input("in" + std::to_string(i),
                                     {DataType::float32, shapes[below(std::size(shapes))]}));
    const std::size_t inputs = pool_.size(), count = 4 + below(14);
    while (pool_.size() < inputs + count) grow();
    for (std::size_t i = 0; i < 1 + below(3); ++i) {
      const auto chosen = inputs + below(pool_.size() - inputs);
      outputs_.emplace_back("out" + std::to_string(i), pool_[chosen]);
    }
    outputs_.emplace_back("last", pool_.back());
  }
  const NamedOperands& outputs() const { return outputs_; }

 private:
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(random_() % bound); }
  std::uint32_t pick(std::size_t bound) { return static_cast<std::uint32_t>(below(bound)); }
  /// Later operands more often, so that chains come about.
  const Operand& any() { return pool_[std::max(below(pool_.size()), below(pool_.size()))]; }
  Operand constant(const Shape& shape) {
    std::vector<float> values(*element_count(shape));
    for (float& value : values) value = static_cast<float>(below(2001)) / 1000.0F - 1.0F;
    return builder_.constant({DataType::float32, shape}, values);
  }
  void add(const Operand& operand) {
    if (*element_count(operand.shape()) <= 6000) pool_.push_back(operand);
  }

  void grow() {
    const Operand x = any();
    const Shape shape = x.shape();
    const auto rank = shape.size();
    if (rank == 0) return;
    const std::uint32_t axis = pick(rank);
    switch (below(23)) {
      case 0:
      case 1:
        return add(unary(x));
      case 2:
        return add(binary(x, second_for(shape)));
      case 3:
        return add(binary(second_for(shape), x));
      case 4:
        return transpose(x);
      case 5:
        return reshape(x);
      case 6:
        return slice(x);
      case 7:
        if (shape[axis] % 2 != 0) return;
        for (const Operand& part : builder_.split(x, 2, axis)) add(part);
        return;
      case 8:
        return add(builder_.concat({x, below(2) == 0 ? x : same_shape(shape)}, axis));
      case 9:
        return multiply(x);
      case 10:
        return add(builder_.softmax(x, axis));
      case 11:
        return normalize(x, axis);
      case 12:
      case 13:
        return convolve(x);
      case 14:
        return pool(x);
      case 15:
        return enlarge(x);
      case 16:
        return standardize(x);
      case 17:
        return multiply_matrices(x);
      case 18:
        return pad(x);
      case 19:
        return move(x, axis);
      case 20:
        return pick_by_number(x, axis);
      case 21:
        return look_along(x, axis);
      default:
        return spread(x, axis);
    }
  }

  Operand unary(const Operand& x) {
    switch (below(12)) {
      case 0:
        return builder_.relu(x);
      case 1:
        return builder_.sigmoid(x);
      case 2:
        return builder_.tanh(x);
      case 3:
        return builder_.neg(x);
      case 4:
        return builder_.gelu(x);
      case 5:
        return builder_.hard_swish(x);
      case 6:
        return builder_.mul(x, builder_.sigmoid(x));
      case 7:
        return builder_.sin(x);
      case 8:
        return builder_.leaky_relu(x);
      case 9:
        return builder_.softplus(x);
      case 10:
        return builder_.erf(x);
      default:
        return builder_.clamp(x, {.min_value = -0.5, .max_value = 2.0});
    }
  }
  Operand binary(const Operand& a, const Operand& b) {
    switch (below(4)) {
      case 0:
        return builder_.add(a, b);
      case 1:
        return builder_.sub(a, b);
      case 2:
        return builder_.mul(a, b);
      default:
        return builder_.max(a, b);
    }
  }
  Operand same_shape(const Shape& shape) {
    for (std::size_t i = 0; i < 4; ++i)
      if (const Operand& other = any(); other.shape() == shape) return other;
    return constant(shape);
  }
  Operand second_for(const Shape& shape) {
    switch (below(4)) {
      case 0:
        return constant({});
      case 1:
        return constant({shape.back()});
      case 2: {
        Shape channel(shape.size(), 1);
        const auto at = below(shape.size());
        channel[at] = shape[at];
        return constant(channel);
      }
      default:
        return same_shape(shape);
    }
  }
  void transpose(const Operand& x) {
    std::vector<std::uint32_t> order(x.shape().size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[below(i)]);
    add(builder_.transpose(x, {.permutation = order}));
  }
  void reshape(const Operand& x) {
    Shape shape = x.shape();
    const auto at = below(shape.size());
    if (at + 1 < shape.size() && below(2) == 0) {
      shape[at] *= shape[at + 1];
      shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    } else if (shape.size() < 5 && shape[at] % 2 == 0) {
      shape[at] /= 2;
      shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(at), 2);
    } else {
      return;
    }
    add(builder_.reshape(x, shape));
  }
  void slice(const Operand& x) {
    std::vector<std::uint32_t> starts, sizes;
    for (const std::uint32_t extent : x.shape()) {
      const bool whole = below(2) == 0;
      starts.push_back(whole ? 0 : pick(extent));
      sizes.push_back(whole ? extent : 1 + pick(extent - starts.back()));
    }
    add(builder_.slice(x, {.starts = starts, .sizes = sizes}));
  }
  void multiply(const Operand& x) {
    const Shape& shape = x.shape();
    if (shape.size() < 2) return;
    if (below(2) == 0) return add(builder_.matmul(x, constant({shape.back(), 1 + pick(20)})));
    std::vector<std::uint32_t> order(shape.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::swap(order[order.size() - 1], order[order.size() - 2]);
    const Operand product = builder_.matmul(x, builder_.transpose(x, {.permutation = order}));
    add(builder_.mul(product, builder_.constant(DataType::float32, 0.1)));
  }
  void normalize(const Operand& x, std::uint32_t axis) {
    const ReduceAttributes along{.axes = {{axis}}, .keep_dimensions = true};
    const Operand centred = builder_.sub(x, builder_.reduce_mean(x, along));
    if (below(2) == 0) return add(centred);
    const Operand variance = builder_.reduce_mean(builder_.mul(centred, centred), along);
    const Operand epsilon = builder_.constant(DataType::float32, 0.1);
    add(builder_.div(centred, builder_.sqrt(builder_.add(variance, epsilon))));
  }
  void convolve(const Operand& x) {
    const Shape& shape = x.shape();
    if (shape.size() != 4 || shape[2] < 3 || shape[3] < 3) return;
    const std::uint32_t side = below(2) == 0 ? 1 : 3;
    Conv2dAttributes attributes;
    if (side == 3 && below(2) == 0) attributes.padding = {1, 1, 1, 1};
    const bool depthwise = below(3) == 0;
    const std::uint32_t outputs = depthwise ? shape[1] : 1 + pick(24);
    if (depthwise) attributes.groups = shape[1];
    std::optional<Operand> bias;
    if (below(2) == 0) bias = constant({outputs});
    const Operand filter = constant({outputs, depthwise ? 1 : shape[1], side, side});
    const Operand y = builder_.conv2d(x, filter, attributes, bias);
    add(below(2) == 0 ? unary(y) : y);
  }
  void pool(const Operand& x) {
    const Shape& shape = x.shape();
    if (shape.size() != 4 || shape[2] < 2 || shape[3] < 2) return;
    Pool2dAttributes attributes;
    if (below(2) == 0) {
      attributes.window_dimensions = {{2, 2}};
      attributes.strides = {2, 2};
    }
    switch (below(3)) {
      case 0:
        return add(builder_.average_pool2d(x, attributes));
      case 1:
        return add(builder_.l2_pool2d(x, attributes));
      default:
        return add(builder_.max_pool2d(x, attributes));
    }
  }

  /// Pictures of twice the size, by a transposed convolution or by resampling.
  void enlarge(const Operand& x) {
    const Shape& shape = x.shape();
    if (shape.size() != 4) return;
    if (below(2) == 0) {
      Resample2dAttributes attributes;
      if (below(2) == 0) attributes.mode = InterpolationMode::linear;
      attributes.sizes = {{shape[2] * 2, shape[3] * 2}};
      return add(builder_.resample2d(x, attributes));
    }
    const std::uint32_t outputs = 1 + pick(20);
    std::optional<Operand> bias;
    if (below(2) == 0) bias = constant({outputs});
    const Operand filter = constant({shape[1], outputs, 2, 2});
    add(builder_.conv_transpose2d(x, filter, {.strides = {2, 2}}, bias));
  }
  void standardize(const Operand& x) {
    const Shape& shape = x.shape();
    ScaleAndBias operands;
    if (shape.size() >= 2 && below(2) == 0) {
      const Operand mean = constant({shape[1]});
      const Operand variance =
          builder_.mul(constant({shape[1]}), builder_.constant(DataType::float32, 0.5));
      if (below(2) == 0) operands.scale = constant({shape[1]});
      const Operand positive = builder_.mul(variance, variance);
      return add(builder_.batch_normalization(x, mean, positive, {.epsilon = 0.1}, operands));
    }
    const auto last = static_cast<std::uint32_t>(shape.size() - 1);
    if (below(2) == 0) operands.scale = constant({shape[last]});
    if (below(2) == 0) operands.bias = constant({shape[last]});
    add(builder_.layer_normalization(x, {.axes = {{last}}, .epsilon = 0.1}, operands));
  }
  void multiply_matrices(const Operand& x) {
    const Shape& shape = x.shape();
    if (shape.size() != 2) return;
    GemmAttributes attributes;
    attributes.a_transpose = below(2) == 0;
    attributes.b_transpose = below(2) == 0;
    attributes.alpha = 0.5;
    const std::uint32_t inner = shape[attributes.a_transpose ? 0 : 1], columns = 1 + pick(20);
    std::optional<Operand> c;
    if (below(2) == 0) c = constant({columns});
    const Operand b =
        constant(attributes.b_transpose ? Shape{columns, inner} : Shape{inner, columns});
    add(builder_.gemm(x, b, attributes, c));
  }
  void pad(const Operand& x) {
    std::vector<std::uint32_t> before, after;
    for (std::size_t i = 0; i < x.shape().size(); ++i) {
      before.push_back(pick(2));
      after.push_back(pick(2));
    }
    add(builder_.pad(x, {.beginning_padding = before, .ending_padding = after}));
  }
  void move(const Operand& x, std::uint32_t axis) {
    switch (below(3)) {
      case 0: {
        ReverseAttributes attributes;
        if (below(2) == 0) attributes.axes = {{axis}};
        return add(builder_.reverse(x, attributes));
      }
      case 1: {
        std::vector<std::uint32_t> repetitions(x.shape().size(), 1);
        repetitions[axis] = 2;
        return add(builder_.tile(x, repetitions));
      }
      default: {
        if (x.shape().size() < 2) return;
        TriangularAttributes attributes;
        attributes.upper = below(2) == 0;
        attributes.diagonal = static_cast<std::int32_t>(below(5)) - 2;
        return add(builder_.triangular(x, attributes));
      }
    }
  }
  /// Numbers that count along `extent` elements, also from the end and beyond.
  Operand indices(const Shape& shape, std::uint32_t extent) {
    std::vector<std::int32_t> values(*element_count(shape));
    const auto reach = static_cast<std::int32_t>(extent) + 1;
    for (auto& value : values) value = static_cast<std::int32_t>(pick(2 * extent + 3)) - reach;
    return builder_.constant({DataType::int32, shape}, values);
  }
  void pick_by_number(const Operand& x, std::uint32_t axis) {
    const Shape shape = x.shape();
    Shape along = shape;
    along[axis] = 1 + pick(4);
    Shape rows = shape;
    rows[0] = 3;
    const GatherAttributes gather{.axis = axis};
    switch (below(6)) {
      case 0:
        return add(builder_.gather(x, indices({1 + pick(4)}, shape[axis]), gather));
      case 1:
        return add(builder_.gather_elements(x, indices(along, shape[axis]), gather));
      case 2:
        return add(builder_.gather_nd(x, indices({3, 1}, shape[0])));
      case 3: {
        const Operand places = indices(along, shape[axis]), updates = same_shape(along);
        return add(builder_.scatter_elements(x, places, updates, {.axis = axis}));
      }
      case 4: {
        const Operand places = indices({3, 1}, shape[0]), updates = same_shape(rows);
        return add(builder_.scatter_nd(x, places, updates));
      }
      default: {
        const Operand places = indices({3, 1}, shape[0]), updates = same_shape(rows);
        const auto reduction = below(2) == 0 ? ScatterReduction::add : ScatterReduction::max;
        return add(builder_.scatter_reduce(x, places, updates, {reduction}));
      }
    }
  }
  void look_along(const Operand& x, std::uint32_t axis) {
    switch (below(3)) {
      case 0:
        return add(builder_.cumulative_sum(
            x, {.axis = axis, .exclusive = below(2) == 0, .reversed = below(2) == 0}));
      case 1: {
        // Of an input: computed values have nearly equal numbers, which kernels order differently.
        const Operand& input = pool_[below(2)];
        const auto along = pick(input.shape().size());
        const Operand place = below(2) == 0 ? builder_.arg_min(input, {.axis = along})
                                            : builder_.arg_max(input, {.axis = along});
        if (below(2) == 0) return add(builder_.cast(place, DataType::float32));
        if (x.shape().size() + place.shape().size() - 1 > max_rank) return;
        return add(builder_.gather(x, place, {.axis = axis}));
      }
      default: {
        const Operand odd = below(2) == 0 ? builder_.is_nan(x) : builder_.is_infinite(x);
        return add(builder_.where(odd, builder_.constant(DataType::float32, 0.5), x));
      }
    }
  }
  /// A sum over an axis, copied along it.
  void spread(const Operand& x, std::uint32_t axis) {
    const Shape shape = x.shape();
    const ReduceAttributes along{.axes = {{axis}}, .keep_dimensions = true};
    const Operand sum =
        below(2) == 0 ? builder_.reduce_sum(x, along) : builder_.reduce_max(x, along);
    add(builder_.expand(sum, shape));
  }

  GraphBuilder& builder_;
  std::mt19937_64 random_;
  std::vector<Operand> pool_;
  NamedOperands outputs_;
};

}  // namespace polychron::tests
