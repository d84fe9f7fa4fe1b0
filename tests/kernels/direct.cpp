// Kernels in loops of our own against the reference, over types, ranks 0 to 8, and shapes that fill
// no block. Each case prints its seed when it fails.
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "ops/layouts.hpp"
#include "ops/table.hpp"
#include "tests/kernels/random.hpp"

namespace polychron {
namespace {

using ops::op;
using tests::every_seed;
using tests::name_of;
using tests::ProblemMaker;
using tests::Random;
using Sizes = std::vector<std::uint32_t>;

}  // namespace

BOOST_AUTO_TEST_SUITE(direct)

BOOST_AUTO_TEST_CASE(arg_min_and_arg_max) {
  for (const auto id : {op("argMin"), op("argMax")})
    every_seed(id, [](Random& random, ProblemMaker& maker) {
      const Shape shape = random.shape(1, 8);
      const ArgMinMaxAttributes a{random.axis(shape), true,
                                  random.chance() ? DataType::int32 : DataType::int64};
      Shape result = shape;
      result[a.axis] = 1;
      if (random.chance()) maker.specials();
      maker.attributes(a).input(shape, random.type(ops::type_sets::any));
      maker.output(result, a.output_data_type);
    });
}

// Not by the reference's word alone: the first of equals, two zeros are equal, NaN is beyond all.
BOOST_AUTO_TEST_CASE(arg_min_and_arg_max_of_special_numbers) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const auto check = [](const std::vector<float>& numbers, std::int32_t least, std::int32_t most) {
    for (const auto id : {op("argMin"), op("argMax")})
      for (const kernels::Implementation& implementation : kernels::implementations(id)) {
        ProblemMaker maker(id, 0);
        maker.attributes(ArgMinMaxAttributes{});
        maker.input({static_cast<std::uint32_t>(numbers.size())}).output({}, DataType::int32);
        std::vector<Buffer> values;
        values.push_back(Buffer::copy_of(std::span<const float>(numbers)));
        const auto outcome = tests::run_kernel(implementation, maker.problem(), values);
        const auto place = outcome.outputs.at(0).as<std::int32_t>()[0];
        const auto expected = id == op("argMin") ? least : most;
        BOOST_TEST(place == expected, implementation.name << " " << kernels::operator_name(id)
                                                          << ": " << place << ", expected "
                                                          << expected);
      }
  };
  check({1, 2, 1, 2}, 0, 1);
  check({0, -0.0F, 0}, 0, 0);
  check({-0.0F, 0}, 0, 0);
  check({-1, 3, nan, 5, nan}, 2, 2);
  check({-nan, nan, 1}, 0, 0);
  check({1, infinity, -infinity, infinity}, 2, 1);
  check({-infinity, nan}, 1, 1);
  std::vector<float> line(5000, 1);
  line[1023] = line[4000] = 2;
  line[1024] = line[4999] = -3;
  check(line, 1024, 1023);
}

BOOST_AUTO_TEST_CASE(top_k) {
  every_seed(op("topK"), [](Random& random, ProblemMaker& maker) {
    Shape shape = random.shape(1, 4);
    TopKAttributes a{1, random.axis(shape), random.chance()};
    if (random.chance()) shape[a.axis] = random.pick(65, 300);  // more than are kept at once
    a.k = random.pick(1, shape[a.axis]);
    Shape result = shape;
    result[a.axis] = a.k;
    if (random.chance()) maker.specials();
    maker.attributes(a).input(shape, random.type(ops::type_sets::any));
    maker.output(result, DataType::int64);
  });
}

// Not by the reference's word alone: each place once, of equals the first, NaN before all.
BOOST_AUTO_TEST_CASE(top_k_of_special_numbers) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const auto check = [](const std::vector<float>& numbers, bool largest,
                        const std::vector<std::int64_t>& expected) {
    const auto k = static_cast<std::uint32_t>(expected.size());
    for (const kernels::Implementation& implementation : kernels::implementations(op("topK"))) {
      ProblemMaker maker(op("topK"), 0);
      maker.attributes(TopKAttributes{k, 0, largest});
      maker.input({static_cast<std::uint32_t>(numbers.size())}).output({k}, DataType::int64);
      std::vector<Buffer> values;
      values.push_back(Buffer::copy_of(std::span<const float>(numbers)));
      const auto outcome = tests::run_kernel(implementation, maker.problem(), values);
      BOOST_TEST_CONTEXT(implementation.name)
      BOOST_TEST(outcome.outputs.at(0).as<std::int64_t>() == expected,
                 boost::test_tools::per_element());
    }
  };
  check({-infinity, 1, -infinity, -infinity}, true, {1, 0, 2, 3});
  check({infinity, 1, infinity}, false, {1, 0, 2});
  check({0, -0.0F, 0, -1}, true, {0, 1, 2, 3});
  check({2, nan, 3, nan}, true, {1, 3, 2});
  check({2, nan, 3, nan}, false, {1, 3, 0});
  std::vector<float> ascending(1000);
  for (std::size_t i = 0; i < ascending.size(); ++i) ascending[i] = static_cast<float>(i / 2);
  check(ascending, true, {998, 999, 996, 997, 994});
}

BOOST_AUTO_TEST_CASE(cumulative_sums) {
  every_seed(op("cumulativeSum"), [](Random& random, ProblemMaker& maker) {
    const Shape shape = random.shape(1, 8);
    const DataType type = random.type(ops::type_sets::wide);
    if (ops::type_sets::floats.has(type))
      maker.range(-1, 1);
    else if (random.chance())
      maker.specials();  // sums wrap around
    maker.attributes(CumulativeSumAttributes{random.axis(shape), random.chance(), random.chance()});
    maker.input(shape, type).output(shape, type);
  });
}

// float32 would lose the small number beside the large one.
BOOST_AUTO_TEST_CASE(cumulative_sums_of_float16_are_added_in_double) {
  const std::vector<float16> numbers{float16(32768.0F), float16(0.000244140625F),
                                     float16(-32768.0F)};
  for (const kernels::Implementation& implementation :
       kernels::implementations(op("cumulativeSum"))) {
    ProblemMaker maker(op("cumulativeSum"), 0);
    maker.attributes(CumulativeSumAttributes{0, false, false});
    maker.input({3}, DataType::float16).output({3}, DataType::float16);
    std::vector<Buffer> values;
    values.push_back(Buffer::copy_of(std::span<const float16>(numbers)));
    const auto outcome = tests::run_kernel(implementation, maker.problem(), values);
    BOOST_TEST_CONTEXT(implementation.name)
    BOOST_TEST(static_cast<float>(outcome.outputs.at(0).as<float16>()[2]) == 0.000244140625F);
  }
}

BOOST_AUTO_TEST_CASE(reversals) {
  every_seed(op("reverse"), [](Random& random, ProblemMaker& maker) {
    const Shape shape = random.shape(0, 8);
    const DataType type = random.type(ops::type_sets::any);
    ReverseAttributes a;
    if (random.pick(0, 3) > 0) {
      a.axes.emplace();
      for (std::uint32_t i = 0; i < shape.size(); ++i)
        if (random.chance()) a.axes->push_back(i);
    }
    maker.attributes(a).input(shape, type).output(shape, type);
  });
}

BOOST_AUTO_TEST_CASE(tiles) {
  every_seed(op("tile"), [](Random& random, ProblemMaker& maker) {
    const Shape shape = random.shape(0, 8);
    const DataType type = random.type(ops::type_sets::any);
    TileAttributes a;
    Shape result;
    for (const std::uint32_t extent : shape) {
      const std::uint64_t so_far = *element_count(shape) * *element_count(a.repetitions);
      a.repetitions.push_back(random.chance() || so_far > 50000 ? 1 : random.pick(1, 5));
      result.push_back(extent * a.repetitions.back());
    }
    maker.attributes(a).input(shape, type).output(result, type);
  });
}

BOOST_AUTO_TEST_CASE(triangles) {
  every_seed(op("triangular"), [](Random& random, ProblemMaker& maker) {
    const Shape shape = random.shape(2, 8);
    const DataType type = random.type(ops::type_sets::any);
    const std::int32_t far[] = {-0x7fff'ffff - 1, 0x7fff'ffff};
    const std::int32_t diagonal = random.pick(0, 9) == 0
                                      ? far[random.pick(0, 1)]
                                      : static_cast<std::int32_t>(random.pick(0, 20)) - 10;
    maker.specials().attributes(TriangularAttributes{random.chance(), diagonal});
    maker.input(shape, type).output(shape, type);
  });
}

BOOST_AUTO_TEST_CASE(gathers) {
  every_seed(op("gather"), [](Random& random, ProblemMaker& maker) {
    const Shape shape = random.shape(1, 4, 400), indices = random.shape(0, 4, 100);
    const DataType type = random.type(ops::type_sets::any);
    const GatherAttributes a{random.axis(shape)};
    Shape result(shape.begin(), shape.begin() + a.axis);
    result.insert(result.end(), indices.begin(), indices.end());
    result.insert(result.end(), shape.begin() + a.axis + 1, shape.end());
    maker.attributes(a).input(shape, type);
    maker.indices(indices, random.type(ops::type_sets::indices), shape[a.axis]);
    maker.output(result, type);
  });
}

BOOST_AUTO_TEST_CASE(gathers_and_scatters_of_elements) {
  for (const auto id : {op("gatherElements"), op("scatterElements")})
    every_seed(id, [id](Random& random, ProblemMaker& maker) {
      const Shape shape = random.shape(1, 8);
      const DataType type = random.type(ops::type_sets::any);
      const std::uint32_t axis = random.axis(shape);
      Shape indices = shape;
      indices[axis] = random.pick(1, 12);
      maker.input(shape, type);
      maker.indices(indices, random.type(ops::type_sets::indices), shape[axis]);
      if (id == op("gatherElements"))
        maker.attributes(GatherAttributes{axis}).output(indices, type);
      else
        maker.attributes(ScatterAttributes{axis})
            .range(3, 9)
            .input(indices, type)
            .output(shape, type);
    });
}

BOOST_AUTO_TEST_CASE(gathers_and_scatters_of_slices) {
  for (const auto id : {op("gatherND"), op("scatterND")})
    every_seed(id, [id](Random& random, ProblemMaker& maker) {
      const Shape shape = random.shape(1, 6, 1000);
      const DataType type = random.type(ops::type_sets::any);
      const std::uint32_t coordinates = random.pick(1, static_cast<std::uint32_t>(shape.size()));
      Shape slices = random.shape(0, 2, 100), indices = slices;
      indices.push_back(coordinates);
      slices.insert(slices.end(), shape.begin() + coordinates, shape.end());
      maker.input(shape, type);
      maker.indices(indices, random.type(ops::type_sets::indices), shape[0]);
      if (id == op("gatherND"))
        maker.output(slices, type);
      else
        maker.range(3, 9).input(slices, type).output(shape, type);
    });
}

BOOST_AUTO_TEST_CASE(reductions_into_slices) {
  every_seed(op("scatterReduce"), [](Random& random, ProblemMaker& maker) {
    const Shape shape = random.shape(1, 6, 1000);
    const DataType type = random.type(ops::type_sets::any.without({DataType::float16}));
    const std::uint32_t coordinates = random.pick(1, static_cast<std::uint32_t>(shape.size()));
    Shape slices = random.shape(0, 2, 100), indices = slices;
    indices.push_back(coordinates);
    slices.insert(slices.end(), shape.begin() + coordinates, shape.end());
    maker.attributes(ScatterReduceAttributes{ScatterReduction(random.pick(0, 3))});
    maker.input(shape, type);
    maker.indices(indices, random.type(ops::type_sets::indices), shape[0]);
    maker.input(slices, type).output(shape, type);
  });
}

// Not by the reference's word alone: several updates of one element, and special numbers.
BOOST_AUTO_TEST_CASE(reductions_of_special_numbers) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const auto check = [](ScatterReduction reduction, const std::vector<float>& updates,
                        float expected) {
    for (const kernels::Implementation& one : kernels::implementations(op("scatterReduce"))) {
      ProblemMaker maker(op("scatterReduce"), 0);
      const auto count = static_cast<std::uint32_t>(updates.size());
      maker.attributes(ScatterReduceAttributes{reduction});
      maker.input({3}).indices({count, 1}, DataType::int32, 3).input({count}).output({3});
      std::vector<Buffer> values;
      values.push_back(Buffer::copy_of(std::vector<float>{5, 2, 7}));
      values.push_back(Buffer::copy_of(std::vector<std::int32_t>(count, -2)));
      values.push_back(Buffer::copy_of(updates));
      const auto outcome = tests::run_kernel(one, maker.problem(), values);
      const auto result = outcome.outputs.at(0).as<float>();
      BOOST_TEST_CONTEXT(one.name << " " << static_cast<int>(reduction)) {
        BOOST_TEST(result[0] == 5);
        BOOST_TEST((std::isnan(expected) ? std::isnan(result[1]) : result[1] == expected));
        BOOST_TEST(result[2] == 7);
      }
    }
  };
  using enum ScatterReduction;
  check(add, {1, 10, 100}, 113);
  check(multiply, {3, 0.5F, -1}, -3);
  check(max, {1, 4, 3}, 4);
  check(max, {-infinity, 1}, 2);
  check(min, {3, 1, 4}, 1);
  check(min, {-infinity, 1}, -infinity);
  check(add, {infinity, -infinity}, nan);
  check(multiply, {0, infinity}, nan);
  for (const auto reduction : {add, multiply, max, min}) check(reduction, {1, nan, 3}, nan);
}

BOOST_AUTO_TEST_CASE(predicates) {
  for (const auto id : {op("isNaN"), op("isInfinite")})
    every_seed(id, [](Random& random, ProblemMaker& maker) {
      const Shape shape = random.shape(0, 8);
      maker.specials().input(shape, random.type(ops::type_sets::floats));
      maker.output(shape, DataType::uint8);
    });
}

// Averages and largest numbers of channels that lie together are oneDNN's.
void pool_windows(ops::OpId id) {
  every_seed(id, [id](Random& random, ProblemMaker& maker) {
    Pool2dAttributes a;
    if (id == op("l2Pool2d") && random.chance()) a.layout = InputOperandLayout::nhwc;
    const auto axes = ops::picture_axes(a.layout);
    Shape in(4), out(4);
    out[axes[0]] = in[axes[0]] = random.pick(1, 2);
    out[axes[1]] = in[axes[1]] = random.pick(0, 9) == 0 ? 150 : random.pick(1, 20);
    const bool all = random.pick(0, 3) == 0;
    if (!all) a.window_dimensions.emplace();
    for (std::size_t i = 0; i < 2; ++i) {
      const std::uint32_t size = random.pick(0, 9) == 0 ? 300 : random.pick(1, 40);
      const std::uint32_t window = all ? size : random.pick(1, std::min(size, 7U));
      if (!all) {
        a.window_dimensions->push_back(window);
        a.dilations[i] =
            window == 1 ? random.pick(1, 3) : random.pick(1, (size - 1) / (window - 1));
        a.padding[2 * i] = random.pick(0, 3);
        a.padding[2 * i + 1] = random.pick(0, 3);
        a.strides[i] = random.pick(1, 5);
      }
      const std::uint32_t range =
          size + a.padding[2 * i] + a.padding[2 * i + 1] - ((window - 1) * a.dilations[i] + 1);
      in[axes[2 + i]] = size;
      out[axes[2 + i]] = (range + (random.chance() ? a.strides[i] - 1 : 0)) / a.strides[i] + 1;
    }
    const DataType type = DataType::float32;
    if (random.pick(0, 5) == 0 && id != op("averagePool2d")) maker.range(-1e38F, 1e38F);
    maker.attributes(a).input(in, type).output(out, type);
  });
}

BOOST_AUTO_TEST_CASE(averages_of_windows) { pool_windows(op("averagePool2d")); }
BOOST_AUTO_TEST_CASE(norms_of_windows) { pool_windows(op("l2Pool2d")); }
BOOST_AUTO_TEST_CASE(largest_of_windows) { pool_windows(op("maxPool2d")); }

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron
