#include "tests/kernels/problems.hpp"

#include <boost/test/unit_test.hpp>
#include <cstring>
#include <limits>

#include "kernels/cpu/cut_kernel.hpp"
#include "kernels/team.hpp"
#include "kernels/threads.hpp"
#include "ops/number.hpp"
#include "tests/kernels/comparison.hpp"

namespace polychron::tests {

using kernels::Layout;
using kernels::Problem;
using kernels::Slot;

ProblemMaker& ProblemMaker::range(float low, float high) {
  low_ = low;
  high_ = high;
  return *this;
}

namespace {

/// A number that is unlike others.
template <class T>
T special(std::mt19937& generator) {
  if constexpr (std::is_same_v<T, float16>) {
    constexpr std::uint16_t list[] = {0x7e00, 0xfe01, 0x7c00, 0xfc00, 0x8000, 0, 1, 0x8001, 0x7bff};
    return float16::from_bits(list[generator() % std::size(list)]);
  } else if constexpr (std::is_same_v<T, float>) {
    using Limits = std::numeric_limits<float>;
    const float list[] = {Limits::quiet_NaN(),
                          -Limits::quiet_NaN(),
                          Limits::infinity(),
                          -Limits::infinity(),
                          -0.0F,
                          0,
                          Limits::denorm_min(),
                          Limits::max(),
                          -Limits::denorm_min()};
    return list[generator() % std::size(list)];
  } else {
    return generator() % 2 == 0 ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
  }
}

}  // namespace

Buffer ProblemMaker::random_bytes(const OperandDescriptor& descriptor) {
  Buffer bytes(*byte_length(descriptor));
  ops::with_element(descriptor.data_type, [&]<class T>(T) {
    std::uniform_real_distribution<float> numbers(low_, high_);
    std::uniform_int_distribution<int> integers(0, 7);
    for (T& value : bytes.as<T>())
      if (specials_ && generator_() % 8 == 0)
        value = special<T>(generator_);
      else if constexpr (std::is_same_v<T, float16>)
        value = float16(static_cast<double>(numbers(generator_)));
      else if constexpr (std::is_same_v<T, float>)
        value = numbers(generator_);
      else
        value = static_cast<T>(integers(generator_));
  });
  return bytes;
}

ProblemMaker& ProblemMaker::input(Shape shape, DataType type) {
  const OperandDescriptor descriptor{type, std::move(shape)};
  values_.push_back(random_bytes(descriptor));
  problem_.inputs.push_back({descriptor, Layout::plain, nullptr, true});
  problem_.own_inputs = problem_.inputs.size();
  return *this;
}

ProblemMaker& ProblemMaker::given(OperandDescriptor descriptor, Buffer bytes) {
  values_.push_back(std::move(bytes));
  problem_.inputs.push_back({std::move(descriptor), Layout::plain, nullptr, true});
  problem_.own_inputs = problem_.inputs.size();
  return *this;
}

ProblemMaker& ProblemMaker::indices(Shape shape, DataType type, std::uint32_t extent) {
  input(std::move(shape), type);
  ops::with_element(type, [&]<class T>(T) {
    if constexpr (std::is_integral_v<T>) {
      const auto reach = static_cast<std::int64_t>(extent) + 2;
      std::uniform_int_distribution<std::int64_t> numbers(std::is_signed_v<T> ? -reach : 0, reach);
      for (T& value : values_.back().as<T>())
        value =
            generator_() % 16 == 0 ? special<T>(generator_) : static_cast<T>(numbers(generator_));
    }
  });
  return *this;
}

ProblemMaker& ProblemMaker::constant(Shape shape, DataType type) {
  input(std::move(shape), type);
  problem_.inputs.back().constant =
      std::make_shared<const Buffer>(Buffer::copy_of(std::as_const(values_.back()).bytes()));
  return *this;
}

ProblemMaker& ProblemMaker::absent() {
  values_.emplace_back();
  problem_.inputs.push_back({{}, Layout::plain, nullptr, false});
  problem_.own_inputs = problem_.inputs.size();
  return *this;
}

ProblemMaker& ProblemMaker::output(Shape shape, DataType type) {
  problem_.outputs.push_back({{type, std::move(shape)}, Layout::plain, nullptr, true});
  return *this;
}

ProblemMaker& ProblemMaker::then(ops::OpId op, Attributes attributes) {
  problem_.post_ops.push_back({op, std::move(attributes), {}});
  return *this;
}

ProblemMaker& ProblemMaker::then_with(ops::OpId op, Shape shape, bool is_constant) {
  const std::size_t own = problem_.own_inputs;
  if (is_constant)
    constant(std::move(shape));
  else
    input(std::move(shape));
  problem_.own_inputs = own;
  problem_.post_ops.push_back({op, {}, {static_cast<std::uint32_t>(problem_.inputs.size() - 1)}});
  return *this;
}

namespace {

/// The bytes of `slot` in another layout.
Buffer reordered(const Slot& from, const Slot& to, const Buffer& bytes) {
  Problem problem;
  problem.op = kernels::op_reorder;
  problem.inputs = {from};
  problem.inputs[0].constant.reset();
  problem.outputs = {to};
  problem.own_inputs = 1;
  const auto kernel = kernels::implementations(problem.op)[0].prepare(problem).value();
  Buffer result(kernels::storage_bytes(to.descriptor, to.layout));
  Buffer scratch(kernel->scratch_bytes() + 1);
  const std::vector<const std::byte*> inputs{bytes.data()};
  const std::vector<std::byte*> outputs{result.data()};
  const kernels::Arguments arguments{inputs, outputs, scratch.data()};
  kernel->bind(arguments)->run();
  return result;
}

Slot with_layout(const Slot& slot, Layout layout) {
  Slot other = slot;
  other.layout = layout;
  return other;
}

/// True for operands that come in the picture's layout: whole pictures and vectors of channels.
bool takes_layout(const Problem& problem, std::size_t index) {
  const Slot& slot = problem.inputs[index];
  const Shape& shape = slot.descriptor.shape;
  if (!slot.present || shape.size() != 4 || slot.constant) return false;
  if (slot.descriptor.data_type != DataType::float32) return false;
  const bool picture = shape[2] * shape[3] > 1;
  return picture || index < problem.own_inputs;
}

/// Bytes behind each buffer that a kernel writes; they must stay as they are.
constexpr std::size_t fence = 8192;

bool is_fence(const Buffer& buffer) {
  static const std::vector<std::byte> untouched(fence, std::byte{0xff});
  return std::memcmp(buffer.bytes().last(fence).data(), untouched.data(), fence) == 0;
}

/// Runs `kernel` once and adds its results, in plain layout, to `outcome`. `in_place`: the input,
/// if any, whose memory is also the first result's.
void run_once(const kernels::Kernel& kernel, const Problem& problem,
              const std::vector<Buffer>& inputs, std::optional<std::size_t> in_place,
              Outcome& outcome, std::vector<Buffer>& results) {
  std::vector<Buffer> outputs;
  std::vector<const std::byte*> in;
  std::vector<std::byte*> out;
  for (const Slot& slot : problem.outputs) {
    outputs.emplace_back(kernels::storage_bytes(slot.descriptor, slot.layout) + fence);
    // Memory is reused: what was there before must not matter.
    std::fill(outputs.back().bytes().begin(), outputs.back().bytes().end(), std::byte{0xff});
    out.push_back(outputs.back().data());
  }
  for (std::size_t i = 0; i < inputs.size(); ++i)
    in.push_back(problem.inputs[i].present && !kernel.keeps_constant(i) ? inputs[i].data()
                                                                        : nullptr);
  if (in_place) {
    std::ranges::copy(inputs[*in_place].bytes(), outputs[0].bytes().begin());
    in[*in_place] = out[0];
  }
  Buffer scratch(kernel.scratch_bytes() + fence);
  std::fill(scratch.bytes().begin(), scratch.bytes().end(), std::byte{0xff});
  const kernels::Arguments arguments{in, out, scratch.data()};
  static kernels::Team team(3);
  const auto bound = kernel.bind(arguments);
  if (bound->parts() > 1)
    team.run(*bound, bound->parts());
  else
    bound->run();
  outcome.overran = outcome.overran || !is_fence(scratch);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    outcome.overran = outcome.overran || !is_fence(outputs[i]);
    auto bytes = Buffer::copy_of(outputs[i].bytes().first(outputs[i].size() - fence));
    const Slot& slot = problem.outputs[i];
    results.push_back(slot.layout == Layout::plain
                          ? std::move(bytes)
                          : reordered(slot, with_layout(slot, Layout::plain), bytes));
  }
}

}  // namespace

Outcome run_kernel(const kernels::Implementation& implementation, Problem problem,
                   const std::vector<Buffer>& values, Layout layout) {
  kernels::use_one_thread();  // as plans do
  std::vector<Buffer> inputs;
  for (std::size_t i = 0; i < problem.inputs.size(); ++i) {
    const Slot plain = problem.inputs[i];
    if (layout != Layout::plain && takes_layout(problem, i)) {
      problem.inputs[i].layout = layout;
      inputs.push_back(reordered(plain, problem.inputs[i], values[i]));
    } else {
      inputs.push_back(Buffer::copy_of(values[i].bytes()));
    }
  }
  if (layout != Layout::plain)
    for (Slot& slot : problem.outputs)
      if (slot.descriptor.shape.size() == 4 && slot.descriptor.data_type == DataType::float32)
        slot.layout = layout;
  auto prepared = implementation.prepare(problem);
  if (!prepared) return {{}, {}, prepared.error().message()};
  const auto kernel = std::move(prepared).value();
  Outcome outcome;
  run_once(*kernel, problem, inputs, std::nullopt, outcome, outcome.outputs);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (kernel->in_place(i) && !kernel->keeps_constant(i) &&
        problem.inputs[i].descriptor == problem.outputs[0].descriptor &&
        problem.inputs[i].layout == problem.outputs[0].layout)
      run_once(*kernel, problem, inputs, i, outcome, outcome.in_place);
  return outcome;
}

std::vector<kernels::Implementation> ways_of(ops::OpId op) {
  auto list = kernels::implementations(op);
  const auto in_parts = [](const Problem& problem) -> kernels::KernelResult {
    std::string text;
    auto kernel = kernels::prepare_in_parts(problem, text, 1e-3);
    if (!kernel) return kernels::refuse("whole");
    return kernels::KernelResult(std::move(kernel));
  };
  list.insert(list.end() - 1, {{op, in_parts}, "parts"});
  return list;
}

std::vector<double> numbers_of(const OperandDescriptor& descriptor, const Buffer& bytes) {
  std::vector<double> numbers(*element_count(descriptor.shape));
  const auto packed = bytes.as<std::uint8_t>();
  ops::with_element(descriptor.data_type, [&]<class T>(T) {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (is_packed(descriptor.data_type)) {
        const int bits = packed[i / 2] >> i % 2 * 4 & 15;
        numbers[i] = descriptor.data_type == DataType::int4 && bits > 7 ? bits - 16 : bits;
      } else {
        numbers[i] = static_cast<double>(bytes.as<T>()[i]);
      }
    }
  });
  return numbers;
}

int check_implementations(const ProblemMaker& maker, const std::string& what) {
  const Problem problem = maker.problem();
  const auto list = ways_of(problem.op);
  BOOST_REQUIRE_EQUAL(list.back().name, "reference");
  const auto runs =
      run_implementations(problem, maker.values(), reference_results(problem, maker.values()));
  for (const Run& run : runs)
    BOOST_TEST(run.complaint.empty(), what << ", " << list[run.implementation].name << " "
                                           << to_string(run.layout) << run.complaint << ": "
                                           << to_string(problem));
  return static_cast<int>(runs.size());
}

}  // namespace polychron::tests
