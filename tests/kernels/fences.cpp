#include "tests/kernels/fences.hpp"

#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <utility>

#include "ops/table.hpp"
#include "tests/kernels/fenced.hpp"

namespace polychron::tests {

bool same(std::span<const std::byte> bytes, const Buffer& others) {
  return std::ranges::equal(bytes, others.bytes());
}

void run_between_fences(const ProblemMaker& maker, bool at_end) {
  const Prepared usual(maker);
  const std::string what = to_string(usual.problem);
  // The filter is read while the kernel is prepared; at its end it is not even aligned.
  const Fenced filter(maker.values()[1].bytes(), at_end);
  auto problem = usual.problem;
  problem.inputs[1].constant = std::make_shared<const Buffer>(
      Buffer::adopt(filter.data(), filter.bytes().size(), [](std::byte*, std::size_t) {}));
  const auto kernel = first_kernel(problem);
  BOOST_REQUIRE(kernel != nullptr);
  std::vector<std::unique_ptr<Fenced>> inputs;
  std::vector<const std::byte*> addresses;
  for (std::size_t i = 0; i < usual.inputs.size(); ++i) {
    inputs.push_back(std::make_unique<Fenced>(usual.inputs[i].bytes(), at_end));
    addresses.push_back(kernel->keeps_constant(i) ? nullptr : inputs.back()->data());
  }
  const Fenced output(std::vector<std::byte>(usual.result_bytes()), at_end);
  Buffer scratch(kernel->scratch_bytes());
  const std::array<std::byte*, 1> outputs{output.data()};
  const kernels::Arguments arguments{addresses, outputs, scratch.data()};
  kernel->bind(arguments)->run();
  BOOST_TEST(output.rest_is_untouched(), what);
  BOOST_TEST(same(output.bytes(), usual.result()), what);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    BOOST_TEST(same(inputs[i]->bytes(), usual.inputs[i]), what << ", input " << i);
}

void run_misaligned(const ProblemMaker& maker) {
  const Prepared usual(maker);
  constexpr std::size_t off = sizeof(float);
  std::vector<Buffer> inputs;
  auto addresses = usual.addresses();
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    inputs.emplace_back(usual.inputs[i].size() + off);
    std::ranges::copy(usual.inputs[i].bytes(), inputs[i].data() + off);
    if (addresses[i] != nullptr) addresses[i] = inputs[i].data() + off;
  }
  Buffer output(usual.result_bytes() + off), scratch(usual.kernel->scratch_bytes());
  const std::array<std::byte*, 1> outputs{output.data() + off};
  const kernels::Arguments arguments{addresses, outputs, scratch.data()};
  usual.kernel->bind(arguments)->run();
  BOOST_TEST(same(std::as_const(output).bytes().subspan(off), usual.result()),
             to_string(usual.problem));
}

void run_elsewhere(const Convolution& convolution) {
  auto maker = convolution.maker(5, true);
  maker.then_with(ops::op("add"), convolution.result());
  const Prepared one(maker);
  auto values = copies_of(maker);
  for (const std::size_t i : {0U, 2U, 3U})
    for (float& x : values[i].as<float>()) x = 1 - x;
  const Prepared other(maker, values);
  std::array<Buffer, 2> results{Buffer(one.result_bytes()), Buffer(one.result_bytes())};
  auto addresses = one.addresses();
  std::array<std::byte*, 1> outputs{results[0].data()};
  const kernels::Arguments arguments{addresses, outputs, nullptr};
  const auto bound = one.kernel->bind(arguments);
  bound->run();
  std::ranges::copy(other.addresses(), addresses.begin());
  outputs[0] = results[1].data();
  bound->rebind();
  bound->run();
  BOOST_TEST(same(results[0].bytes(), one.result()));
  BOOST_TEST(same(results[1].bytes(), other.result()));
  BOOST_TEST(!same(results[0].bytes(), results[1]));
}

}  // namespace polychron::tests
