// Loops of our own along axes, against the reference: reductions and softmax over any of them, and
// normalizations. The shapes lie on both sides of the size of a vector or a block.
#include <boost/test/unit_test.hpp>

#include "ops/layouts.hpp"
#include "ops/table.hpp"
#include "tests/kernels/random.hpp"

namespace polychron {
namespace {

using ops::op;
using tests::every_seed;
using tests::ProblemMaker;
using tests::Random;

constexpr auto f32 = DataType::float32;
constexpr auto i32 = DataType::int32;
constexpr auto u32 = DataType::uint32;
constexpr auto i64 = DataType::int64;
constexpr auto u64 = DataType::uint64;

/// Some axes of `shape`, perhaps none.
std::vector<std::uint32_t> some_axes(Random& random, const Shape& shape) {
  std::vector<std::uint32_t> axes;
  for (std::uint32_t i = 0; i < shape.size(); ++i)
    if (random.chance()) axes.push_back(i);
  return axes;
}

/// Neighbouring axes, at least one.
std::vector<std::uint32_t> neighbours(Random& random, const Shape& shape) {
  const std::uint32_t first = random.axis(shape);
  const auto rank = static_cast<std::uint32_t>(shape.size());
  std::vector<std::uint32_t> axes;
  for (std::uint32_t i = first; i < random.pick(first + 1, rank); ++i) axes.push_back(i);
  return axes.empty() ? std::vector{first} : axes;
}

Shape without(const Shape& shape, const std::vector<std::uint32_t>& axes) {
  Shape left;
  for (std::uint32_t i = 0; i < shape.size(); ++i)
    if (std::ranges::find(axes, i) == axes.end()) left.push_back(shape[i]);
  return left;
}

void reductions(ops::OpId id, std::initializer_list<DataType> types, float low, float high,
                bool specials = false) {
  every_seed(id, [&](Random& random, ProblemMaker& maker) {
    const Shape shape = random.shape(1, 6);
    const DataType type =
        types.begin()[random.pick(0, static_cast<std::uint32_t>(types.size()) - 1)];
    const auto axes = some_axes(random, shape);
    maker.range(low, high);
    if (specials && random.chance()) maker.specials();
    maker.attributes(ReduceAttributes{axes, false}).input(shape, type);
    maker.output(without(shape, axes), type);
  });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(along_axes)

BOOST_AUTO_TEST_CASE(sums) {
  reductions(op("reduceSum"), {f32, i32, u32, i64, u64}, 0, 2);
  reductions(op("reduceMean"), {f32}, 0, 2);
  reductions(op("reduceL1"), {f32, i32, u32, i64, u64}, -2, 2);
  reductions(op("reduceL2"), {f32}, -2, 2);
  reductions(op("reduceSumSquare"), {f32, i32, u32, i64, u64}, -2, 2);
  reductions(op("reduceLogSum"), {f32}, 0.5F, 2);
}

BOOST_AUTO_TEST_CASE(products) {
  reductions(op("reduceProduct"), {f32, i32, u32, i64, u64}, 0.9F, 1.1F);
}

BOOST_AUTO_TEST_CASE(largest_and_smallest) {
  for (const auto id : {op("reduceMax"), op("reduceMin")})
    reductions(id, {f32, i32, u32, i64, u64, DataType::int8, DataType::uint8}, -100, 100, true);
}

// Short lines are reduced side by side, 32 at a time, longer ones in 32 lanes.
BOOST_AUTO_TEST_CASE(lines_of_any_number_and_length) {
  for (const auto id : {op("reduceSum"), op("reduceMax")})
    every_seed(id, [](Random& random, ProblemMaker& maker) {
      const std::uint32_t count = 32 * random.pick(0, 2) + random.pick(30, 33);
      const Shape shape{count, random.chance() ? random.pick(1, 40) : random.pick(120, 170)};
      maker.attributes(ReduceAttributes{{{1}}, false}).input(shape).output({count});
    });
}

BOOST_AUTO_TEST_CASE(squares_do_not_overflow_on_the_way) {
  reductions(op("reduceL2"), {f32}, -1e30F, 1e30F);
}

BOOST_AUTO_TEST_CASE(logarithms_of_sums_of_exponentials) {
  every_seed(op("reduceLogSumExp"), [](Random& random, ProblemMaker& maker) {
    const Shape shape = random.shape(1, 6);
    const auto axes = neighbours(random, shape);
    maker.range(-50, 100);
    if (random.pick(0, 3) == 0) maker.specials();
    maker.attributes(ReduceAttributes{axes, false}).input(shape).output(without(shape, axes));
  });
}

/// Lines as oneDNN's loops for Arm (2.6.3) do not compute them: what is far below the largest
/// number becomes 0.
BOOST_AUTO_TEST_CASE(softmax_of_the_last_axis) {
  every_seed(op("softmax"), [](Random& random, ProblemMaker& maker) {
    Shape shape = random.shape(1, 4);
    shape.back() = random.pick(1, 90);
    random.chance() ? maker.range(-30, 100) : maker.range(-300, 300);
    maker.attributes(SoftmaxAttributes{static_cast<std::uint32_t>(shape.size()) - 1});
    maker.input(shape).output(shape);
  });
}

BOOST_AUTO_TEST_CASE(softmax_of_other_axes_than_the_last) {
  every_seed(op("softmax"), [](Random& random, ProblemMaker& maker) {
    Shape shape = random.shape(2, 5);
    shape.back() = random.pick(2, 40);
    shape[shape.size() - 2] = random.pick(1, 60);
    const std::uint32_t axis = random.pick(0, static_cast<std::uint32_t>(shape.size()) - 2);
    maker.range(-30, 100);
    maker.attributes(SoftmaxAttributes{axis}).input(shape).output(shape);
  });
}

BOOST_AUTO_TEST_CASE(batch_normalizations) {
  every_seed(op("batchNormalization"), [](Random& random, ProblemMaker& maker) {
    const Shape shape = random.shape(1, 5);
    const std::uint32_t axis = random.axis(shape);
    const Shape channels{shape[axis]};
    maker.attributes(BatchNormalizationAttributes{axis, 1e-5});
    maker.range(-20, 20).input(shape).input(channels).range(0.5F, 2).input(channels);
    for (int i = 0; i < 2; ++i) random.chance() ? maker.input(channels) : maker.absent();
    maker.output(shape);
  });
}

BOOST_AUTO_TEST_CASE(instance_normalizations) {
  every_seed(op("instanceNormalization"), [](Random& random, ProblemMaker& maker) {
    InstanceNormalizationAttributes a;
    if (random.chance()) a.layout = InputOperandLayout::nhwc;
    Shape shape(4);
    const auto [n, c, h, w] = ops::picture_axes(a.layout);
    shape[n] = random.pick(1, 3);
    shape[c] = random.pick(0, 3) == 0 ? 1 : random.pick(1, 150);
    shape[h] = random.pick(2, 9);
    shape[w] = random.pick(1, 9);
    maker.attributes(a).range(99, 101).input(shape).range(-2, 2);
    for (int i = 0; i < 2; ++i) random.chance() ? maker.input({shape[c]}) : maker.absent();
    maker.output(shape);
  });
}

BOOST_AUTO_TEST_CASE(layer_normalizations) {
  every_seed(op("layerNormalization"), [](Random& random, ProblemMaker& maker) {
    const Shape shape = random.shape(2, 5);
    const auto axes = neighbours(random, shape);
    Shape normalized;
    for (const std::uint32_t axis : axes) normalized.push_back(shape[axis]);
    maker.attributes(LayerNormalizationAttributes{axes, 1}).range(-20, 20).input(shape);
    maker.range(-2, 2);
    for (int i = 0; i < 2; ++i) random.chance() ? maker.input(normalized) : maker.absent();
    maker.output(shape);
  });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron
