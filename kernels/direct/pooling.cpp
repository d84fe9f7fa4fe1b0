// averagePool2d, l2Pool2d and maxPool2d. oneDNN computes averages of float32 pictures with
// contiguous channels (in blocks or in layout nhwc) faster, and keeps these. (oneDNN's maximum
// drops NaN and begins with the lowest finite number.)
//
// A plane is pooled in two steps. The rows of a window are folded into one line, and then elements
// of that line into the numbers of a row of the result. A window of 13x13 costs 26 steps for a
// number, all of them in vectors.
#include <algorithm>
#include <array>

#include "kernels/direct/direct.hpp"
#include "kernels/direct/folds.hpp"
#include "kernels/direct/reduce.hpp"
#include "kernels/function_kernel.hpp"
#include "kernels/window_range.hpp"
#include "ops/layouts.hpp"
#include "ops/number.hpp"
#include "ops/table.hpp"

namespace polychron::kernels::direct {
namespace {

using ops::op;

/// One axis of a picture, with the window that moves along it.
struct Axis {
  std::int64_t in, out, window, stride, dilation, padding;

  std::int64_t input(std::int64_t place, std::int64_t k) const {
    return place * stride + k * dilation - padding;
  }
  /// The elements of the window at `place` that are within the picture.
  WindowRange taps(std::int64_t place) const {
    return window_range(input(place, 0), window, dilation, in);
  }
  /// The same for all places.
  std::vector<WindowRange> all_taps() const {
    std::vector<WindowRange> list;
    for (std::int64_t place = 0; place < out; ++place) list.push_back(taps(place));
    return list;
  }
};

/// A row's results are computed in whole blocks, so that vectors leave no tail. Lines have room for
/// the last block, whose extra results are ignored.
constexpr std::int64_t block = 16;
constexpr std::int64_t whole_blocks(std::int64_t count) {
  return (count + block - 1) / block * block;
}

struct Pool {
  std::int64_t pictures;  ///< planes, or pictures with contiguous channels
  std::int64_t channels;  ///< contiguous ones
  Axis height, width;
  // Computed once, because each takes divisions.
  std::vector<WindowRange> rows, columns;  ///< for the window at each place
  std::vector<double> column_counts;       ///< elements of each column's window

  /// Elements of a padded row, including the room behind it that is read.
  std::int64_t line() const {
    const std::int64_t read =
        (whole_blocks(width.out) - 1) * width.stride + (width.window - 1) * width.dilation + 1;
    return std::max(read, width.padding + width.in);
  }
  std::int64_t numbers_in() const { return height.in * width.in * channels; }
  std::int64_t numbers_out() const { return height.out * width.out * channels; }
};

template <class A, class T, class Join>
void join_each(A* to, const T* from, std::int64_t count, Join join) {
  POLYCHRON_INDEPENDENT_STEPS
  for (std::int64_t i = 0; i < count; ++i) to[i] = join(to[i], from[i]);
}

/// Merges the elements 0 to `number` - 1 of each of `count` windows. Up to three are read at once,
/// so that usual windows write each accumulator once.
template <class F, class Element>
void merge_each(typename F::Accumulator* to, std::int64_t count, std::int64_t number,
                Element element) {
  const auto for_each = [&](auto make) {
    POLYCHRON_INDEPENDENT_STEPS
    for (std::int64_t i = 0; i < count; ++i) to[i] = make(i);
  };
  const auto two = [&](auto i) { return F::merge(element(i, 0), element(i, 1)); };
  if (number == 0) for_each([](auto) { return F::first(); });
  if (number == 1) for_each([&](auto i) { return element(i, 0); });
  if (number == 2) for_each(two);
  if (number >= 3) for_each([&](auto i) { return F::merge(two(i), element(i, 2)); });
  for (std::int64_t k = 3; k < number; ++k)
    for_each([&](auto i) { return F::merge(to[i], element(i, k)); });
}

/// Computes a row of a plane's result. `line` holds the padded row of the picture, `row` the row of
/// the result.
template <class F, class T>
void pool_row(const Pool& pool, const T* in, T* out, std::int64_t place,
              typename F::Accumulator* line, typename F::Accumulator* row) {
  const Axis &height = pool.height, &width = pool.width;
  const WindowRange rows = pool.rows[static_cast<std::size_t>(place)];
  const std::int64_t row_count = std::max<std::int64_t>(rows.last - rows.first, 0);
  const T* const first = in + height.input(place, rows.first) * width.in;
  const std::int64_t pitch = height.dilation * width.in, dilation = width.dilation;
  merge_each<F>(line + width.padding, width.in, row_count, [=](std::int64_t i, std::int64_t k) {
    return F::join(F::first(), first[k * pitch + i]);
  });
  const auto join_columns = [&](auto stride) {
    merge_each<F>(row, whole_blocks(width.out), width.window,
                  [=](std::int64_t i, std::int64_t k) { return line[i * stride + k * dilation]; });
  };
  if (width.stride == 1)
    join_columns(std::integral_constant<std::int64_t, 1>());
  else if (width.stride == 2)
    join_columns(std::integral_constant<std::int64_t, 2>());
  else
    join_columns(width.stride);
  const auto height_count = static_cast<double>(row_count);
  const double* const column_counts = pool.column_counts.data();
  POLYCHRON_INDEPENDENT_STEPS
  for (std::int64_t x = 0; x < width.out; ++x)
    F::finish(row[x], height_count * column_counts[x], out[x]);
}

/// Pools all contiguous channels of a place: `lanes` of them, or any number if that is 0.
template <class F, std::int64_t lanes, class T>
void pool_channels(const Pool& pool, const T* in, T* out, std::int64_t row, std::int64_t column) {
  constexpr std::int64_t tile = lanes > 0 ? lanes : 128;
  std::array<typename F::Accumulator, static_cast<std::size_t>(tile)> folded;
  const auto& [height, width] = std::tie(pool.height, pool.width);
  const WindowRange rows = pool.rows[static_cast<std::size_t>(row)];
  const WindowRange columns = pool.columns[static_cast<std::size_t>(column)];
  const auto number =
      static_cast<double>((rows.last - rows.first) * (columns.last - columns.first));
  const std::int64_t channels = lanes > 0 ? lanes : pool.channels;
  T* const to = out + (row * width.out + column) * channels;
  for (std::int64_t start = 0; start < channels; start += tile) {
    const std::int64_t count = lanes > 0 ? lanes : std::min(channels - start, tile);
    std::fill_n(folded.begin(), count, F::first());
    for (std::int64_t ky = rows.first; ky < rows.last; ++ky)
      for (std::int64_t kx = columns.first; kx < columns.last; ++kx) {
        const std::int64_t y = height.input(row, ky), x = width.input(column, kx);
        join_each(folded.data(), in + (y * width.in + x) * channels + start, count, F::join);
      }
    for (std::int64_t i = 0; i < count; ++i)
      F::finish(folded[static_cast<std::size_t>(i)], number, to[start + i]);
  }
}

template <class F, class T>
void compute(const Pool& pool, const Arguments& arguments) {
  const auto* in = reinterpret_cast<const T*>(arguments.inputs[0]);
  auto* out = reinterpret_cast<T*>(arguments.outputs[0]);
  auto* const line = reinterpret_cast<typename F::Accumulator*>(arguments.scratch);
  auto* const row_numbers = line + pool.line();
  with_vectors([&] {
    if (pool.channels == 1) std::fill_n(line, pool.line(), F::first());
    for (std::int64_t i = 0; i < pool.pictures; ++i)
      for (std::int64_t row = 0; row < pool.height.out; ++row) {
        const T* const picture = in + i * pool.numbers_in();
        T* const to = out + i * pool.numbers_out();
        if (pool.channels == 1)
          pool_row<F>(pool, picture, to + row * pool.width.out, row, line, row_numbers);
        else
          for (std::int64_t column = 0; column < pool.width.out; ++column)
            if (pool.channels == 16)
              pool_channels<F, 16>(pool, picture, to, row, column);
            else
              pool_channels<F, 0>(pool, picture, to, row, column);
      }
  });
}

/// Pools windows that cover the whole picture.
template <class F, class T>
void compute_whole(const Reduction& reduction, const Arguments& arguments) {
  with_vectors([&] {
    reduction.run<F>(reinterpret_cast<const T*>(arguments.inputs[0]),
                     reinterpret_cast<T*>(arguments.outputs[0]));
  });
}

struct Loops {
  void (*windows)(const Pool& pool, const Arguments& arguments) = nullptr;
  void (*whole)(const Reduction& reduction, const Arguments& arguments) = nullptr;
};

template <class F, class T>
constexpr Loops loops{compute<F, T>, compute_whole<F, T>};

template <class F>
Loops floats(DataType type) {
  return type == DataType::float32 ? loops<F, float> : Loops{};
}
Loops largest(DataType type) {
  if (type == DataType::int8) return loops<Extreme<std::int8_t, true>, std::int8_t>;
  if (type == DataType::uint8) return loops<Extreme<std::uint8_t, true>, std::uint8_t>;
  return floats<Extreme<float, true>>(type);
}

struct Line {
  ops::OpId op;
  Loops (*loops)(DataType type);
};
constexpr Line lines[] = {{op("averagePool2d"), floats<Mean>},
                          {op("l2Pool2d"), floats<Norm>},
                          {op("maxPool2d"), largest}};

/// The pool of a problem. Pictures in blocks have contiguous channels.
Pool pool_of(const Problem& problem) {
  const auto& a = std::get<Pool2dAttributes>(problem.attributes);
  const auto [n, c, h, w] = ops::picture_axes(a.layout);
  const Shape& from = problem.inputs[0].descriptor.shape;
  const Shape& to = problem.outputs[0].descriptor.shape;
  const auto axis = [&](std::size_t place, std::size_t at) {
    const std::uint32_t window = a.window_dimensions ? (*a.window_dimensions)[at] : from[place];
    const std::uint32_t stride = to[place] == 1 ? 1 : a.strides[at];  // one place needs no step
    return Axis{from[place], to[place], window, stride, a.dilations[at], a.padding[2 * at]};
  };
  const std::uint32_t lanes = channel_block(problem.inputs[0].layout), channels = from[c];
  const bool together = a.layout == InputOperandLayout::nhwc;
  const std::uint32_t blocks = together ? 1 : (channels + lanes - 1) / lanes;
  const Axis height = axis(h, 0), width = axis(w, 1);
  Pool pool{std::int64_t{from[n]} * blocks,
            together ? channels : lanes,
            height,
            width,
            height.all_taps(),
            width.all_taps(),
            {}};
  for (const WindowRange& columns : pool.columns)
    pool.column_counts.push_back(
        static_cast<double>(std::max<std::int64_t>(columns.last - columns.first, 0)));
  return pool;
}

/// True if windows, strides and padding have usual sizes: the loops pad rows and walk through
/// windows.
bool are_usual(const Problem& problem) {
  const auto& a = std::get<Pool2dAttributes>(problem.attributes);
  const auto [n, c, h, w] = ops::picture_axes(a.layout);
  const Shape& shape = problem.inputs[0].descriptor.shape;
  if (!windows_stay_near(a, shape[h], shape[w])) return false;
  const std::uint64_t window = a.window_dimensions ? (*a.window_dimensions)[1] : shape[w];
  return (window - 1) * a.dilations[1] < std::uint64_t{shape[w]} + a.padding[2] + a.padding[3];
}

/// True if there is one window, which covers the whole picture.
bool covers(const Pool& pool) {
  const auto all = [](const Axis& axis) {
    const WindowRange taps = axis.taps(0);
    return axis.out == 1 && axis.dilation == 1 && taps.last - taps.first == axis.in;
  };
  return all(pool.height) && all(pool.width);
}

KernelResult prepare_pool(const Problem& problem) {
  const Slot& in = problem.inputs[0];
  const auto& a = std::get<Pool2dAttributes>(problem.attributes);
  if (!problem.post_ops.empty()) return refuse("no post-operations");
  if (in.layout != problem.outputs[0].layout) return refuse("input and result in one layout only");
  const bool nhwc = a.layout == InputOperandLayout::nhwc, plain = in.layout == Layout::plain;
  if (!plain && nhwc) return refuse("blocks of nchw pictures only");
  const DataType type = in.descriptor.data_type;
  if (type == DataType::float32 && problem.op == op("averagePool2d") && (nhwc || !plain))
    return refuse("averages of channels that lie together are oneDNN's");
  const Loops loops = std::ranges::find(lines, problem.op, &Line::op)->loops(type);
  if (loops.windows == nullptr) return refuse("float32 and integers of 8 bits only");
  if (!are_usual(problem)) return refuse("windows far beyond the picture");
  Pool pool = pool_of(problem);
  if (pool.channels == 1 && covers(pool)) {
    const Shape planes{static_cast<std::uint32_t>(pool.pictures),
                       static_cast<std::uint32_t>(pool.numbers_in())};
    return make_kernel([reduction = Reduction(planes, {{1}}), run = loops.whole](
                           const Arguments& arguments) { run(reduction, arguments); });
  }
  const auto scratch =
      static_cast<std::size_t>(pool.line() + whole_blocks(pool.width.out)) * sizeof(double);
  return make_kernel([pool = std::move(pool),
                      run = loops.windows](const Arguments& arguments) { run(pool, arguments); },
                     no_input, scratch);
}

}  // namespace

std::span<const Entry> pooling_entries() noexcept {
  static constexpr auto entries = entries_of(lines, prepare_pool);
  return entries;
}

}  // namespace polychron::kernels::direct
