// gather and scatter of elements and slices. Finds the place of each index without walking through
// coordinates, and moves small slices as one integer.
#include <array>
#include <cstring>
#include <type_traits>

#include "kernels/direct/direct.hpp"
#include "kernels/elements.hpp"
#include "kernels/function_kernel.hpp"
#include "ops/number.hpp"
#include "ops/table.hpp"

namespace polychron::kernels::direct {
namespace {

/// Some elements as one integer, aligned like a single element.
template <class T>
struct [[gnu::packed]] Slice {
  T elements;
};

/// Calls `f(indices, move)` with the elements of operand 1. `move(i, k)` copies slice k of `from`
/// to slice i of the result, each of `bytes` bytes. It uses one integer if there is one of that
/// size.
template <class F>
void with_indices(DataType type, std::size_t bytes, const std::byte* from,
                  const Arguments& arguments, F&& f) {
  std::byte* const to = arguments.outputs[0];
  with_index(type, [&]<class I>(I) {
    const auto* indices = reinterpret_cast<const I*>(arguments.inputs[1]);
    const auto typed = [&]<class T>(T) {
      using S = Slice<T>;
      f(indices, [out = reinterpret_cast<S*>(to), in = reinterpret_cast<const S*>(from)](
                     std::size_t i, std::size_t k) { out[i] = in[k]; });
    };
    if (bytes == 1) return typed(std::uint8_t{});
    if (bytes == 2) return typed(std::uint16_t{});
    if (bytes == 4) return typed(std::uint32_t{});
    if (bytes == 8) return typed(std::uint64_t{});
    f(indices,
      [=](std::size_t i, std::size_t k) { std::memcpy(to + i * bytes, from + k * bytes, bytes); });
  });
}

/// Copies the input to the result, unless they share memory.
void begin_with_input(const Arguments& arguments, std::size_t bytes) {
  if (arguments.inputs[0] != arguments.outputs[0])
    std::memcpy(arguments.outputs[0], arguments.inputs[0], bytes);
}

/// The place that `index` means, along an axis of `extent` elements.
template <class I>
std::size_t place_of(I index, std::size_t extent) {
  return static_cast<std::size_t>(bounded(index, static_cast<std::int64_t>(extent)));
}

/// Takes a few indices at a time, and finds their places once for all dimensions before the axis.
template <class I, class Move>
void gather(const Around& seen, std::size_t count, const I* indices, Move move) {
  constexpr std::size_t few = 4096;
  std::array<std::uint32_t, few> places;
  for (std::size_t start = 0; start < count; start += few) {
    const std::size_t number = std::min(few, count - start);
    for (std::size_t k = 0; k < number; ++k)
      places[k] = static_cast<std::uint32_t>(place_of(indices[start + k], seen.extent));
    for (std::size_t i = 0; i < seen.outer; ++i)
      for (std::size_t k = 0; k < number; ++k)
        move(i * count + start + k, i * seen.extent + places[k]);
  }
}

KernelResult prepare_gather(const Problem& problem) {
  if (const auto reason = not_plain(problem)) return refuse(*reason);
  const auto& [type, shape] = problem.inputs[0].descriptor;
  const auto& [index_type, index_shape] = problem.inputs[1].descriptor;
  const Around seen = around(shape, std::get<GatherAttributes>(problem.attributes).axis);
  const std::size_t bytes = seen.inner * byte_size(type), count = *element_count(index_shape);
  return make_kernel([=, index_type = index_type](const Arguments& arguments) {
    with_indices(index_type, bytes, arguments.inputs[0], arguments,
                 [=](const auto* indices, auto move) { gather(seen, count, indices, move); });
  });
}

/// Indices of elements along an axis: `count` of them along it, where the input has `seen.extent`.
struct Elements {
  Around seen;
  std::size_t count;
  std::size_t bytes;  ///< of an element
  DataType index_type;

  Elements(const Problem& problem, std::uint32_t axis)
      : seen(around(problem.inputs[0].descriptor.shape, axis)),
        count(problem.inputs[1].descriptor.shape[axis]),
        bytes(byte_size(problem.inputs[0].descriptor.data_type)),
        index_type(problem.inputs[1].descriptor.data_type) {}

  std::size_t whole() const { return seen.outer * seen.extent * seen.inner * bytes; }

  /// Calls `f(number, place)` for each index: its number, and the place of its element in the
  /// input.
  template <class I, class F>
  void for_each(const I* indices, F f) const {
    const auto [outer, extent, inner] = seen;
    std::size_t number = 0;
    for (std::size_t i = 0; i < outer; ++i) {
      const std::size_t first = i * extent * inner;
      if (inner == 1) {
        for (const std::size_t end = number + count; number < end; ++number)
          f(number, first + place_of(indices[number], extent));
        continue;
      }
      for (std::size_t along = 0; along < count; ++along)
        for (std::size_t k = 0; k < inner; ++k, ++number)
          f(number, first + place_of(indices[number], extent) * inner + k);
    }
  }
};

KernelResult prepare_gather_elements(const Problem& problem) {
  if (const auto reason = not_plain(problem)) return refuse(*reason);
  const Elements elements(problem, std::get<GatherAttributes>(problem.attributes).axis);
  return make_kernel([elements](const Arguments& arguments) {
    with_indices(elements.index_type, elements.bytes, arguments.inputs[0], arguments,
                 [&](const auto* indices, auto move) { elements.for_each(indices, move); });
  });
}

KernelResult prepare_scatter_elements(const Problem& problem) {
  if (const auto reason = not_plain(problem)) return refuse(*reason);
  const Elements elements(problem, std::get<ScatterAttributes>(problem.attributes).axis);
  return make_kernel(
      [elements](const Arguments& arguments) {
        begin_with_input(arguments, elements.whole());
        with_indices(elements.index_type, elements.bytes, arguments.inputs[2], arguments,
                     [&](const auto* indices, auto move) {
                       elements.for_each(indices, [move](std::size_t number, std::size_t place) {
                         move(place, number);
                       });
                     });
      },
      0);
}

/// Coordinates that select slices.
struct Slices {
  std::size_t count = 1;                                 ///< number of coordinates
  std::size_t coordinates;                               ///< indices in each coordinate
  std::size_t bytes;                                     ///< of a slice
  std::size_t whole;                                     ///< bytes of the input
  std::array<std::size_t, max_rank> extents{}, steps{};  ///< by index, in slices
  DataType index_type;

  explicit Slices(const Problem& problem)
      : coordinates(problem.inputs[1].descriptor.shape.back()),
        bytes(byte_size(problem.inputs[0].descriptor.data_type)),
        whole(*byte_length(problem.inputs[0].descriptor)),
        index_type(problem.inputs[1].descriptor.data_type) {
    const Shape& shape = problem.inputs[0].descriptor.shape;
    const Shape& indices = problem.inputs[1].descriptor.shape;
    for (std::size_t i = 0; i + 1 < indices.size(); ++i) count *= indices[i];
    for (std::size_t i = coordinates; i < shape.size(); ++i) bytes *= shape[i];
    std::size_t step = 1;
    for (std::size_t i = coordinates; i-- > 0; step *= shape[i]) {
      extents[i] = shape[i];
      steps[i] = step;
    }
  }

  /// Calls `f(number, place)` for each coordinate: its number, and the number of its slice.
  template <class I, class F>
  void for_each(const I* indices, F f) const {
    if (coordinates == 1) return walk<1>(indices, f);
    if (coordinates == 2) return walk<2>(indices, f);
    if (coordinates == 3) return walk<3>(indices, f);
    walk<0>(indices, f);
  }

 private:
  /// For coordinates of N indices; 0: of any number.
  template <std::size_t N, class I, class F>
  void walk(const I* indices, F f) const {
    const auto extent = extents, step = steps;
    const std::size_t length = N == 0 ? coordinates : N;
    for (std::size_t number = 0; number < count; ++number, indices += length) {
      std::size_t place = 0;
      for (std::size_t i = 0; i < length; ++i) place += place_of(indices[i], extent[i]) * step[i];
      f(number, place);
    }
  }
};

KernelResult prepare_gather_nd(const Problem& problem) {
  if (const auto reason = not_plain(problem)) return refuse(*reason);
  return make_kernel([slices = Slices(problem)](const Arguments& arguments) {
    with_indices(slices.index_type, slices.bytes, arguments.inputs[0], arguments,
                 [&](const auto* indices, auto move) { slices.for_each(indices, move); });
  });
}

KernelResult prepare_scatter_nd(const Problem& problem) {
  if (const auto reason = not_plain(problem)) return refuse(*reason);
  return make_kernel(
      [slices = Slices(problem)](const Arguments& arguments) {
        begin_with_input(arguments, slices.whole);
        with_indices(slices.index_type, slices.bytes, arguments.inputs[2], arguments,
                     [&](const auto* indices, auto move) {
                       slices.for_each(indices, [move](std::size_t number, std::size_t place) {
                         move(place, number);
                       });
                     });
      },
      0);
}

/// f(element, update) for each. Integers are unsigned in sums and products, which wrap around.
template <class T, class F>
void with_reduction(ScatterReduction reduction, F&& f) {
  constexpr bool whole = std::is_integral_v<T>;
  using U = std::conditional_t<whole, std::uint64_t, T>;
  switch (reduction) {
    case ScatterReduction::add:
      return f([](T a, T b) { return static_cast<T>(static_cast<U>(a) + static_cast<U>(b)); });
    case ScatterReduction::multiply:
      return f([](T a, T b) { return static_cast<T>(static_cast<U>(a) * static_cast<U>(b)); });
    case ScatterReduction::max:
      return f([](T a, T b) { return b > a || b != b ? b : a; });
    case ScatterReduction::min:
      return f([](T a, T b) { return b < a || b != b ? b : a; });
  }
}

/// float16 is computed in float32, so that long sums keep their precision.
KernelResult prepare_scatter_reduce(const Problem& problem) {
  if (const auto reason = not_plain(problem)) return refuse(*reason);
  const DataType type = problem.inputs[0].descriptor.data_type;
  if (type == DataType::float16) return refuse("float16");
  const auto reduction = std::get<ScatterReduceAttributes>(problem.attributes).reduction;
  return make_kernel(
      [slices = Slices(problem), type, reduction](const Arguments& arguments) {
        begin_with_input(arguments, slices.whole);
        ops::with_element(type, [&]<class T>(T) {
          if constexpr (std::is_arithmetic_v<T>) {
            T* const out = reinterpret_cast<T*>(arguments.outputs[0]);
            const auto* const updates = reinterpret_cast<const T*>(arguments.inputs[2]);
            const std::size_t size = slices.bytes / sizeof(T);
            with_index(slices.index_type, [&]<class I>(I) {
              with_reduction<T>(reduction, [&](auto combine) {
                const auto* indices = reinterpret_cast<const I*>(arguments.inputs[1]);
                slices.for_each(indices, [=](std::size_t number, std::size_t place) {
                  for (std::size_t i = 0; i < size; ++i)
                    out[place * size + i] =
                        combine(out[place * size + i], updates[number * size + i]);
                });
              });
            });
          }
        });
      },
      0);
}

}  // namespace

std::span<const Entry> indexing_entries() noexcept {
  static constexpr Entry entries[] = {{ops::op("gather"), prepare_gather},
                                      {ops::op("gatherElements"), prepare_gather_elements},
                                      {ops::op("gatherND"), prepare_gather_nd},
                                      {ops::op("scatterElements"), prepare_scatter_elements},
                                      {ops::op("scatterND"), prepare_scatter_nd},
                                      {ops::op("scatterReduce"), prepare_scatter_reduce}};
  return entries;
}

}  // namespace polychron::kernels::direct
