#include "tests/kernels/comparison.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <sstream>

#include "ops/layouts.hpp"
#include "ops/number.hpp"

namespace polychron::tests {

using kernels::Layout;
using kernels::Problem;
using kernels::Slot;

namespace {

constexpr double infinitely_far = std::numeric_limits<double>::infinity();

/// Properties of the numbers of a type.
template <class T>
struct Format {
  static constexpr int mantissa = 23, least = -126, beyond = 128;
  static double real(T value) { return static_cast<double>(value); }
};
template <>
struct Format<float16> {
  static constexpr int mantissa = 10, least = -14, beyond = 16;
  static double real(float16 value) { return static_cast<double>(value); }
};

/// The error of a float, as a part of the scale. An infinity counts as the number that would follow
/// the largest.
template <class T>
double off(T actual, T expected, const Allowed& allowed) {
  double a = Format<T>::real(actual), e = Format<T>::real(expected);
  if (std::isnan(a) || std::isnan(e)) return std::isnan(a) && std::isnan(e) ? 0 : infinitely_far;
  if (allowed.copies && std::signbit(a) != std::signbit(e)) return infinitely_far;
  if (a == e) return 0;
  const double beyond = std::ldexp(1, Format<T>::beyond);
  if (std::isinf(a)) a = std::copysign(beyond, a);
  if (std::isinf(e)) e = std::copysign(beyond, e);
  const double size = std::fabs(e);
  const int place = size == 0 ? Format<T>::least : std::max(std::ilogb(size), Format<T>::least);
  return std::fabs(a - e) / (allowed.own_scale ? std::ldexp(1, place) : std::fmax(1, size));
}

/// "float32", "float16": the type that decides of a problem's tolerance.
bool is_half(const Problem& problem) {
  return problem.outputs[0].descriptor.data_type == DataType::float16;
}

/// The allowed error of a result of 1, by the row.
double tolerance_of(ops::OpId op, double term_count, bool half) {
  if (op == kernels::op_swish) return 2 * tolerance_of(ops::op("sigmoid"), 1, false);
  if (kernels::is_internal(op)) return 0;
  const ops::Tolerance& tolerance = ops::row(op).tolerance;
  const double place = std::ldexp(1, half ? -Format<float16>::mantissa : -Format<float>::mantissa);
  const double unit = tolerance.metric == ops::Tolerance::Metric::ulp ? place : 1.0;
  return (half ? tolerance.float16 : tolerance.float32) * unit *
         (tolerance.per_term ? term_count : 1);
}

double terms_of_window(const Problem& problem, const Pool2dAttributes& a) {
  const Shape& in = problem.inputs[0].descriptor.shape;
  const auto axes = ops::picture_axes(a.layout);
  return a.window_dimensions ? (*a.window_dimensions)[0] * (*a.window_dimensions)[1]
                             : in[axes[2]] * in[axes[3]];
}

/// Products, pictures with the channels last, and convolutions of some groups or with filters that
/// are not known are in plain layout always.
bool may_be_blocked(const Problem& problem) {
  if (problem.outputs[0].descriptor.data_type != DataType::float32 ||
      kernels::is(problem.op, ops::Family::matrix))
    return false;
  // In blocks, the operand that is not whole comes second.
  const Shape& in = problem.inputs[0].descriptor.shape;
  const bool whole = in == problem.outputs[0].descriptor.shape;
  if (in.size() != 4 || (!whole && kernels::is(problem.op, ops::Family::elementwise))) return false;
  const bool convolves = kernels::is(problem.op, ops::Family::convolution);
  if (convolves && problem.inputs[1].constant == nullptr) return false;
  return std::visit(
      [&](const auto& attributes) {
        if constexpr (requires { attributes.groups; })
          if (problem.inputs[1].descriptor.shape.size() == 4 && attributes.groups != 1 &&
              attributes.groups != problem.outputs[0].descriptor.shape[1])
            return false;
        if constexpr (requires { attributes.input_layout == InputOperandLayout::nhwc; })
          return attributes.input_layout != InputOperandLayout::nhwc;
        else if constexpr (requires { attributes.layout == InputOperandLayout::nhwc; })
          return attributes.layout != InputOperandLayout::nhwc;
        else
          return true;
      },
      problem.attributes);
}

/// The error in `outcome`, in words; empty without one.
std::string complaint_about(const Outcome& outcome, const Problem& problem,
                            const std::vector<Buffer>& expected, const Allowed& allowed) {
  if (outcome.overran) return " writes beyond its result";
  std::string complaint;
  const auto check = [&](const Buffer& result, std::size_t index, const char* how) {
    const auto& descriptor = problem.outputs[index].descriptor;
    const auto worst = difference(descriptor, result, expected[index], allowed);
    if (worst.distance <= allowed.tolerance || !complaint.empty()) return;
    std::ostringstream text;
    text << how << ": result " << index << " is off by " << worst.distance << ", allowed "
         << allowed.tolerance << ": " << text_of(worst, descriptor, result, expected[index]);
    complaint = text.str();
  };
  for (std::size_t i = 0; i < outcome.outputs.size(); ++i) check(outcome.outputs[i], i, "");
  for (const Buffer& result : outcome.in_place) check(result, 0, " in place");
  return complaint;
}

}  // namespace

double terms_of(const Problem& problem) {
  const auto count = [](const Slot& slot) {
    return static_cast<double>(*element_count(slot.descriptor.shape));
  };
  const Shape& in = problem.inputs[0].descriptor.shape;
  const Shape& out = problem.outputs[0].descriptor.shape;
  if (kernels::is(problem.op, ops::Family::convolution)) {
    const auto channels = [&](const auto& a) -> std::uint32_t {
      if constexpr (requires { a.input_layout; })
        return out[a.input_layout == InputOperandLayout::nchw ? 1 : 3];
      else
        return 1;
    };
    return count(problem.inputs[1]) / std::visit(channels, problem.attributes);
  }
  if (kernels::is(problem.op, ops::Family::recurrent)) {
    const double steps = in.size() == 3 ? in[0] : 1;
    return steps * (in.back() + out.back());
  }
  if (const auto* a = std::get_if<GemmAttributes>(&problem.attributes))
    return in[a->a_transpose ? 0 : 1];
  if (kernels::is(problem.op, ops::Family::matrix)) return in.back();
  if (const auto* a = std::get_if<SoftmaxAttributes>(&problem.attributes)) return in[a->axis];
  if (const auto* a = std::get_if<CumulativeSumAttributes>(&problem.attributes)) return in[a->axis];
  if (const auto* a = std::get_if<Pool2dAttributes>(&problem.attributes))
    return terms_of_window(problem, *a);
  if (std::holds_alternative<ScatterReduceAttributes>(problem.attributes))
    return 1 + count(problem.inputs[1]) / problem.inputs[1].descriptor.shape.back();
  return count(problem.inputs[0]) / count(problem.outputs[0]);
}

Allowed allowed_of(const Problem& problem) {
  Allowed allowed;
  allowed.tolerance = tolerance_of(problem.op, terms_of(problem), is_half(problem));
  // The row's tolerance for sums of halves would allow anything; kernels add them up in float32.
  if (is_half(problem) && !kernels::is_internal(problem.op) &&
      ops::row(problem.op).tolerance.per_term)
    allowed.tolerance =
        std::min(allowed.tolerance, 0x1p-9 + tolerance_of(problem.op, terms_of(problem), false));
  // Post-operations carry on what is off before them: operands go up to 2.
  for (const kernels::PostOp& post_op : problem.post_ops)
    allowed.tolerance = 2 * allowed.tolerance + tolerance_of(post_op.op, 1, false);
  if (kernels::is_internal(problem.op)) return allowed;
  const auto& row = ops::row(problem.op);
  // Without sums that may cancel out.
  const bool simple = row.family == ops::Family::elementwise || row.name == "softsign" ||
                      row.name == "leakyRelu" || row.name == "prelu" || row.name == "relu";
  allowed.own_scale =
      problem.post_ops.empty() && simple && row.tolerance.metric == ops::Tolerance::Metric::ulp;
  if (row.name == "quantizeLinear") allowed.integers = row.tolerance.float32;
  const bool moves = row.family == ops::Family::movement || row.family == ops::Family::indexing;
  allowed.copies = moves && row.tolerance.float32 == 0;
  return allowed;
}

Difference difference(const OperandDescriptor& descriptor, const Buffer& actual,
                      const Buffer& expected, const Allowed& allowed) {
  return ops::with_element(descriptor.data_type, [&]<class T>(T) {
    const auto values = actual.as<T>(), wanted = expected.as<T>();
    Difference worst;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      double distance = 0;
      if constexpr (std::is_integral_v<T>)
        distance = std::fabs(static_cast<double>(values[i]) - static_cast<double>(wanted[i])) <=
                               allowed.integers &&
                           (allowed.integers > 0 || values[i] == wanted[i])
                       ? 0
                       : infinitely_far;
      else
        distance = off(values[i], wanted[i], allowed);
      if (distance > worst.distance) worst = {distance, i};
    }
    return worst;
  });
}

std::string text_of(const Difference& difference, const OperandDescriptor& descriptor,
                    const Buffer& actual, const Buffer& expected) {
  std::ostringstream text;
  text.precision(9);
  ops::with_element(descriptor.data_type, [&]<class T>(T) {
    const auto show = [&](const Buffer& buffer) {
      const T value = buffer.as<T>()[difference.element];
      if constexpr (std::is_integral_v<T>)
        text << std::to_string(value);
      else
        text << Format<T>::real(value);
    };
    text << "element " << difference.element << " is ";
    show(actual);
    text << ", expected ";
    show(expected);
  });
  return text.str();
}

std::vector<Buffer> reference_results(const Problem& problem, const std::vector<Buffer>& values) {
  auto outcome = run_kernel(kernels::implementations(problem.op).back(), problem, values);
  BOOST_REQUIRE_MESSAGE(outcome.refusal.empty(), to_string(problem) << ": " << outcome.refusal);
  return std::move(outcome.outputs);
}

std::vector<Run> run_implementations(const Problem& problem, const std::vector<Buffer>& values,
                                     const std::vector<Buffer>& expected) {
  const Allowed allowed = allowed_of(problem);
  const auto list = ways_of(problem.op);
  const bool blocked = may_be_blocked(problem);
  std::vector<Run> runs;
  for (std::size_t i = 0; i + 1 < list.size(); ++i)
    for (const Layout layout : {Layout::plain, Layout::blocked8, Layout::blocked16}) {
      if (layout != Layout::plain && !blocked) continue;
      const Outcome outcome = run_kernel(list[i], problem, values, layout);
      if (outcome.refusal.empty())
        runs.push_back(
            {i, layout, complaint_about(outcome, problem, expected, allowed), outcome.overran});
    }
  return runs;
}

}  // namespace polychron::tests
