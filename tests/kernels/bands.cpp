// Convolutions in bands: their results equal the whole's on any thread, and the right ones are cut.
#include "kernels/cpu/bands.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstring>
#include <iostream>
#include <limits>
#include <numeric>

#include "kernels/cpu/band_kernel.hpp"
#include "kernels/cpu/cpu_backend.hpp"
#include "kernels/cpu/plan.hpp"
#include "kernels/fusion.hpp"
#include "kernels/team.hpp"
#include "kernels/vectors.hpp"
#include "tests/kernels/graphs.hpp"
#include "tests/kernels/random.hpp"

namespace polychron {
namespace {

using kernels::Layout;
using kernels::Problem;
using kernels::Slot;
using ops::op;
using tests::GraphMaker;
using tests::Random;
using tests::Runner;

Buffer random_floats(Random& random, std::size_t bytes) {
  Buffer buffer(bytes);
  for (float& number : buffer.as<float>())
    number = static_cast<float>(random.pick(0, 2000)) / 1000 - 1;
  return buffer;
}

Slot slot(Shape shape, Layout layout) {
  return {{DataType::float32, std::move(shape)}, layout, nullptr, true, {}, {}};
}

std::size_t bytes_of(const Slot& slot) {
  return kernels::storage_bytes(slot.descriptor, slot.layout);
}

/// Links with the inputs of all of them, in turn, without the pictures between.
struct Chain {
  std::vector<Problem> links;
  std::vector<Buffer> inputs;

  void add(Random& random, Problem link) {
    for (std::size_t i = links.empty() ? 0 : 1; i < link.inputs.size(); ++i) {
      Slot& in = link.inputs[i];
      Buffer values = random_floats(random, bytes_of(in));
      // Channels that fill up a block are zero.
      const Shape& shape = in.descriptor.shape;
      const std::uint32_t block = kernels::channel_block(in.layout);
      if (block > 1)
        for (std::size_t k = 0; k < values.as<float>().size(); ++k) {
          const std::size_t plane = k / (std::size_t{shape[2]} * shape[3] * block);
          if (plane * block + k % block >= shape[1]) values.as<float>()[k] = 0;
        }
      if (i > 0 && i < link.own_inputs)
        in.constant = std::make_shared<const Buffer>(Buffer::copy_of(values.bytes()));
      inputs.push_back(std::move(values));
    }
    links.push_back(std::move(link));
  }
};

std::uint32_t result_size(std::uint32_t size, std::uint32_t window, std::uint32_t stride,
                          std::uint32_t padding, std::uint32_t dilation) {
  return (size + padding - (window - 1) * dilation - 1) / stride + 1;
}

/// A convolution of the picture that `from` describes; with a residual where the sizes allow it.
Problem convolution(Random& random, const Slot& from, std::uint32_t channels, std::uint32_t window,
                    bool depthwise) {
  const Shape& in = from.descriptor.shape;
  Conv2dAttributes a;
  a.strides = {random.pick(1, 2), random.pick(1, 2)};
  a.dilations = {random.pick(1, 2), 1};
  a.padding = {random.pick(0, window - 1), random.pick(0, window - 1), window / 2, window / 2};
  a.groups = depthwise ? in[1] : 1;
  if (depthwise) channels = in[1];
  const Shape out{
      1, channels,
      result_size(in[2], window, a.strides[0], a.padding[0] + a.padding[1], a.dilations[0]),
      result_size(in[3], window, a.strides[1], a.padding[2] + a.padding[3], 1)};
  Problem problem;
  problem.op = op("conv2d");
  problem.attributes = a;
  problem.inputs = {from, slot({channels, depthwise ? 1 : in[1], window, window}, Layout::plain)};
  if (random.chance()) problem.inputs.push_back(slot({channels}, Layout::plain));
  problem.own_inputs = problem.inputs.size();
  problem.outputs = {slot(out, kernels::picture_layout())};
  if (random.chance()) problem.post_ops.push_back({op("relu"), {}, {}});
  if (random.chance()) {
    problem.post_ops.push_back(
        {op("add"), {}, {static_cast<std::uint32_t>(problem.inputs.size())}});
    problem.inputs.push_back(random.chance()
                                 ? slot(out, kernels::picture_layout())
                                 : slot({1, random.chance() ? channels : 1, 1, 1}, Layout::plain));
  }
  return problem;
}

Chain random_chain(std::uint32_t seed) {
  Random random(seed);
  const auto layout = kernels::picture_layout();
  Chain chain;
  const bool photograph = random.chance();
  const std::uint32_t channels = photograph ? 3 : 8 * random.pick(1, 5);
  Slot picture = slot({1, channels, random.pick(20, 40), random.pick(5, 20)},
                      photograph ? Layout::plain : layout);
  chain.add(random,
            convolution(random, picture, 8 * random.pick(1, 6), random.chance() ? 3 : 1, false));
  chain.add(random,
            convolution(random, chain.links.back().outputs[0], 0, random.chance() ? 3 : 5, true));
  if (random.chance())
    chain.add(random,
              convolution(random, chain.links.back().outputs[0], 8 * random.pick(1, 6), 1, false));
  return chain;
}

bool is_whole(const Problem& problem, std::size_t input) {
  return problem.inputs[input].descriptor.shape == problem.outputs[0].descriptor.shape;
}

/// A kernel's run on memory of exactly the bytes that it asks for, and a guard behind.
struct Run {
  std::vector<float> result;
  bool overran = false;
};
Run run(const kernels::Kernel& kernel, const Slot& output,
        const std::vector<const std::byte*>& inputs, const std::vector<std::size_t>& order) {
  constexpr std::size_t guard = 256;
  constexpr auto mark = std::byte{0xA5};
  const std::size_t bytes = bytes_of(output);
  Buffer result(bytes + guard), scratch(kernel.scratch_bytes() + guard);
  std::ranges::fill(result.bytes(), mark);
  std::ranges::fill(scratch.bytes(), mark);
  std::array<std::byte*, 1> outputs{result.data()};
  const kernels::Arguments arguments{inputs, outputs, scratch.data()};
  const auto bound = kernel.bind(arguments);
  if (order.empty())
    bound->run();
  else
    for (const std::size_t part : order) bound->run_part(part);
  const auto marked = [&](const Buffer& buffer, std::size_t from) {
    return std::ranges::all_of(buffer.bytes().subspan(from),
                               [&](std::byte b) { return b == mark; });
  };
  Run made;
  made.overran = !marked(result, bytes) || !marked(scratch, kernel.scratch_bytes());
  made.result.resize(bytes / sizeof(float));
  std::memcpy(made.result.data(), result.data(), bytes);
  return made;
}

std::vector<const std::byte*> addresses(const std::vector<Buffer>& buffers) {
  std::vector<const std::byte*> list;
  for (const Buffer& buffer : buffers) list.push_back(buffer.data());
  return list;
}

/// Link by link, each as a whole.
std::vector<float> expected_of(const Chain& chain) {
  std::vector<float> picture;
  std::size_t next = 0;
  for (const Problem& link : chain.links) {
    std::vector<const std::byte*> inputs;
    if (&link != chain.links.data())
      inputs.push_back(reinterpret_cast<const std::byte*>(picture.data()));
    while (inputs.size() < link.inputs.size()) inputs.push_back(chain.inputs[next++].data());
    std::string text;
    picture = run(*kernels::prepare_kernel(link, text), link.outputs[0], inputs, {}).result;
  }
  return picture;
}

/// Two convolutions of a picture of this many rows and columns: 1x1 to `channels`, and depthwise.
std::vector<Problem> expanded(std::uint32_t channels, std::uint32_t size, std::uint32_t stride) {
  const auto layout = kernels::picture_layout();
  const auto filter = [](Shape shape) {
    Slot constant = slot(std::move(shape), Layout::plain);
    constant.constant = std::make_shared<const Buffer>(Buffer(bytes_of(constant)));
    return constant;
  };
  Problem one, two;
  one.op = two.op = op("conv2d");
  one.attributes = Conv2dAttributes{};
  one.inputs = {slot({1, 16, size, size}, layout), filter({channels, 16, 1, 1})};
  one.outputs = {slot({1, channels, size, size}, layout)};
  Conv2dAttributes a;
  a.padding = {1, 1, 1, 1};
  a.strides = {stride, stride};
  a.groups = channels;
  two.attributes = a;
  two.inputs = {one.outputs[0], filter({channels, 1, 3, 3})};
  two.outputs = {slot({1, channels, size / stride, size / stride}, layout)};
  one.own_inputs = two.own_inputs = 2;
  return {one, two};
}

/// The block that MobileNetV2 is made of, on a picture of 56 x 56, twice. `also_output`: what its
/// first or second convolution makes.
std::shared_ptr<const ops::Graph> blocks(std::uint32_t batch = 1, int also_output = 0) {
  GraphMaker maker;
  auto x = maker.input({batch, 24, 56, 56});
  for (int i = 0; i < 2; ++i) {
    auto y = maker.node(op("conv2d"), {x, maker.random({144, 24, 1, 1}), maker.random({144})},
                        {batch, 144, 56, 56}, Conv2dAttributes{});
    y = maker.node(op("clamp"), {y}, {batch, 144, 56, 56}, ClampAttributes{0, 6});
    if (also_output == 1) maker.output(y);
    Conv2dAttributes a;
    a.padding = {1, 1, 1, 1};
    a.groups = 144;
    y = maker.node(op("conv2d"), {y, maker.random({144, 1, 3, 3})}, {batch, 144, 56, 56}, a);
    if (also_output == 2) maker.output(y);
    y = maker.node(op("conv2d"), {y, maker.random({24, 144, 1, 1}, -0.1F, 0.1F)},
                   {batch, 24, 56, 56}, Conv2dAttributes{});
    x = maker.node(op("add"), {y, x}, {batch, 24, 56, 56});
  }
  maker.output(x);
  return maker.share();
}

/// Says so where pictures are not computed in blocks of channels, nor in bands then.
bool has_bands() {
  if (kernels::picture_layout() != Layout::plain) return true;
  std::cout << "skipped: pictures are not computed in blocks of channels on this processor\n";
  return false;
}

std::size_t steps_in_bands(const std::shared_ptr<const ops::Graph>& graph) {
  const auto steps = kernels::make_cpu_backend()->compile(graph).value()->describe();
  return static_cast<std::size_t>(std::ranges::count_if(
      steps, [](const std::string& step) { return step.starts_with("bands: "); }));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(bands)

BOOST_AUTO_TEST_CASE(random_chains_are_what_their_links_compute) {
  int made = 0, residuals = 0;
  for (std::uint32_t seed = 0; seed < 120; ++seed) {
    const Chain chain = random_chain(seed);
    const Problem& last = chain.links.back();
    const std::size_t rows = last.outputs[0].descriptor.shape[2];
    const std::size_t count = Random(seed + 1000).pick(2, 7);
    if (rows < count) continue;
    std::string text;
    const auto kernel = kernels::prepare_in_bands(chain.links, text, count);
    if (!kernel) continue;  // a band of padding alone, or some filtered minimally
    ++made;
    for (const Problem& link : chain.links)
      for (std::size_t i = link.own_inputs; i < link.inputs.size(); ++i)
        residuals += is_whole(link, i) ? 1 : 0;
    const auto expected = expected_of(chain);
    const auto inputs = addresses(chain.inputs);
    const auto whole = run(*kernel, last.outputs[0], inputs, {});
    BOOST_TEST(!whole.overran, "seed " << seed << ": " << text);
    double worst = 0;
    for (std::size_t i = 0; i < expected.size(); ++i)
      worst = std::max(worst, std::abs(double{whole.result[i]} - expected[i]) /
                                  (1 + std::abs(double{expected[i]})));
    BOOST_TEST(worst < 1e-4, "seed " << seed << " is off by " << worst << ": " << text);
    std::vector<std::size_t> order(std::min<std::size_t>(count, 4));
    std::iota(order.rbegin(), order.rend(), std::size_t{0});
    const auto parts = run(*kernel, last.outputs[0], inputs, order);
    BOOST_TEST(!parts.overran, "seed " << seed << ": " << text);
    BOOST_TEST((parts.result == whole.result), "seed " << seed << ", in parts: " << text);
  }
  BOOST_TEST(made > 60);
  BOOST_TEST(residuals > 20);
}

BOOST_AUTO_TEST_CASE(rows_of_bands_meet_and_edges_are_padded_once) {
  const auto links = expanded(64, 30, 1);
  const auto bands = kernels::bands_of(links, 4);
  BOOST_REQUIRE(bands.size() == 4U);
  std::uint32_t row = 0;
  for (const auto& band : bands) {
    BOOST_TEST(band[1].out.begin == row);
    row = band[1].out.end;
    BOOST_TEST((band[0].out == band[1].in));
    const auto& a = std::get<Conv2dAttributes>(band[1].problem.attributes);
    BOOST_TEST(a.padding[0] == (band[1].out.begin == 0 ? 1U : 0U));
    BOOST_TEST(a.padding[1] == (band[1].out.end == 30 ? 1U : 0U));
    BOOST_TEST(band[1].in.count() == band[1].out.count() + 2 - a.padding[0] - a.padding[1]);
  }
  BOOST_TEST(row == 30U);
}

// Rows of a result that its padding alone makes.
BOOST_AUTO_TEST_CASE(a_band_of_padding_alone_is_none) {
  auto links = expanded(64, 30, 1);
  auto& a = std::get<Conv2dAttributes>(links[1].attributes);
  a.padding = {12, 0, 1, 1};
  links[1].outputs[0].descriptor.shape[2] = 40;
  BOOST_TEST(kernels::bands_of(links, 8).empty());
  BOOST_TEST(kernels::bands_of(links, 2).size() == 2U);
}

BOOST_AUTO_TEST_CASE(rows_are_of_one_picture_and_what_is_added_has_them_or_none) {
  const auto link = expanded(64, 30, 1)[0];
  BOOST_TEST(kernels::has_rows(link));
  const auto with = [&](Shape shape) {
    Problem problem = link;
    problem.post_ops.push_back({op("add"), {}, {2}});
    problem.inputs.push_back(slot(std::move(shape), Layout::plain));
    return kernels::has_rows(problem);
  };
  BOOST_TEST(with({1, 64, 30, 30}));
  BOOST_TEST(with({1, 64, 1, 1}));
  BOOST_TEST(with({1}));
  BOOST_TEST(!with({1, 1, 30, 30}));
  BOOST_TEST(!with({30, 1}));
  Problem batch = link;
  batch.inputs[0].descriptor.shape[0] = batch.outputs[0].descriptor.shape[0] = 2;
  BOOST_TEST(!kernels::has_rows(batch));
  Problem given = link;
  given.inputs[1].constant = nullptr;
  BOOST_TEST(!kernels::has_rows(given));
}

// A bias need not be a constant, and tensors are others in each run.
BOOST_AUTO_TEST_CASE(operands_that_moved_are_found) {
  int made = 0;
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    Chain chain = random_chain(seed);
    for (Problem& link : chain.links)
      if (link.own_inputs > 2) link.inputs[2].constant = nullptr;
    std::string text;
    const auto kernel = kernels::prepare_in_bands(chain.links, text, 3);
    if (!kernel) continue;
    ++made;
    const Slot& output = chain.links.back().outputs[0];
    std::vector<Buffer> others;
    for (const Buffer& input : chain.inputs) {
      others.push_back(Buffer::copy_of(input.bytes()));
      for (float& value : others.back().as<float>()) value *= 0.5F;
    }
    Buffer scratch(kernel->scratch_bytes()), one(bytes_of(output)), two(bytes_of(output));
    auto inputs = addresses(chain.inputs);
    std::array<std::byte*, 1> outputs{one.data()};
    const kernels::Arguments arguments{inputs, outputs, scratch.data()};
    const auto bound = kernel->bind(arguments);
    bound->run();
    std::ranges::copy(addresses(others), inputs.begin());
    outputs[0] = two.data();
    bound->rebind();
    bound->run();
    const auto expected = run(*kernel, output, addresses(others), {});
    BOOST_TEST(std::memcmp(expected.result.data(), two.data(), two.size()) == 0,
               "seed " << seed << ": " << text);
  }
  BOOST_TEST(made > 30);
}

BOOST_AUTO_TEST_CASE(their_number_is_a_matter_of_shapes) {
  BOOST_TEST(kernels::best_count(expanded(96, 112, 2)) == 8U);
  BOOST_TEST(kernels::best_count(expanded(192, 44, 2)) == 4U);
  BOOST_TEST(kernels::best_count(expanded(192, 42, 1)) == 0U);  // its result is as large
  BOOST_TEST(kernels::best_count(expanded(192, 14, 1)) == 0U);  // little lies between
  BOOST_TEST(kernels::best_count(expanded(64, 28, 2)) == 0U);
  auto wide = expanded(96, 112, 1);  // as much would be copied as lies between
  wide[0].inputs[0].descriptor.shape[1] = wide[0].inputs[1].descriptor.shape[1] = 96;
  BOOST_TEST(kernels::best_count(wide) == 0U);
}

BOOST_AUTO_TEST_CASE(chains_are_found_and_are_what_they_were) {
  if (!has_bands()) return;
  const auto graph = blocks();
  BOOST_TEST(steps_in_bands(graph) == 2U);
  Runner plain(kernels::make_cpu_backend({.optimize = false, .reference_only = true}), graph);
  Runner alone(kernels::make_cpu_backend(), graph);
  plain.randomize(3);
  plain.run();
  const auto expected = plain.get<float>(0);
  alone.randomize(3);
  alone.run();
  const auto actual = alone.get<float>(0);
  double worst = 0;
  for (std::size_t i = 0; i < expected.size(); ++i)
    worst = std::fmax(worst, std::fabs(double{actual[i]} - expected[i]));
  BOOST_TEST(worst < 1e-2, "off by " << worst);
  for (const int threads : {1, 2, 3, 4, 7}) {
    Runner shared(kernels::make_cpu_backend(), graph, std::make_shared<kernels::Team>(threads));
    for (int round = 0; round < 5; ++round) {
      shared.randomize(3);
      shared.run();
      BOOST_TEST((shared.get<float>(0) == actual), threads << " threads, run " << round);
    }
  }
}

// A result that another step reads has to be there as a whole; pictures of a batch are parts
// already.
BOOST_AUTO_TEST_CASE(what_is_read_elsewhere_is_not_between) {
  if (!has_bands()) return;
  BOOST_TEST(steps_in_bands(blocks(1, 1)) == 0U);
  BOOST_TEST(steps_in_bands(blocks(1, 2)) == 0U);
  BOOST_TEST(steps_in_bands(blocks(2)) == 0U);
}

// A 1x1 convolution that adds what a depthwise one made does not convolve that. It is the first in
// the graph, and so the one that the addition goes to.
BOOST_AUTO_TEST_CASE(what_is_added_is_not_a_picture) {
  GraphMaker maker;
  const auto z = maker.input({1, 96, 56, 56});
  auto p = maker.node(op("conv2d"), {z, maker.random({96, 96, 1, 1})}, {1, 96, 56, 56},
                      Conv2dAttributes{});
  const auto x = maker.input({1, 16, 112, 112});
  const auto e = maker.node(op("conv2d"), {x, maker.random({96, 16, 1, 1})}, {1, 96, 112, 112},
                            Conv2dAttributes{});
  Conv2dAttributes a;
  a.padding = {1, 1, 1, 1};
  a.groups = 96;
  a.strides = {2, 2};
  const auto d = maker.node(op("conv2d"), {e, maker.random({96, 1, 3, 3})}, {1, 96, 56, 56}, a);
  p = maker.node(op("add"), {p, d}, {1, 96, 56, 56});
  maker.output(p);
  Runner plain(kernels::make_cpu_backend({.optimize = false, .reference_only = true}),
               maker.share());
  Runner banded(kernels::make_cpu_backend(), maker.share());
  for (Runner* runner : {&plain, &banded}) {
    runner->randomize(4);
    runner->run();
  }
  const auto expected = plain.get<float>(0), actual = banded.get<float>(0);
  double worst = 0;
  for (std::size_t i = 0; i < expected.size(); ++i)
    worst = std::fmax(worst, std::fabs(double{actual[i]} - expected[i]));
  BOOST_TEST(worst < 1e-3, "off by " << worst);
}

// Minimal filtering gains more than bands, and all rows are rounded alike. Before another function
// than relu or a clamp nothing is filtered.
BOOST_AUTO_TEST_CASE(what_is_filtered_minimally_is_not_in_bands) {
  if (!has_bands()) return;
  const std::uint32_t size = 112;
  for (const bool another : {false, true}) {
    GraphMaker maker;
    Conv2dAttributes a;
    a.padding = {1, 1, 1, 1};
    auto x = maker.node(
        op("conv2d"), {maker.input({1, 16, size, size}), maker.random({96, 16, 3, 3}, -0.1F, 0.1F)},
        {1, 96, size, size}, a);
    if (another) x = maker.node(op("hardSwish"), {x}, {1, 96, size, size});
    a.groups = 96;
    x = maker.node(op("conv2d"), {x, maker.random({96, 1, 3, 3})}, {1, 96, size, size}, a);
    x = maker.node(op("conv2d"), {x, maker.random({16, 96, 1, 1})}, {1, 16, size, size},
                   Conv2dAttributes{});
    maker.output(x);
    // The other two gain nothing: as much would be copied as lies between.
    const bool filtered = !another && kernels::has_avx512();
    BOOST_TEST(steps_in_bands(maker.share()) == (filtered ? 0U : 1U));
  }
  // The whole's padding does not suit, but there is none within.
  auto links = expanded(64, 112, 2);
  auto& a = std::get<Conv2dAttributes>(links[0].attributes);
  a.padding = {2, 2, 1, 1};
  links[0].inputs[1] = slot({64, 16, 3, 3}, Layout::plain);
  links[0].inputs[1].constant =
      std::make_shared<const Buffer>(Buffer(bytes_of(links[0].inputs[1])));
  links[0].outputs[0].descriptor.shape[2] = links[1].inputs[0].descriptor.shape[2] = 114;
  links[1].outputs[0].descriptor.shape[2] = 57;
  std::string text;
  const bool within =
      kernels::way_of(kernels::bands_of(links, 4)[1][0].problem) == kernels::by_minimal_filtering;
  BOOST_TEST((kernels::prepare_in_bands(links, text, 4) == nullptr) == within);
}

// Loops of our own take infinite weights where no padding meets them, which is within the picture
// alone: other rows would be rounded unlike these.
BOOST_AUTO_TEST_CASE(bands_are_all_in_loops_of_our_own_or_none) {
  for (const float weight : {0.0F, std::numeric_limits<float>::infinity()}) {
    auto links = expanded(64, 112, 2);
    auto& a = std::get<Conv2dAttributes>(links[0].attributes);
    a.padding = {1, 1, 0, 0};
    a.strides = {1, 2};
    links[0].inputs[1] = slot({64, 16, 3, 3}, Layout::plain);
    Buffer weights(bytes_of(links[0].inputs[1]));
    weights.as<float>()[5] = weight;
    links[0].inputs[1].constant = std::make_shared<const Buffer>(std::move(weights));
    for (Slot* const slot : {&links[0].outputs[0], &links[1].inputs[0]})
      slot->descriptor.shape[3] = 55;
    links[1].outputs[0].descriptor.shape[3] = 28;
    std::string text;
    const auto bands = kernels::bands_of(links, 4);
    const auto own = [&](std::size_t band) {
      kernels::prepare_kernel(bands[band][0].problem, text);
      return text.starts_with("direct");
    };
    BOOST_TEST((kernels::prepare_in_bands(links, text, 4) != nullptr) == (own(0) == own(1)));
    BOOST_TEST((own(0) == own(1)) == (weight == 0 || !kernels::has_avx512()));
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron
