// Element-wise operators of two or three operands, of every type and with broadcasting, that oneDNN
// refuses. Floats are computed in float32; integers wrap around.
#include <cmath>

#include "kernels/direct/direct.hpp"
#include "kernels/direct/nest.hpp"
#include "kernels/elements.hpp"
#include "kernels/function_kernel.hpp"
#include "kernels/half.hpp"
#include "kernels/vectors.hpp"
#include "ops/number.hpp"
#include "ops/table.hpp"

namespace polychron::kernels::direct {
namespace {

using ops::op;

template <class T>
auto computed(T value) {
  if constexpr (std::is_same_v<T, float16>)
    return to_float(value);
  else
    return value;
}

template <class R, class C>
R stored(C value) {
  if constexpr (std::is_same_v<R, float16> && std::is_same_v<C, float>)
    return float16(value);
  else
    return static_cast<R>(value);
}

/// Integers in two's complement; the highest bits are lost.
template <class C, class F>
C wrapping(C a, C b, F f) {
  if constexpr (std::is_integral_v<C>) {
    using U = std::make_unsigned_t<C>;
    return static_cast<C>(f(static_cast<U>(a), static_cast<U>(b)));
  } else {
    return f(a, b);
  }
}

struct Add {
  template <class C>
  C operator()(C a, C b) const {
    return wrapping(a, b, [](auto x, auto y) { return x + y; });
  }
};
struct Sub {
  template <class C>
  C operator()(C a, C b) const {
    return wrapping(a, b, [](auto x, auto y) { return x - y; });
  }
};
struct Mul {
  template <class C>
  C operator()(C a, C b) const {
    return wrapping(a, b, [](auto x, auto y) { return x * y; });
  }
};
/// Integer division by 0 gives 0.
struct Div {
  template <class C>
  C operator()(C a, C b) const {
    if constexpr (std::is_integral_v<C>) {
      if (b == 0) return 0;
      if constexpr (std::is_signed_v<C>)
        if (b == -1) return Sub{}(C{0}, a);
    }
    return static_cast<C>(a / b);
  }
};
/// NaN if either operand is NaN.
struct Max {
  template <class C>
  C operator()(C a, C b) const {
    return a < b || b != b ? b : a;
  }
};
struct Min {
  template <class C>
  C operator()(C a, C b) const {
    return b < a || b != b ? b : a;
  }
};
struct Pow {
  float operator()(float a, float b) const { return std::pow(a, b); }
};
/// Powers with the constant exponents that models have.
template <int exponent>
struct Power {
  float operator()(float x, float) const {
    const double wide{x};
    if constexpr (exponent == -1) return 1 / x;
    if constexpr (exponent == 2) return x * x;
    return static_cast<float>(wide * wide * wide);
  }
};
struct Prelu {
  template <class C>
  C operator()(C x, C slope) const {
    return x < C{} ? Mul{}(x, slope) : x;
  }
};
template <auto f>
struct Compare {
  template <class C>
  std::uint8_t operator()(C a, C b) const {
    return static_cast<std::uint8_t>(f(a, b));
  }
};

template <class T, class R, class F>
void rows(const Nest<2>& nest, const Arguments& arguments) {
  const auto* a = reinterpret_cast<const T*>(arguments.inputs[0]);
  const auto* b = reinterpret_cast<const T*>(arguments.inputs[1]);
  auto* y = reinterpret_cast<R*>(arguments.outputs[0]);
  const auto& [count, steps] = nest.dimensions().front();
  with_vectors([&, n = count, steps = steps] {
    nest.each_row([&](const auto& offsets, std::int64_t first) {
      const auto row = [&](auto left, auto right) {
        R* const out = y + first;
        const auto x1 = left;  // copies, which stores through byte pointers cannot change
        const auto x2 = right;
        const std::int64_t end = n;
        // An operand may be in the result's memory.
        POLYCHRON_INDEPENDENT_STEPS
        for (std::int64_t i = 0; i < end; ++i)
          out[i] = stored<R>(F{}(computed(x1[i]), computed(x2[i])));
      };
      const T *const left = a + offsets[0], *const right = b + offsets[1];
      // If both operands broadcast, the row has one element.
      if (steps[0] == 0)
        row(Row<T, true>(left), Row<T, false>(right));
      else if (steps[1] == 0)
        row(Row<T, false>(left), Row<T, true>(right));
      else
        row(Row<T, false>(left), Row<T, false>(right));
    });
  });
}

using Compute = void (*)(const Nest<2>&, const Arguments&);

/// For operators of every type. Out is the type of the result, or void for the operands' type.
template <class F, class Out = void>
Compute any_type(DataType type) {
  Compute compute = nullptr;
  ops::with_element(type, [&]<class T>(T) {
    using Result = std::conditional_t<std::is_void_v<Out>, T, Out>;
    compute = rows<T, Result, F>;
  });
  return compute;
}
template <auto f>
Compute comparison(DataType type) {
  return any_type<Compare<f>, std::uint8_t>(type);
}
template <auto f>
Compute logic(DataType type) {
  return type == DataType::uint8 ? comparison<f>(type) : nullptr;
}
template <class F>
Compute floats(DataType type) {
  if (type == DataType::float16) return rows<float16, float16, F>;
  return type == DataType::float32 ? rows<float, float, F> : nullptr;
}

struct Line {
  ops::OpId op;
  Compute (*compute)(DataType type);
};

constexpr Line lines[] = {
    {op("add"), any_type<Add>},
    {op("sub"), any_type<Sub>},
    {op("mul"), any_type<Mul>},
    {op("div"), any_type<Div>},
    {op("max"), any_type<Max>},
    {op("min"), any_type<Min>},
    {op("pow"), floats<Pow>},
    {op("prelu"), any_type<Prelu>},
    {op("equal"), comparison<[](auto a, auto b) { return a == b; }>},
    {op("notEqual"), comparison<[](auto a, auto b) { return a != b; }>},
    {op("greater"), comparison<[](auto a, auto b) { return b < a; }>},
    {op("greaterOrEqual"), comparison<[](auto a, auto b) { return b <= a; }>},
    {op("lesser"), comparison<[](auto a, auto b) { return a < b; }>},
    {op("lesserOrEqual"), comparison<[](auto a, auto b) { return a <= b; }>},
    {op("logicalAnd"),
     logic<[](auto a, auto b) { return static_cast<int>(a != 0) & static_cast<int>(b != 0); }>},
    {op("logicalOr"),
     logic<[](auto a, auto b) { return static_cast<int>(a != 0) | static_cast<int>(b != 0); }>},
    {op("logicalXor"),
     logic<[](auto a, auto b) { return static_cast<int>(a != 0) ^ static_cast<int>(b != 0); }>},
};

/// The loops for a power with a known exponent.
Compute known_power(const Slot& exponent) {
  if (!exponent.constant || *element_count(exponent.descriptor.shape) != 1) return nullptr;
  const std::byte* const bytes = exponent.constant->data();
  const bool half = exponent.descriptor.data_type == DataType::float16;
  const float number = half ? to_float(*reinterpret_cast<const float16*>(bytes))
                            : *reinterpret_cast<const float*>(bytes);
  const auto type = exponent.descriptor.data_type;
  if (number == -1) return floats<Power<-1>>(type);
  if (number == 2) return floats<Power<2>>(type);
  return number == 3 ? floats<Power<3>>(type) : nullptr;
}

KernelResult prepare_binary(const Problem& problem) {
  if (const auto reason = not_plain(problem)) return refuse(*reason);
  const auto& [type, shape] = problem.inputs[0].descriptor;
  auto compute = std::ranges::find(lines, problem.op, &Line::op)->compute(type);
  if (compute == nullptr) return refuse("not of this type");
  if (problem.op == op("pow"))
    if (const auto known = known_power(problem.inputs[1])) compute = known;
  const auto& [result, out] = problem.outputs[0].descriptor;
  const Nest<2> nest(out, {broadcast_strides(shape, out),
                           broadcast_strides(problem.inputs[1].descriptor.shape, out)});
  const bool over = byte_size(type) == byte_size(result) && shape == out;
  return make_kernel([nest, compute](const Arguments& arguments) { compute(nest, arguments); },
                     over ? 0 : no_input);
}

template <class T>
void choose(const Nest<3>& nest, const Arguments& arguments) {
  const auto* condition = reinterpret_cast<const std::uint8_t*>(arguments.inputs[0]);
  const auto* yes = reinterpret_cast<const T*>(arguments.inputs[1]);
  const auto* no = reinterpret_cast<const T*>(arguments.inputs[2]);
  auto* y = reinterpret_cast<T*>(arguments.outputs[0]);
  const auto& [count, steps] = nest.dimensions().front();
  with_vectors([&, n = count, steps = steps] {
    nest.each_row([&](const auto& offsets, std::int64_t first) {
      with_row(condition + offsets[0], steps[0], [&](auto which) {
        with_row(yes + offsets[1], steps[1], [&](auto left) {
          with_row(no + offsets[2], steps[2], [&](auto right) {
            T* const out = y + first;
            POLYCHRON_INDEPENDENT_STEPS
            for (std::int64_t i = 0; i < n; ++i) {
              const T a = left[i], b = right[i];  // reads both, to avoid branches
              out[i] = which[i] != 0 ? a : b;
            }
          });
        });
      });
    });
  });
}

KernelResult prepare_where(const Problem& problem) {
  if (const auto reason = not_plain(problem)) return refuse(*reason);
  const Shape& shape = problem.outputs[0].descriptor.shape;
  std::array<Strides, 3> strides{};
  for (std::size_t i = 0; i < 3; ++i)
    strides[i] = broadcast_strides(problem.inputs[i].descriptor.shape, shape);
  void (*compute)(const Nest<3>&, const Arguments&) = nullptr;
  with_size(problem.inputs[1].descriptor.data_type, [&]<class T>(T) { compute = choose<T>; });
  return make_kernel([nest = Nest<3>(shape, strides), compute](const Arguments& arguments) {
    compute(nest, arguments);
  });
}

}  // namespace

std::span<const Entry> broadcast_entries() noexcept {
  static constexpr auto entries =
      joined(entries_of(lines, prepare_binary),
             std::array{Entry{op("where"), prepare_where},
                        Entry{op_chain, prepare_chain, "chain", nullptr, true}});
  return entries;
}

}  // namespace polychron::kernels::direct
