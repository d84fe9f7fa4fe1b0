// Right calls that try to break something: windows, padding, strides and dilations of billions on a
// picture of a few pixels. They end, as fast as other pictures of that size, and every
// implementation that takes them agrees.
#include <boost/test/unit_test.hpp>

#include "ops/infer.hpp"
#include "ops/table.hpp"
#include "tests/kernels/problems.hpp"

namespace polychron::tests {

namespace {

constexpr std::uint32_t most = 0x7fffffff, billion = 1'000'000'000;

void check_extremes(std::string_view name, const std::vector<OperandDescriptor>& operands,
                    const Attributes& attributes, const std::string& what) {
  const auto& row = *ops::find(name);
  ProblemMaker maker(ops::id(row), 1);
  maker.attributes(attributes);
  std::vector<const OperandDescriptor*> addresses;
  for (const auto& operand : operands) {
    addresses.push_back(&operand);
    maker.input(operand.shape, operand.data_type);
  }
  for (const auto& result : ops::infer(row, addresses, attributes, ""))
    maker.output(result.shape, result.data_type);
  check_implementations(maker, std::string(name) + " of " + what);
}

const std::vector<Pool2dAttributes>& pools() {
  static const auto list = [] {
    std::vector<Pool2dAttributes> all(6);
    all[0].padding = {most, most, most, most};  // all of it in one window
    all[0].window_dimensions = {{0xffffffff, 0xffffffff}};
    all[1].padding = {billion, billion, 0, 0};  // windows in the padding alone
    all[1].window_dimensions = {{2, 2}};
    all[1].strides = {billion, 1};
    all[2].padding = {billion, 1, 1, billion};
    all[2].window_dimensions = {{billion, billion}};
    all[2].strides = {3, billion};
    all[3].padding = {0, most, most, 0};  // few elements, far apart
    all[3].window_dimensions = {{2, 2}};
    all[3].dilations = {most, most};
    all[4].padding = {billion, billion, billion, billion};
    all[4].window_dimensions = {{billion, 3}};
    all[4].dilations = {2, 2};
    all[4].strides = {billion / 8, billion};
    all[5].window_dimensions = {{1, 1}};
    all[5].strides = {0xffffffff, 0xffffffff};
    return all;
  }();
  return list;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(extremes)

BOOST_AUTO_TEST_CASE(windows_far_beyond_the_picture) {
  for (const auto& attributes : pools())
    for (const auto layout : {InputOperandLayout::nchw, InputOperandLayout::nhwc})
      for (const auto type : {DataType::float32, DataType::float16})
        for (const auto* name : {"averagePool2d", "l2Pool2d", "maxPool2d"}) {
          auto a = attributes;
          a.layout = layout;
          check_extremes(name, {{type, {1, 2, 2, 2}}}, a,
                         "case " + std::to_string(&attributes - pools().data()));
        }
}

BOOST_AUTO_TEST_CASE(filters_far_beyond_the_picture) {
  std::vector<Conv2dAttributes> list(4);
  list[0].padding = {most, 0, 0, most};
  list[0].strides = {billion, billion};
  list[1].padding = {billion, billion, billion, billion};
  list[1].dilations = {billion, billion};
  list[1].strides = {billion, billion};
  list[2].strides = {0xffffffff, 0xffffffff};
  list[3].padding = {0, most, most, 0};
  list[3].dilations = {most, most};
  for (const auto& a : list)
    check_extremes("conv2d", {{DataType::float32, {1, 2, 2, 2}}, {DataType::float32, {3, 2, 2, 2}}},
                   a, "case " + std::to_string(&a - list.data()));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron::tests
