// gru, gruCell, lstm and lstmCell: every implementation against the reference, over types, choices,
// and operands that are there or known.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <map>

#include "ops/table.hpp"
#include "tests/kernels/problems.hpp"

namespace polychron {
namespace {

using ops::op;
using tests::numbers_of;
using tests::ProblemMaker;
using tests::run_kernel;
using Activation = RecurrentNetworkActivation;

/// Makes problems of one seed.
class Maker {
 public:
  explicit Maker(std::uint32_t seed) : generator_(seed), seed_(seed) {
    steps_ = pick(1, 5);
    directions_ = pick(1, 2);
    batch_ = pick(1, 4);
    input_ = pick(1, 20);
    hidden_ = pick(1, 40);
    constant_ = chance();
    type_ = pick(0, 3) == 0 ? DataType::float16 : DataType::float32;
    usual_ = chance();
  }

  ProblemMaker gru() {
    const auto attributes = sequence<GruAttributes>(2);
    ProblemMaker maker(op("gru"), seed_);
    start(maker, attributes, {steps_, batch_, input_}, 3);
    biases(maker, 3);
    optional(maker, state());
    return finish(maker, 1, attributes.return_sequence);
  }
  ProblemMaker lstm(bool peephole) {
    const auto attributes = sequence<LstmAttributes>(3);
    ProblemMaker maker(op("lstm"), seed_);
    start(maker, attributes, {steps_, batch_, input_}, 4);
    biases(maker, 4);
    if (peephole)
      weight(maker, shape({3 * hidden_}));
    else
      maker.absent();
    optional(maker, state());
    optional(maker, state());
    return finish(maker, 2, attributes.return_sequence);
  }
  ProblemMaker gru_cell() {
    auto_cell();
    const auto attributes = choices<GruCellAttributes>(2);
    ProblemMaker maker(op("gruCell"), seed_);
    start(maker, attributes, {batch_, input_}, 3);
    maker.range(-1, 1).input(state(), type_);
    biases(maker, 3);
    return finish(maker, 1, false);
  }
  ProblemMaker lstm_cell(bool peephole) {
    auto_cell();
    const auto attributes = choices<LstmCellAttributes>(3);
    ProblemMaker maker(op("lstmCell"), seed_);
    start(maker, attributes, {batch_, input_}, 4);
    maker.range(-1, 1).input(state(), type_).input(state(), type_);
    biases(maker, 4);
    if (peephole) weight(maker, shape({3 * hidden_}));
    return finish(maker, 2, false);
  }

  /// Numbers that are added for a result.
  double terms() const { return (input_ + hidden_) * steps_; }

 private:
  std::uint32_t pick(std::uint32_t low, std::uint32_t high) {
    return std::uniform_int_distribution<std::uint32_t>(low, high)(generator_);
  }
  bool chance() { return pick(0, 1) == 1; }

  void auto_cell() {
    cell_ = true;
    steps_ = directions_ = 1;
  }
  Shape shape(Shape inner) const {
    if (!cell_) inner.insert(inner.begin(), directions_);
    return inner;
  }
  Shape state() const { return shape({batch_, hidden_}); }

  template <class A>
  A choices(std::size_t activations) {
    A attributes;
    attributes.hidden_size = hidden_;
    attributes.layout = decltype(attributes.layout)(pick(0, 1));
    if constexpr (requires { attributes.reset_after; }) attributes.reset_after = chance();
    if (usual_) return attributes;
    attributes.activations.emplace();
    for (std::size_t i = 0; i < activations; ++i)
      attributes.activations->push_back(Activation(pick(0, 2)));
    return attributes;
  }
  template <class A>
  A sequence(std::size_t activations) {
    A attributes = choices<A>(activations);
    attributes.steps = steps_;
    attributes.return_sequence = chance();
    attributes.direction = RecurrentNetworkDirection(directions_ == 2 ? 2 : pick(0, 1));
    return attributes;
  }

  void weight(ProblemMaker& maker, const Shape& dimensions) {
    if (constant_)
      maker.constant(dimensions, type_);
    else
      maker.input(dimensions, type_);
  }
  void optional(ProblemMaker& maker, const Shape& dimensions) {
    if (chance())
      maker.range(-1, 1).input(dimensions, type_);
    else
      maker.absent();
  }
  void start(ProblemMaker& maker, const Attributes& attributes, const Shape& x,
             std::uint32_t gates) {
    maker.attributes(attributes).range(-1, 1).input(x, type_);
    maker.range(-0.4F, 0.4F);
    weight(maker, shape({gates * hidden_, input_}));
    weight(maker, shape({gates * hidden_, hidden_}));
  }
  void biases(ProblemMaker& maker, std::uint32_t gates) {
    maker.range(-0.5F, 0.5F);
    for (int i = 0; i < 2; ++i)
      if (pick(0, 2) > 0)
        weight(maker, shape({gates * hidden_}));
      else
        maker.absent();
  }
  ProblemMaker finish(ProblemMaker& maker, std::size_t states, bool whole) {
    for (std::size_t i = 0; i < states; ++i) maker.output(state(), type_);
    if (whole) maker.output({steps_, directions_, batch_, hidden_}, type_);
    return std::move(maker);
  }

  std::mt19937 generator_;
  std::uint32_t seed_;
  std::uint32_t steps_, directions_, batch_, input_, hidden_;
  bool constant_, usual_, cell_ = false;
  DataType type_;
};

/// The number of runs of each implementation, by its place in the list.
using Runs = std::map<std::pair<std::string_view, std::size_t>, int>;

void check_recurrent(const ProblemMaker& maker, double terms, Runs& runs) {
  const kernels::Problem problem = maker.problem();
  const auto list = kernels::implementations(problem.op);
  const auto expected = run_kernel(list.back(), problem, maker.values());
  BOOST_REQUIRE_MESSAGE(expected.refusal.empty(), expected.refusal);
  const bool half = problem.inputs[0].descriptor.data_type == DataType::float16;
  const double allowed = (half ? 0x1p-10 : 0) + terms * 0x1p-23;
  for (std::size_t i = 0; i + 1 < list.size(); ++i) {
    const auto actual = run_kernel(list[i], problem, maker.values());
    if (!actual.refusal.empty()) continue;
    ++runs[{kernels::operator_name(problem.op), i}];
    BOOST_TEST_CONTEXT(list[i].name << " " << i << ": " << to_string(problem)) {
      BOOST_TEST(!actual.overran);
      BOOST_REQUIRE_EQUAL(actual.outputs.size(), expected.outputs.size());
      for (std::size_t k = 0; k < actual.outputs.size(); ++k) {
        const auto got = numbers_of(problem.outputs[k].descriptor, actual.outputs[k]);
        const auto wanted = numbers_of(problem.outputs[k].descriptor, expected.outputs[k]);
        double worst = 0;
        for (std::size_t e = 0; e < got.size(); ++e) {
          const double off = std::fabs(got[e] - wanted[e]) / std::fmax(1, std::fabs(wanted[e]));
          worst = off <= worst ? worst : off;  // a NaN is kept
        }
        BOOST_TEST(worst <= allowed, "result " << k << " is off by " << worst);
      }
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(recurrent)

BOOST_AUTO_TEST_CASE(networks_as_the_reference) {
  Runs runs;
  for (std::uint32_t seed = 0; seed < 150; ++seed) {
    const auto run = [&](auto make) {
      Maker maker(seed);
      const ProblemMaker problem = make(maker);
      check_recurrent(problem, maker.terms(), runs);
    };
    run([](Maker& maker) { return maker.gru(); });
    run([](Maker& maker) { return maker.gru_cell(); });
    run([&](Maker& maker) { return maker.lstm(seed % 3 == 0); });
    run([&](Maker& maker) { return maker.lstm_cell(seed % 3 == 0); });
  }
  for (const auto& name : {"gru", "gruCell", "lstm", "lstmCell"}) {
    const auto primitive = runs[{name, 0}], products = runs[{name, 1}];
    BOOST_TEST_MESSAGE(name << ": " << primitive << " by primitives, " << products
                            << " by products");
    BOOST_TEST(primitive > 5);
    BOOST_TEST(products > 120);  // the smallest are left to the reference
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron
