// Every implementation of an operator, in every layout that it takes, against the reference, over
// random shapes and attributes. Each case prints its seed when it fails.
#include <array>
#include <boost/test/unit_test.hpp>
#include <iostream>

#include "kernels/fusion.hpp"
#include "kernels/reference/reference.hpp"
#include "kernels/threads.hpp"
#include "ops/table.hpp"
#include "polychron/attribute_fields.hpp"
#include "tests/kernels/random.hpp"

namespace polychron {
namespace {

using ops::op;
using tests::check_implementations;
using tests::name_of;
using tests::ProblemMaker;
using tests::Random;

constexpr std::uint32_t seeds = 24;

/// A few post-operations, as fusion would make them.
void add_post_ops(ProblemMaker& maker, Random& random, const Shape& shape, bool picture) {
  Shape vector(shape.size(), 1);
  vector[picture ? 1 : shape.size() - 1] = shape[picture ? 1 : shape.size() - 1];
  for (std::uint32_t i = random.pick(0, 3); i > 0; --i) switch (random.pick(0, 6)) {
      case 0:
        maker.then(op("relu"));
        break;
      case 1:
        maker.then(op("hardSwish"));
        break;
      case 2:
        maker.then(op("hardSigmoid"), HardSigmoidAttributes{});
        break;
      case 3:
        maker.then(op("linear"), LinearAttributes{1.5, 0.5});
        break;
      case 4:
        maker.then_with(op("add"), shape);
        break;
      case 5:
        maker.then_with(op("mul"), vector, picture);
        break;
      default:
        maker.then(kernels::op_swish, LinearAttributes{1, 0});
        break;
    }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(implementations)

BOOST_AUTO_TEST_CASE(convolutions) {
  int ran = 0;
  for (std::uint32_t seed = 0; seed < 3 * seeds; ++seed) {
    Random random(seed);
    Conv2dAttributes a;
    const Shape in = random.picture();
    const std::uint32_t kh = random.pick(1, 3), kw = random.pick(1, 5);
    a.strides = {random.pick(1, 2), random.pick(1, 2)};
    a.padding = {kh / 2, kh / 2, random.pick(0, kw - 1), random.pick(0, kw - 1)};
    const bool depthwise = random.pick(0, 2) == 0;
    const std::uint32_t out = depthwise ? in[1] : random.pick(1, 40);
    if (depthwise)
      a.groups = in[1];
    else if (in[1] % 2 == 0 && out % 2 == 0 && random.chance())
      a.groups = 2;
    if (in[2] + 2 * (kh / 2) < kh || in[3] + a.padding[2] + a.padding[3] < kw) continue;
    const Shape result{in[0], out, (in[2] + 2 * (kh / 2) - kh) / a.strides[0] + 1,
                       (in[3] + a.padding[2] + a.padding[3] - kw) / a.strides[1] + 1};
    ProblemMaker maker(op("conv2d"), seed);
    maker.attributes(a).input(in).constant({out, in[1] / a.groups, kh, kw});
    if (random.chance()) maker.constant({out});
    maker.output(result);
    add_post_ops(maker, random, result, true);
    ran += check_implementations(maker, name_of("conv2d", seed));
  }
  BOOST_TEST(ran > 100);
}

BOOST_AUTO_TEST_CASE(transposed_convolutions) {
  int ran = 0;
  for (std::uint32_t seed = 0; seed < seeds; ++seed) {
    Random random(seed);
    ConvTranspose2dAttributes a;
    const Shape in = random.picture();
    const std::uint32_t k = random.pick(1, 3), out = random.pick(1, 20);
    a.strides = {random.pick(1, k), random.pick(1, 2)};
    ProblemMaker maker(op("convTranspose2d"), seed);
    maker.attributes(a).input(in).constant({in[1], out, k, k}).constant({out});
    const Shape result{in[0], out, (in[2] - 1) * a.strides[0] + k, (in[3] - 1) * a.strides[1] + k};
    ran += check_implementations(maker.output(result), name_of("convTranspose2d", seed));
  }
  BOOST_TEST(ran > 20);
}

// A picture of one pixel, as in squeeze-and-excitation.
BOOST_AUTO_TEST_CASE(convolutions_of_one_pixel) {
  int ran = 0;
  for (std::uint32_t seed = 0; seed < seeds; ++seed) {
    Random random(seed);
    const std::uint32_t in = random.pick(1, 60), out = random.pick(1, 60),
                        batch = random.pick(1, 3);
    ProblemMaker maker(op("conv2d"), seed);
    maker.attributes(Conv2dAttributes{}).input({batch, in, 1, 1}).constant({out, in, 1, 1});
    if (random.chance()) maker.constant({out});
    maker.output({batch, out, 1, 1});
    add_post_ops(maker, random, {batch, out, 1, 1}, true);
    ran += check_implementations(maker, name_of("pixel", seed));
  }
  BOOST_TEST(ran > 20);
}

BOOST_AUTO_TEST_CASE(products) {
  int ran = 0;
  for (std::uint32_t seed = 0; seed < 2 * seeds; ++seed) {
    Random random(seed);
    const std::uint32_t m = random.pick(1, 40), k = random.pick(1, 40);
    const std::uint32_t n = random.chance() ? random.pick(1, 40) : random.pick(100, 300);
    const bool matrix = random.chance();
    Shape a = random.shape(random.pick(0, 2)), b = matrix ? Shape{} : a;
    Shape out = a;
    for (auto [shape, rows, columns] : {std::tuple{&a, m, k}, {&b, k, n}, {&out, m, n}})
      shape->insert(shape->end(), {rows, columns});
    ProblemMaker maker(op("matmul"), seed);
    maker.input(a);
    if (random.chance())
      maker.constant(b);
    else
      maker.input(b);
    maker.output(out);
    if (matrix) {
      if (random.chance()) maker.then_with(op("add"), {n}, true);
      add_post_ops(maker, random, out, false);
    }
    ran += check_implementations(maker, name_of("matmul", seed));
  }
  BOOST_TEST(ran > 20);
}

BOOST_AUTO_TEST_CASE(gemms) {
  int ran = 0;
  for (std::uint32_t seed = 0; seed < seeds; ++seed) {
    Random random(seed);
    const std::uint32_t m = random.pick(1, 40), k = random.pick(1, 40);
    const std::uint32_t n = random.chance() ? random.pick(1, 40) : random.pick(100, 300);
    GemmAttributes a{random.chance() ? 1.0 : 0.5, random.chance() ? 1.0 : 2.0, random.chance(),
                     random.chance()};
    ProblemMaker maker(op("gemm"), seed);
    maker.attributes(a).input(a.a_transpose ? Shape{k, m} : Shape{m, k});
    maker.constant(a.b_transpose ? Shape{n, k} : Shape{k, n});
    if (random.chance()) maker.input(random.chance() ? Shape{n} : Shape{m, n});
    ran += check_implementations(maker.output({m, n}), name_of("gemm", seed));
  }
  BOOST_TEST(ran > 10);
}

// As in a part of a transposed matrix or of a result's columns. (oneDNN 3.7 takes both as if their
// elements were neighbours.)
BOOST_AUTO_TEST_CASE(a_single_row_or_column_in_steps) {
  constexpr std::uint32_t step = 3, k = 4;
  kernels::use_one_thread();
  int ran = 0;
  for (const bool row : {true, false}) {
    const std::uint32_t m = row ? 1 : 5, n = row ? 17 : 1;
    GemmAttributes a;
    a.a_transpose = true;
    ProblemMaker maker(op("gemm"), 1);
    auto problem = maker.attributes(a).input({k, m}).input({k, n}).output({m, n}).problem();
    (row ? problem.inputs[0] : problem.outputs[0]).strides = {step, 1};
    Buffer left(256), right(512), result(512);
    for (std::size_t i = 0; i < 64; ++i) left.as<float>()[i] = static_cast<float>(i % 7) - 3;
    for (std::size_t i = 0; i < 128; ++i) right.as<float>()[i] = static_cast<float>(i % 5) - 2;
    for (const auto& implementation : kernels::implementations(op("gemm"))) {
      const auto kernel = implementation.prepare(problem);
      if (!kernel) continue;
      ++ran;
      Buffer scratch((*kernel)->scratch_bytes());
      const std::array<const std::byte*, 2> inputs{left.data(), right.data()};
      const std::array<std::byte*, 1> outputs{result.data()};
      (*kernel)->bind({inputs, outputs, scratch.data()})->run();
      for (std::size_t i = 0; i < m; ++i)
        for (std::size_t j = 0; j < n; ++j) {
          float expected = 0;
          for (std::size_t x = 0; x < k; ++x)
            expected += left.as<float>()[x * (row ? step : m) + i] * right.as<float>()[x * n + j];
          const float got = result.as<float>()[row ? j : i * step];
          BOOST_TEST(got == expected, implementation.name << (row ? ", a row: " : ", a column: ")
                                                          << got << ", expected " << expected);
        }
    }
  }
  if (ran == 0) std::cout << "skipped: nothing computes such a product here\n";
}

BOOST_AUTO_TEST_CASE(binaries) {
  int ran = 0;
  for (const ops::Row& row : ops::rows())
    for (std::uint32_t seed = 0; seed < seeds; ++seed) {
      // Comparisons and logic have results of another type, prelu and pow the reference alone.
      const auto id = ops::id(row);
      if (row.shape != ops::broadcast_shape || row.operands().size() != 2 ||
          row.results()[0].same_as != 0 || kernels::implementations(id).size() == 1 ||
          !row.operands()[0].types.has(DataType::float32))
        continue;
      Random random(seed);
      const Shape shape = random.picture();
      ProblemMaker maker(id, seed);
      if (id == op("div")) maker.range(0.5, 2);
      const std::uint32_t kind = random.pick(0, 4);
      Shape any = shape;  // each dimension of 1, or not
      for (std::uint32_t& extent : any)
        if (random.chance()) extent = 1;
      const Shape other = kind == 0   ? shape
                          : kind == 1 ? Shape{1}
                          : kind == 2 ? Shape{1, shape[1], 1, 1}
                          : kind == 3 ? any
                                      : Shape{shape[3]};
      const bool swap = random.chance();
      maker.input(swap ? other : shape).input(swap ? shape : other).output(shape);
      add_post_ops(maker, random, shape, true);
      ran += check_implementations(maker, name_of(kernels::operator_name(id), seed));
    }
  BOOST_TEST(ran > 100);
}

// Vectors along the channels of one pixel, and of fewer dimensions than the result.
BOOST_AUTO_TEST_CASE(vectors_after_binaries) {
  const std::pair<Shape, Shape> shapes[] = {
      {{2, 8, 1, 1}, {1, 8, 1, 1}}, {{4, 3, 1}, {1, 3, 1}}, {{1, 2}, {2}}, {{5, 7}, {7}},
      {{2, 20, 1, 1}, {20, 1, 1}},  {{3, 4, 5}, {4, 1}},
  };
  int ran = 0;
  std::uint32_t seed = 0;
  for (const auto& [shape, vector] : shapes)
    for (const auto id : {op("sub"), op("add"), op("mul")}) {
      ProblemMaker maker(id, ++seed);
      maker.input(shape).input(seed % 2 == 0 ? shape : vector).output(shape);
      maker.then(op("relu")).then_with(op("max"), vector);
      ran += check_implementations(maker, name_of("vector", seed));
    }
  BOOST_TEST(ran >= 8);  // what the library gets wrong is refused
}

BOOST_AUTO_TEST_CASE(unaries) {
  int ran = 0;
  const auto check = [&](ops::OpId id, Attributes attributes, float low, float high,
                         DataType result = DataType::float32) {
    for (std::uint32_t seed = 0; seed < 4; ++seed) {
      Random random(seed);
      const Shape shape = seed % 2 == 0 ? random.picture() : random.shape(seed);
      ProblemMaker maker(id, seed);
      maker.range(low, high).attributes(attributes).input(shape).output(shape, result);
      ran += check_implementations(maker, name_of(kernels::operator_name(id), seed));
    }
  };
  // Every function of the table: what has poles or roots within reach gets positive numbers.
  for (const ops::Row& row : ops::rows()) {
    const bool function =
        row.family == ops::Family::elementwise || row.family == ops::Family::activation;
    if (!function || row.shape != ops::same_shape ||
        !row.operands()[0].types.has(DataType::float32))
      continue;
    const bool positive = row.name == "log" || row.name == "reciprocal" || row.name == "sqrt";
    const float reach = row.name == "tan" ? 1.5F : 8.0F;
    const auto& result = row.results()[0];
    check(ops::id(row), default_attributes(row.attributes), positive ? 0.01F : -reach, reach,
          result.same_as == 0 ? DataType::float32 : result.types.members().front());
  }
  check(op("clamp"), ClampAttributes{-1.0, 1.5}, -4, 4);
  check(op("clamp"), ClampAttributes{std::nullopt, 1.5}, -4, 4);
  check(op("elu"), EluAttributes{0.7}, -4, 4);
  check(op("leakyRelu"), LeakyReluAttributes{0.1}, -4, 4);
  check(op("linear"), LinearAttributes{-2, 0.5}, -4, 4);
  check(kernels::op_swish, LinearAttributes{1.7, 0}, -8, 8);
  BOOST_TEST(ran > 100);
}

BOOST_AUTO_TEST_CASE(pools_and_resampling) {
  int ran = 0;
  for (std::uint32_t seed = 0; seed < 2 * seeds; ++seed) {
    Random random(seed);
    const Shape in = random.picture();
    Pool2dAttributes a;
    Shape out = in;
    out[2] = out[3] = 1;
    if (random.chance()) {
      const std::uint32_t k = random.pick(1, std::min(in[2], in[3]));
      a.window_dimensions = {{k, k}};
      a.strides = {random.pick(1, 3), random.pick(1, 2)};
      if (k > 1) a.padding = {0, 1, 1, 0};
      for (std::size_t i = 0; i < 2; ++i)
        out[2 + i] = (in[2 + i] + (k > 1 ? 1 : 0) - k) / a.strides[i] + 1;
    }
    const auto id = random.chance() ? op("maxPool2d") : op("averagePool2d");
    ProblemMaker pool(id, seed);
    pool.attributes(a).input(in).output(out);
    ran += check_implementations(pool, name_of(kernels::operator_name(id), seed));
    Resample2dAttributes r;
    r.mode = random.chance() ? InterpolationMode::linear : InterpolationMode::nearest_neighbor;
    const Shape big{in[0], in[1], in[2] * random.pick(1, 3), in[3] * random.pick(1, 3)};
    r.sizes = {{big[2], big[3]}};
    ProblemMaker resample(op("resample2d"), seed);
    resample.attributes(r).input(in).output(big);
    ran += check_implementations(resample, name_of("resample2d", seed));
  }
  BOOST_TEST(ran > 100);
}

BOOST_AUTO_TEST_CASE(normalizations) {
  int ran = 0;
  for (std::uint32_t seed = 0; seed < seeds; ++seed) {
    Random random(seed);
    const std::uint32_t rank = random.pick(2, 4);
    const Shape shape = random.shape(rank);
    ProblemMaker softmax(op("softmax"), seed);
    softmax.attributes(SoftmaxAttributes{random.pick(0, rank - 1)}).input(shape).output(shape);
    ran += check_implementations(softmax, name_of("softmax", seed));
    LayerNormalizationAttributes a;
    a.axes = {{rank - 1}};
    ProblemMaker layer(op("layerNormalization"), seed);
    layer.attributes(a).input(shape);
    if (random.chance())
      layer.input({shape.back()});
    else
      layer.absent();
    if (random.chance()) layer.input({shape.back()});
    ran += check_implementations(layer.output(shape), name_of("layerNormalization", seed));
    for (const auto id : {op("reduceMean"), op("reduceSum"), op("reduceMax"), op("reduceMin")}) {
      const std::uint32_t axis = random.pick(0, rank - 1);
      Shape reduced = shape;
      reduced[axis] = 1;
      ProblemMaker reduce(id, seed);
      reduce.attributes(ReduceAttributes{{{axis}}, true}).input(shape).output(reduced);
      ran += check_implementations(reduce, name_of("reduction", seed));
    }
  }
  BOOST_TEST(ran > 80);
}

BOOST_AUTO_TEST_CASE(movements) {
  int ran = 0;
  for (std::uint32_t seed = 0; seed < seeds; ++seed) {
    Random random(seed);
    const std::uint32_t rank = random.pick(1, 5);
    const Shape shape = random.shape(rank);
    std::vector<std::uint32_t> order(rank);
    for (std::uint32_t i = 0; i < rank; ++i) order[i] = i;
    std::shuffle(order.begin(), order.end(), std::mt19937(seed));
    Shape turned;
    for (const auto axis : order) turned.push_back(shape[axis]);
    ProblemMaker transpose(op("transpose"), seed);
    transpose.attributes(TransposeAttributes{order}).input(shape).output(turned);
    ran += check_implementations(transpose, name_of("transpose", seed));
    Shape picture = random.picture(), joined = picture;
    ProblemMaker concat(op("concat"), seed);
    concat.attributes(ConcatAttributes{1}).input(picture);
    for (std::uint32_t i = random.pick(0, 3); i > 0; --i) {
      picture[1] = random.pick(1, 40);
      joined[1] += picture[1];
      concat.input(picture);
    }
    ran += check_implementations(concat.output(joined), name_of("concat", seed));
  }
  BOOST_TEST(ran > 60);
}

// Recurrent operators and quantization will need this of the reference.
BOOST_AUTO_TEST_CASE(references_have_scratch_memory) {
  namespace reference = kernels::reference;
  static constexpr reference::Entry backwards{
      op("identity"),
      [](const reference::Call& call) {
        auto* scratch = reinterpret_cast<float*>(call.scratch);
        std::reverse_copy(call.in<float>(0), call.in<float>(0) + 4, scratch);
        std::copy_n(scratch, 4, call.out<float>());
      },
      [](const kernels::Problem& problem) {
        return std::size_t{*byte_length(problem.outputs[0].descriptor)};
      }};
  ProblemMaker maker(op("identity"), 1);
  maker.input({4}).output({4});
  const auto prepare = [](const kernels::Problem& problem) {
    return reference::prepare_with(backwards, problem);
  };
  const kernels::Implementation implementation{{op("identity"), prepare}, "backwards"};
  const auto outcome = tests::run_kernel(implementation, maker.problem(), maker.values());
  BOOST_TEST(!outcome.overran);
  const auto in = maker.values()[0].as<float>(), out = outcome.outputs.at(0).as<float>();
  BOOST_TEST(std::equal(in.begin(), in.end(), out.rbegin()));
}

BOOST_AUTO_TEST_CASE(post_operations_have_any_number_of_operands) {
  ProblemMaker maker(op("greater"), 1);
  maker.input({4}, DataType::uint8).input({4}, DataType::uint8).output({4}, DataType::uint8);
  maker.input({4}, DataType::uint8).input({1}, DataType::uint8);
  auto problem = maker.problem();
  problem.own_inputs = 2;
  problem.post_ops = {{op("where"), {}, {2, 3}}};
  const auto outcome =
      tests::run_kernel(kernels::implementations(op("greater")).back(), problem, maker.values());
  BOOST_REQUIRE_MESSAGE(outcome.refusal.empty(), outcome.refusal);
  const auto value = [&](std::size_t input, std::size_t i) {
    return maker.values()[input].as<std::uint8_t>()[i];
  };
  for (std::size_t i = 0; i < 4; ++i)
    BOOST_TEST(outcome.outputs[0].as<std::uint8_t>()[i] ==
               (value(0, i) > value(1, i) ? value(2, i) : value(3, 0)));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron
