// Loops of our own for calls that the libraries refuse: operands that broadcast, copies with
// strides, padding and casts, of every type and of shapes that fill no vector and no square.
#include "tests/kernels/random.hpp"

namespace polychron {
namespace {

using ops::op;
using tests::every_seed;
using tests::ProblemMaker;
using tests::Random;

/// `shape` with some of its dimensions 1, and some of the first left out.
Shape narrower(const Shape& shape, Random& random) {
  Shape result(shape.begin() + random.pick(0, static_cast<std::uint32_t>(shape.size())),
               shape.end());
  for (auto& extent : result)
    if (random.chance()) extent = 1;
  return result;
}

/// One operand has the result's shape, in any place.
void broadcast(Random& random, ProblemMaker& maker, DataType type, DataType result,
               bool specials = true) {
  const Shape shape = random.shape(0, 8);
  const bool first = random.chance();
  if (specials && random.chance()) maker.specials();
  maker.input(first ? shape : narrower(shape, random), type);
  maker.input(first ? narrower(shape, random) : shape, type);
  maker.output(shape, result);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(broadcast_kernels)

BOOST_AUTO_TEST_CASE(arithmetic) {
  for (const auto id : {op("add"), op("sub"), op("mul"), op("div"), op("max"), op("min")})
    every_seed(id, [id](Random& random, ProblemMaker& maker) {
      const DataType type = random.type(ops::type_sets::any);
      // oneDNN's largest of a number and NaN is the number.
      const bool specials = id != op("max") && id != op("min");
      broadcast(random, maker, type, type, specials || type != DataType::float32);
    });
  every_seed(op("prelu"), [](Random& random, ProblemMaker& maker) {
    const DataType type = random.type(ops::type_sets::floats);
    const Shape shape = random.shape(0, 8);
    maker.input(shape, type).input(narrower(shape, random), type).output(shape, type);
  });
}

BOOST_AUTO_TEST_CASE(powers) {
  every_seed(op("pow"), [](Random& random, ProblemMaker& maker) {
    const DataType type = random.type(ops::type_sets::floats);
    const Shape shape = random.shape(0, 8);
    maker.range(0.25F, 2).input(shape, type).input(narrower(shape, random), type);
    maker.output(shape, type);
  });
  for (const float exponent : {-1.0F, 2.0F, 3.0F})
    every_seed(op("pow"), [exponent](Random& random, ProblemMaker& maker) {
      const DataType type = random.type(ops::type_sets::floats);
      const Shape shape = random.shape(0, 8);
      if (exponent > 0) maker.specials();  // 1 / x jumps at 0
      maker.input(shape, type).range(exponent, exponent).constant({}, type).output(shape, type);
    });
}

BOOST_AUTO_TEST_CASE(comparisons_and_logic) {
  for (const auto id : {op("equal"), op("notEqual"), op("greater"), op("greaterOrEqual"),
                        op("lesser"), op("lesserOrEqual")})
    every_seed(id, [](Random& random, ProblemMaker& maker) {
      broadcast(random, maker, random.type(ops::type_sets::any), DataType::uint8);
    });
  for (const auto id : {op("logicalAnd"), op("logicalOr"), op("logicalXor")})
    every_seed(id, [](Random& random, ProblemMaker& maker) {
      maker.range(0, 2);
      broadcast(random, maker, DataType::uint8, DataType::uint8);
    });
  every_seed(op("logicalNot"), [](Random& random, ProblemMaker& maker) {
    const Shape shape = random.shape(0, 8);
    maker.range(0, 2).input(shape, DataType::uint8).output(shape, DataType::uint8);
  });
}

BOOST_AUTO_TEST_CASE(where) {
  every_seed(op("where"), [](Random& random, ProblemMaker& maker) {
    const DataType type = random.type(ops::type_sets::any);
    const Shape shape = random.shape(0, 8);
    const auto whole = random.pick(0, 2);
    maker.range(0, 2);
    for (std::uint32_t i = 0; i < 3; ++i)
      maker.input(i == whole ? shape : narrower(shape, random), i == 0 ? DataType::uint8 : type);
    maker.output(shape, type);
  });
}

BOOST_AUTO_TEST_CASE(casts) {
  every_seed(op("cast"), [](Random& random, ProblemMaker& maker) {
    const DataType to = random.type(ops::type_sets::any);
    const Shape shape = random.shape(0, 8);
    if (random.chance()) maker.specials();
    maker.attributes(CastAttributes{to}).range(-300, 300);
    maker.input(shape, random.type(ops::type_sets::any)).output(shape, to);
  });
}

BOOST_AUTO_TEST_CASE(functions) {
  for (const auto id : {op("erf"), op("hardSigmoid")})
    every_seed(id, [id](Random& random, ProblemMaker& maker) {
      const Shape shape = random.shape(0, 8);
      if (id == op("hardSigmoid")) maker.attributes(HardSigmoidAttributes{0.3, 0.4});
      maker.range(-4, 4).input(shape).output(shape);
    });
}

BOOST_AUTO_TEST_CASE(transposes) {
  every_seed(op("transpose"), [](Random& random, ProblemMaker& maker) {
    const DataType type = random.type(ops::type_sets::any);
    // Some larger than the squares that are turned at once, in both directions.
    const Shape shape = random.chance() ? Shape{random.pick(1, 3), random.pick(1, 70),
                                                random.pick(1, 3), random.pick(1, 70)}
                                        : random.shape(0, 8);
    std::vector<std::uint32_t> order(shape.size());
    std::iota(order.begin(), order.end(), 0U);
    for (std::size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[random.pick(0, static_cast<std::uint32_t>(i) - 1)]);
    Shape result;
    for (const auto axis : order) result.push_back(shape[axis]);
    if (random.pick(0, 4) == 0) {
      result.assign(shape.rbegin(), shape.rend());
      maker.attributes(TransposeAttributes{});
    } else {
      maker.attributes(TransposeAttributes{order});
    }
    maker.input(shape, type).output(result, type);
  });
}

BOOST_AUTO_TEST_CASE(slices_and_parts) {
  every_seed(op("slice"), [](Random& random, ProblemMaker& maker) {
    const DataType type = random.type(ops::type_sets::any);
    const Shape shape = random.shape(0, 8);
    SliceAttributes a;
    a.strides.emplace();
    Shape result;
    for (const auto extent : shape) {
      a.starts.push_back(random.pick(0, extent - 1));
      a.sizes.push_back(random.pick(1, extent - a.starts.back()));
      a.strides->push_back(random.pick(1, 3));
      result.push_back((a.sizes.back() - 1) / a.strides->back() + 1);
    }
    if (random.chance()) {
      a.strides.reset();
      result = Shape(a.sizes.begin(), a.sizes.end());
    }
    maker.attributes(a).input(shape, type).output(result, type);
  });
  every_seed(op("split"), [](Random& random, ProblemMaker& maker) {
    const DataType type = random.type(ops::type_sets::any);
    Shape shape = random.shape(1, 8, 3000);
    SplitAttributes a;
    a.axis = random.axis(shape);
    std::vector<std::uint32_t> sizes;
    for (auto i = random.pick(1, 3); i > 0; --i) sizes.push_back(random.pick(1, 5));
    a.splits = sizes;
    shape[a.axis] = std::accumulate(sizes.begin(), sizes.end(), 0U);
    maker.attributes(a).input(shape, type);
    for (const auto size : sizes) {
      shape[a.axis] = size;
      maker.output(shape, type);
    }
  });
}

BOOST_AUTO_TEST_CASE(expansions) {
  every_seed(op("expand"), [](Random& random, ProblemMaker& maker) {
    const DataType type = random.type(ops::type_sets::any);
    const Shape shape = random.shape(0, 8);
    maker.attributes(ExpandAttributes{{shape.begin(), shape.end()}});
    maker.input(narrower(shape, random), type).output(shape, type);
  });
}

BOOST_AUTO_TEST_CASE(padding) {
  for (const auto mode : {PaddingMode::constant, PaddingMode::edge, PaddingMode::reflection})
    every_seed(op("pad"), [mode](Random& random, ProblemMaker& maker) {
      const DataType type = random.type(ops::type_sets::any);
      const Shape shape = random.shape(0, 8, 2000);
      PadAttributes a;
      a.mode = mode;
      a.value = 3.0;
      Shape result;
      for (const auto extent : shape) {
        const auto most = mode == PaddingMode::reflection ? std::min(extent - 1, 3U) : 3U;
        const bool padded = random.pick(0, 2) == 0;
        a.beginning_padding.push_back(padded ? random.pick(0, most) : 0);
        a.ending_padding.push_back(padded ? random.pick(0, most) : 0);
        result.push_back(a.beginning_padding.back() + extent + a.ending_padding.back());
      }
      maker.attributes(a).input(shape, type).output(result, type);
    });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron
