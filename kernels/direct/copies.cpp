// transpose, slice, split and expand: read elements with strides and write them contiguously.
#include <cstring>

#include "kernels/direct/direct.hpp"
#include "kernels/direct/nest.hpp"
#include "kernels/elements.hpp"
#include "kernels/function_kernel.hpp"
#include "ops/table.hpp"

namespace polychron::kernels::direct {
namespace {

using ops::op;

/// The places of a result's elements in the input.
struct View {
  std::int64_t offset = 0;
  Strides strides{};
};

View transposed(const Problem& problem, std::size_t) {
  const auto& permutation = std::get<TransposeAttributes>(problem.attributes).permutation;
  const Shape& shape = problem.inputs[0].descriptor.shape;
  const Strides from = strides_of(shape);
  View view;
  for (std::size_t i = 0; i < shape.size(); ++i)
    view.strides[i] = from[permutation ? (*permutation)[i] : shape.size() - 1 - i];
  return view;
}

View sliced(const Problem& problem, std::size_t) {
  const auto& a = std::get<SliceAttributes>(problem.attributes);
  View view{0, strides_of(problem.inputs[0].descriptor.shape)};
  for (std::size_t i = 0; i < a.starts.size(); ++i) {
    view.offset += view.strides[i] * a.starts[i];
    if (a.strides) view.strides[i] *= (*a.strides)[i];
  }
  return view;
}

View part(const Problem& problem, std::size_t index) {
  const std::uint32_t axis = std::get<SplitAttributes>(problem.attributes).axis;
  View view{0, strides_of(problem.inputs[0].descriptor.shape)};
  for (std::size_t i = 0; i < index; ++i)
    view.offset += view.strides[axis] * problem.outputs[i].descriptor.shape[axis];
  return view;
}

View expanded(const Problem& problem, std::size_t) {
  return {0, broadcast_strides(problem.inputs[0].descriptor.shape,
                               problem.outputs[0].descriptor.shape)};
}

/// The side of the squares that are transposed at once: the elements of one or a few cache lines.
constexpr std::int64_t square = 16;

/// Copies squares, so that both the reads along `across`, where elements are contiguous, and the
/// writes along rows use whole cache lines.
template <class T>
void copy_turned(const Nest<1>& nest, std::size_t across, const T* in, T* out) {
  const auto& dimensions = nest.dimensions();
  const std::int64_t columns = dimensions.front().count, step = dimensions.front().steps[0];
  const std::int64_t rows = dimensions[across].count;
  std::int64_t pitch = 1;  // elements of the result from one place along `across` to the next
  for (std::size_t i = 0; i < across; ++i) pitch *= dimensions[i].count;
  const auto copy_squares = [=](const T* from, T* to, std::int64_t at) {
    const std::int64_t height = std::min(square, rows - at);
    for (std::int64_t left = 0; left < columns; left += square) {
      const std::int64_t width = std::min(square, columns - left);
      const T* const corner = from + left * step;
      for (std::int64_t y = 0; y < height; ++y)
        for (std::int64_t x = 0; x < width; ++x) to[y * pitch + left + x] = corner[y + x * step];
    }
  };
  if (across == 1)  // no division for each row
    return nest.each(2, [&](const auto& offsets, std::int64_t index) {
      for (std::int64_t at = 0; at < rows; at += square)
        copy_squares(in + offsets[0] + at, out + (index * rows + at) * pitch, at);
    });
  nest.each(1, [&](const auto& offsets, std::int64_t row) {
    // The first row of a square copies the whole square.
    const std::int64_t at = row / (pitch / columns) % rows;
    if (at % square == 0) copy_squares(in + offsets[0], out + row * columns, at);
  });
}

template <class T>
void copy(const Nest<1>& nest, std::int64_t offset, const std::byte* source, std::byte* target) {
  const T* const in = reinterpret_cast<const T*>(source) + offset;
  T* const out = reinterpret_cast<T*>(target);
  const auto& dimensions = nest.dimensions();
  const auto [count, steps] = dimensions.front();
  const std::int64_t step = steps[0];
  if (step > 1)
    for (std::size_t i = 1; i < dimensions.size(); ++i)
      if (dimensions[i].steps[0] == 1) return copy_turned(nest, i, in, out);
  nest.each_row([&, count = count](const auto& offsets, std::int64_t first) {
    const T* const from = in + offsets[0];
    T* const to = out + first;
    if (step == 1)
      std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(T));
    else if (step == 0)
      std::fill_n(to, count, *from);
    else
      for (std::int64_t i = 0; i < count; ++i) to[i] = from[i * step];
  });
}

struct Line {
  ops::OpId op;
  View (*view)(const Problem& problem, std::size_t output);
};

constexpr Line lines[] = {{op("expand"), expanded},
                          {op("slice"), sliced},
                          {op("split"), part},
                          {op("transpose"), transposed}};

KernelResult prepare(const Problem& problem) {
  if (const auto reason = not_plain(problem)) return refuse(*reason);
  struct Part {
    std::int64_t offset;
    Nest<1> nest;
  };
  std::vector<Part> parts;
  const auto& line = *std::ranges::find(lines, problem.op, &Line::op);
  for (std::size_t i = 0; i < problem.outputs.size(); ++i) {
    const View view = line.view(problem, i);
    parts.push_back({view.offset, Nest<1>(problem.outputs[i].descriptor.shape, {view.strides})});
  }
  void (*copies)(const Nest<1>&, std::int64_t, const std::byte*, std::byte*) = nullptr;
  with_size(problem.inputs[0].descriptor.data_type, [&]<class T>(T) { copies = copy<T>; });
  return make_kernel([parts, copies](const Arguments& arguments) {
    for (std::size_t i = 0; i < parts.size(); ++i)
      copies(parts[i].nest, parts[i].offset, arguments.inputs[0], arguments.outputs[i]);
  });
}

}  // namespace

std::span<const Entry> copy_entries() noexcept {
  static constexpr auto entries =
      joined(entries_of(lines, prepare), std::array{Entry{op("pad"), prepare_pad}});
  return entries;
}

}  // namespace polychron::kernels::direct
