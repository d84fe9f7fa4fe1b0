// Elements and slices picked or replaced by number: what each index stands for is found without
// walking through coordinates, and slices of an element's size are moved as one.
#include <cstring>

#include "kernels/direct/direct.hpp"
#include "kernels/elements.hpp"
#include "kernels/function_kernel.hpp"
#include "ops/table.hpp"

namespace polychron::kernels::direct {
namespace {

/// Calls `f(move)`, where `move(to, i, from, k)` makes slice i of `to` slice k of `from`. Slices of
/// `bytes` bytes: as integers where there are such.
template <class F>
void with_slices(std::size_t bytes, F&& f) {
  const auto typed = [&]<class T>(T) {
    f([](std::byte* to, std::size_t i, const std::byte* from, std::size_t k) {
      reinterpret_cast<T*>(to)[i] = reinterpret_cast<const T*>(from)[k];
    });
  };
  if (bytes == 1) return typed(std::uint8_t{});
  if (bytes == 2) return typed(std::uint16_t{});
  if (bytes == 4) return typed(std::uint32_t{});
  if (bytes == 8) return typed(std::uint64_t{});
  f([bytes](std::byte* to, std::size_t i, const std::byte* from, std::size_t k) {
    std::memcpy(to + i * bytes, from + k * bytes, bytes);
  });
}

template <class I>
const I* indices_of(const Arguments& arguments) {
  return reinterpret_cast<const I*>(arguments.inputs[1]);
}

/// A result begins as its input, unless it is in the same memory.
void begin_with_input(const Arguments& arguments, std::size_t bytes) {
  if (arguments.inputs[0] != arguments.outputs[0])
    std::memcpy(arguments.outputs[0], arguments.inputs[0], bytes);
}

KernelResult prepare_gather(const Problem& problem) {
  if (const auto reason = not_plain(problem)) return refuse(*reason);
  const auto& [type, shape] = problem.inputs[0].descriptor;
  const auto& [index_type, index_shape] = problem.inputs[1].descriptor;
  const Around seen = around(shape, std::get<GatherAttributes>(problem.attributes).axis);
  const std::size_t bytes = seen.inner * byte_size(type), count = *element_count(index_shape);
  return make_kernel([=, index_type = index_type](const Arguments& arguments) {
    with_index(index_type, [&]<class I>(I) {
      with_slices(bytes, [&](auto move) {
        const I* indices = indices_of<I>(arguments);
        const auto extent = static_cast<std::int64_t>(seen.extent);
        for (std::size_t i = 0; i < seen.outer; ++i)
          for (std::size_t k = 0; k < count; ++k)
            move(arguments.outputs[0], i * count + k, arguments.inputs[0],
                 i * seen.extent + static_cast<std::size_t>(bounded(indices[k], extent)));
      });
    });
  });
}

/// Calls `f(number, place)` for each index: which one it is, and where in the input the element
/// lies that it stands for.
template <class I, class F>
void for_each_element(const I* indices, const Around& seen, std::size_t count, F&& f) {
  const auto extent = static_cast<std::int64_t>(seen.extent);
  std::size_t number = 0;
  for (std::size_t i = 0; i < seen.outer; ++i) {
    const std::size_t first = i * seen.extent * seen.inner;
    for (std::size_t along = 0; along < count; ++along)
      for (std::size_t k = 0; k < seen.inner; ++k, ++number)
        f(number,
          first + static_cast<std::size_t>(bounded(indices[number], extent)) * seen.inner + k);
  }
}

KernelResult prepare_gather_elements(const Problem& problem) {
  if (const auto reason = not_plain(problem)) return refuse(*reason);
  const std::uint32_t axis = std::get<GatherAttributes>(problem.attributes).axis;
  const auto& [type, shape] = problem.inputs[0].descriptor;
  const auto& [index_type, index_shape] = problem.inputs[1].descriptor;
  const Around seen = around(shape, axis);
  const std::size_t count = index_shape[axis], bytes = byte_size(type);
  return make_kernel([=, index_type = index_type](const Arguments& arguments) {
    with_index(index_type, [&]<class I>(I) {
      with_slices(bytes, [&](auto move) {
        for_each_element(indices_of<I>(arguments), seen, count, [&](auto number, auto place) {
          move(arguments.outputs[0], number, arguments.inputs[0], place);
        });
      });
    });
  });
}

KernelResult prepare_scatter_elements(const Problem& problem) {
  if (const auto reason = not_plain(problem)) return refuse(*reason);
  const std::uint32_t axis = std::get<ScatterAttributes>(problem.attributes).axis;
  const auto& [type, shape] = problem.inputs[0].descriptor;
  const auto& [index_type, index_shape] = problem.inputs[1].descriptor;
  const Around seen = around(shape, axis);
  const std::size_t count = index_shape[axis], bytes = byte_size(type);
  const std::size_t whole = *byte_length(problem.inputs[0].descriptor);
  return make_kernel(
      [=, index_type = index_type](const Arguments& arguments) {
        begin_with_input(arguments, whole);
        with_index(index_type, [&]<class I>(I) {
          with_slices(bytes, [&](auto move) {
            for_each_element(indices_of<I>(arguments), seen, count, [&](auto number, auto place) {
              move(arguments.outputs[0], place, arguments.inputs[2], number);
            });
          });
        });
      },
      0);
}

/// Slices that coordinates stand for.
struct Slices {
  std::size_t count = 1;  ///< of coordinates
  std::size_t bytes = 0;  ///< of a slice
  std::vector<std::int64_t> extents,
      steps;  ///< of the dimensions that coordinates go through, in slices

  explicit Slices(const Problem& problem)
      : bytes(byte_size(problem.inputs[0].descriptor.data_type)) {
    const Shape& shape = problem.inputs[0].descriptor.shape;
    const Shape& indices = problem.inputs[1].descriptor.shape;
    const std::size_t coordinates = indices.back();
    for (std::size_t i = 0; i + 1 < indices.size(); ++i) count *= indices[i];
    for (std::size_t i = coordinates; i < shape.size(); ++i) bytes *= shape[i];
    extents.assign(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(coordinates));
    steps.assign(coordinates, 1);
    for (std::size_t i = coordinates; i-- > 1;) steps[i - 1] = steps[i] * extents[i];
  }

  /// Calls `f(number, place)` for each coordinate: which one it is, and which slice.
  template <class I, class F>
  void for_each(const I* indices, F&& f) const {
    for (std::size_t number = 0; number < count; ++number) {
      std::int64_t place = 0;
      for (std::size_t i = 0; i < steps.size(); ++i)
        place += bounded(*indices++, extents[i]) * steps[i];
      f(number, static_cast<std::size_t>(place));
    }
  }
};

KernelResult prepare_gather_nd(const Problem& problem) {
  if (const auto reason = not_plain(problem)) return refuse(*reason);
  const DataType index_type = problem.inputs[1].descriptor.data_type;
  return make_kernel([slices = Slices(problem), index_type](const Arguments& arguments) {
    with_index(index_type, [&]<class I>(I) {
      with_slices(slices.bytes, [&](auto move) {
        slices.for_each(indices_of<I>(arguments), [&](auto number, auto place) {
          move(arguments.outputs[0], number, arguments.inputs[0], place);
        });
      });
    });
  });
}

KernelResult prepare_scatter_nd(const Problem& problem) {
  if (const auto reason = not_plain(problem)) return refuse(*reason);
  const DataType index_type = problem.inputs[1].descriptor.data_type;
  const std::size_t whole = *byte_length(problem.inputs[0].descriptor);
  return make_kernel(
      [slices = Slices(problem), index_type, whole](const Arguments& arguments) {
        begin_with_input(arguments, whole);
        with_index(index_type, [&]<class I>(I) {
          with_slices(slices.bytes, [&](auto move) {
            slices.for_each(indices_of<I>(arguments), [&](auto number, auto place) {
              move(arguments.outputs[0], place, arguments.inputs[2], number);
            });
          });
        });
      },
      0);
}

constexpr Entry entries[] = {{ops::op("gather"), prepare_gather},
                             {ops::op("gatherElements"), prepare_gather_elements},
                             {ops::op("gatherND"), prepare_gather_nd},
                             {ops::op("scatterElements"), prepare_scatter_elements},
                             {ops::op("scatterND"), prepare_scatter_nd}};

}  // namespace

std::span<const Entry> indexing_entries() noexcept { return entries; }

}  // namespace polychron::kernels::direct
