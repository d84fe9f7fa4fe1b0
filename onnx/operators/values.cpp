// Operators whose result shapes depend on values, which must be known at import.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "onnx/handlers.hpp"
#include "onnx/operators/iota.hpp"

namespace polychron::onnx::detail {

namespace {

using Ints = std::vector<std::int64_t>;

const Literal& known_input(const Node& node, std::size_t i) {
  const auto* known = node.calculable_literal(i);
  if (!known && node.literal(i)) unsupported("too many values of input " + std::to_string(i));
  if (!known) node.want_value(i);
  return *known;
}

std::uint32_t size32(std::size_t size) { return static_cast<std::uint32_t>(size); }

void non_zero(Node& node) {
  const auto& known = known_input(node, 0);
  const auto values = reals(known);
  const auto strides = strides_of(known.shape);
  Ints found;
  for (std::size_t d = 0; d < strides.size(); ++d)
    for (std::size_t i = 0; i < values.size(); ++i)
      if (values[i] != 0)
        found.push_back(static_cast<std::int64_t>(i) / strides[d] % known.shape[d]);
  const auto rank = size32(strides.size());
  const auto hits = rank == 0 ? 0 : size32(found.size() / rank);
  node.set(make_literal(ElementType::int64, {rank, hits}, found));
}

/// Gathers the positions where the condition holds. The condition must be known.
void compress(Node& node) {
  const auto condition = integers(known_input(node, 1));
  auto x = term(node, 0);
  std::uint32_t axis = 0;
  if (node.has_attribute("axis")) {
    axis = node.axis(node.integer("axis", 0), x.rank());
  } else {
    x = x.reshape({size32(count(x.shape()))});
  }
  Ints places;
  for (std::size_t i = 0; i < condition.size() && i < x.shape()[axis]; ++i)
    if (condition[i]) places.push_back(static_cast<std::int64_t>(i));
  if (places.empty()) unsupported("an empty result, which WebNN does not have");
  const auto at = constant(node, ElementType::int32, {size32(places.size())}, places);
  node.set(x.gather(at, axis).operand());
}

/// NaN, which equals nothing, comes last.
bool before(double a, double b) { return a < b || (std::isnan(b) && !std::isnan(a)); }
bool before(std::int64_t a, std::int64_t b) { return a < b; }

/// Groups of equal slices, in order of appearance.
struct Groups {
  Ints first, counts;  ///< of each group: the first slice's number, and how many slices it has
  Ints inverse;        ///< each slice's group
  std::vector<std::size_t> sorted;  ///< the groups by value
};

template <class T>
Groups groups_of(const std::vector<std::vector<T>>& slices) {
  const auto is_less = [&](std::size_t a, std::size_t b) {
    return std::ranges::lexicographical_compare(slices[a], slices[b],
                                                [](T x, T y) { return before(x, y); });
  };
  // After sorting, equal slices are adjacent, the earliest first.
  std::vector<std::size_t> by_value(slices.size()), leaders(slices.size()), numbers(slices.size());
  std::iota(by_value.begin(), by_value.end(), std::size_t{0});
  std::ranges::stable_sort(by_value, is_less);
  for (std::size_t k = 0; k < slices.size(); ++k) {
    const auto i = by_value[k];
    const bool same = k > 0 && slices[i] == slices[by_value[k - 1]];
    leaders[i] = same ? leaders[by_value[k - 1]] : i;
  }
  Groups groups;
  for (std::size_t i = 0; i < slices.size(); ++i) {
    if (leaders[i] == i) {
      numbers[i] = groups.first.size();
      groups.first.push_back(static_cast<std::int64_t>(i));
      groups.counts.push_back(0);
    }
    groups.inverse.push_back(static_cast<std::int64_t>(numbers[leaders[i]]));
    ++groups.counts[numbers[leaders[i]]];
  }
  for (const auto i : by_value)
    if (leaders[i] == i) groups.sorted.push_back(numbers[i]);
  return groups;
}

/// Slices along the axis (elements, without one) that differ, sorted or in order of appearance.
void unique(Node& node) {
  auto known = known_input(node, 0);
  std::uint32_t axis = 0;
  if (node.has_attribute("axis")) {
    axis = node.axis(node.integer("axis", 0), known.shape.size());
  } else {
    known = reshaped(known, {size32(count(known))});
  }
  const auto strides = strides_of(known.shape);
  auto shape = known.shape;
  const auto slices = shape[axis];
  shape[axis] = 1;
  node.importer.spend(slices);
  const auto grouped = [&]<class T>(std::vector<T> (*values_of)(const Literal&)) {
    std::vector<std::vector<T>> values;
    for (std::uint32_t i = 0; i < slices; ++i)
      values.push_back(values_of(strided(known, shape, strides[axis] * i, strides)));
    return groups_of(values);
  };
  auto [first, counts, inverse, order] = is_real(known.type) ? grouped(reals) : grouped(integers);
  if (node.integer("sorted", 1) == 0) std::ranges::sort(order);
  std::vector<Literal> parts;
  Ints places, how_often, rank(first.size());
  for (const auto at : order) {
    rank[at] = static_cast<std::int64_t>(places.size());
    places.push_back(first[at]);
    how_often.push_back(counts[at]);
    parts.push_back(strided(known, shape, strides[axis] * first[at], strides));
  }
  for (auto& group : inverse) group = rank[static_cast<std::size_t>(group)];
  std::vector<const Literal*> addresses;
  for (const auto& part : parts) addresses.push_back(&part);
  shape[axis] = size32(parts.size());
  if (parts.empty()) unsupported("an empty input");
  node.set(concatenated(addresses, axis, shape));
  const auto list = [](const Ints& numbers) {
    return make_literal(ElementType::int64, {size32(numbers.size())}, numbers);
  };
  node.set(list(places), 1);
  node.set(list(inverse), 2);
  node.set(list(how_often), 3);
}

// -- NonMaxSuppression ----------------------------------------------------------------------------

struct Box {
  double low_y, low_x, high_y, high_x;

  double area() const { return (high_y - low_y) * (high_x - low_x); }
};

Box box_of(const double* b, bool centered) {
  if (centered) return {b[1] - b[3] / 2, b[0] - b[2] / 2, b[1] + b[3] / 2, b[0] + b[2] / 2};
  return {std::min(b[0], b[2]), std::min(b[1], b[3]), std::max(b[0], b[2]), std::max(b[1], b[3])};
}

double overlap(const Box& a, const Box& b) {
  const auto height = std::min(a.high_y, b.high_y) - std::max(a.low_y, b.low_y);
  const auto width = std::min(a.high_x, b.high_x) - std::max(a.low_x, b.low_x);
  if (height <= 0 || width <= 0) return 0;
  return height * width / (a.area() + b.area() - height * width);
}

void non_max_suppression(Node& node) {
  const auto& boxes = known_input(node, 0);
  const auto& scores = known_input(node, 1);
  if (boxes.shape.size() != 3 || scores.shape.size() != 3 || boxes.shape[2] != 4 ||
      scores.shape[0] != boxes.shape[0] || scores.shape[2] != boxes.shape[1])
    malformed("boxes " + to_string(boxes.shape) + " and scores " + to_string(scores.shape));
  const auto most = node.optional_scalar(2).value_or(0);
  const auto threshold = node.optional_scalar(3).value_or(0);
  const auto least = node.optional_scalar(4);
  const bool centered = node.integer("center_point_box", 0) != 0;
  const auto corners = reals(boxes);
  const auto values = reals(scores);
  const auto number = boxes.shape[1];
  Ints selected;
  const auto classes = most > 0 ? scores.shape[1] : 0;
  for (std::uint32_t batch = 0; batch < scores.shape[0]; ++batch)
    for (std::uint32_t c = 0; c < classes; ++c) {
      node.importer.spend(1 + number / 64);
      const auto* score =
          values.data() + (std::size_t{batch} * scores.shape[1] + c) * std::size_t{number};
      std::vector<std::uint32_t> order(number);
      std::iota(order.begin(), order.end(), 0U);
      std::stable_sort(order.begin(), order.end(),
                       [&](auto a, auto b) { return score[a] > score[b]; });
      std::vector<Box> kept;
      for (const auto i : order) {
        if (static_cast<double>(kept.size()) >= most || (least && score[i] <= *least)) break;
        node.importer.spend(1 + kept.size() / 64);
        const auto box = box_of(&corners[(std::size_t{batch} * number + i) * 4], centered);
        if (std::any_of(kept.begin(), kept.end(),
                        [&](const Box& other) { return overlap(box, other) > threshold; }))
          continue;
        kept.push_back(box);
        selected.insert(selected.end(), {batch, c, i});
      }
    }
  node.set(make_literal(ElementType::int64, {size32(selected.size() / 3), 3}, selected));
}

}  // namespace

std::span<const Row> value_rows() noexcept {
  static constexpr std::array rows{
      Row{"Compress", compress},
      Row{"NonMaxSuppression", non_max_suppression},
      Row{"NonZero", non_zero},
      Row{"Unique", unique},
  };
  return rows;
}

}  // namespace polychron::onnx::detail
