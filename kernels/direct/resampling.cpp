// resample2d along any two axes, of plain and of blocked pictures. oneDNN (2.6.3) computes places
// in float32. Among hundreds of elements its weights are off by thousands of ULP, and halves round
// to the other side.
#include <algorithm>
#include <cstring>

#include "kernels/direct/direct.hpp"
#include "kernels/elements.hpp"
#include "kernels/function_kernel.hpp"
#include "kernels/samples.hpp"
#include "kernels/vectors.hpp"
#include "ops/table.hpp"

namespace polychron::kernels::direct {
namespace {

/// The elements of a value as [outer][rows][middle][columns][inner]. Rows and columns are
/// resampled.
struct Picture {
  std::size_t outer = 1, rows = 1, middle = 1, columns = 1, inner = 1;

  std::size_t row() const { return middle * columns * inner; }
};

/// In blocks the channels are innermost, and axes 2 and 3 are the rows and columns.
Picture picture_of(const Slot& slot, std::size_t rows, std::size_t columns) {
  const Shape& shape = slot.descriptor.shape;
  if (slot.layout != Layout::plain) {
    const std::size_t block = channel_block(slot.layout);
    return {shape[0] * ((shape[1] + block - 1) / block), shape[2], 1, shape[3], block};
  }
  Picture picture{1, shape[rows], 1, shape[columns], 1};
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (i < rows)
      picture.outer *= shape[i];
    else if (i > rows && i < columns)
      picture.middle *= shape[i];
    else if (i > columns)
      picture.inner *= shape[i];
  return picture;
}

/// Both pictures, and the two axes that change.
struct Resampling {
  Picture in, out;

  /// Calls f(source, result, row) for each row of the result, with the picture that it comes from
  /// and the row's place in the result.
  template <class T, class F>
  void each_row(const T* source, T* result, const F& f) const {
    for (std::size_t i = 0; i < out.outer; ++i, source += in.rows * in.row())
      for (std::size_t y = 0; y < out.rows; ++y, result += out.row()) f(source, result, y);
  }
};

std::vector<std::uint32_t> nearest_along(std::size_t from, std::size_t to) {
  std::vector<std::uint32_t> places;
  for (std::size_t at = 0; at < to; ++at)
    places.push_back(nearest_sample(static_cast<std::int64_t>(at), static_cast<std::int64_t>(from),
                                    static_cast<std::int64_t>(to)));
  return places;
}

class Nearest {
 public:
  explicit Nearest(const Resampling& r)
      : r_(r),
        rows_(nearest_along(r.in.rows, r.out.rows)),
        columns_(nearest_along(r.in.columns, r.out.columns)) {}

  template <class T>
  void compute(const T* source, T* result) const {
    r_.each_row(source, result, [&](const T* picture, T* row, std::size_t y) {
      if (y > 0 && rows_[y] == rows_[y - 1])  // same as the row before
        std::memcpy(row, row - r_.out.row(), r_.out.row() * sizeof(T));
      else
        pick(picture + rows_[y] * r_.in.row(), row);
    });
  }

 private:
  template <class T>
  void pick(const T* from, T* to) const {
    const std::size_t inner = r_.out.inner, columns = r_.out.columns;
    for (std::size_t m = 0; m < r_.out.middle; ++m, from += r_.in.columns * inner) {
      if (inner == 1)
        for (std::size_t x = 0; x < columns; ++x) to[x] = from[columns_[x]];
      else
        for (std::size_t x = 0; x < columns; ++x)
          std::copy_n(from + columns_[x] * inner, inner, to + x * inner);
      to += columns * inner;
    }
  }

  Resampling r_;
  std::vector<std::uint32_t> rows_, columns_;
};

/// The places and weights of two neighbours. `high` is skipped if its weight is 0, because its
/// element may be infinite.
struct Blend {
  std::uint32_t low, high;
  float low_weight, high_weight;

  float operator()(float a, float b) const {
    return high_weight == 0.0F ? a : a * low_weight + b * high_weight;
  }
};

std::vector<Blend> blends_along(std::size_t from, std::size_t to) {
  std::vector<Blend> blends;
  for (std::size_t at = 0; at < to; ++at) {
    const Sample sample =
        linear_sample(static_cast<std::int64_t>(at), static_cast<std::int64_t>(from),
                      static_cast<std::int64_t>(to));
    blends.push_back({sample.low, sample.high, static_cast<float>(1 - sample.fraction),
                      static_cast<float>(sample.fraction)});
  }
  return blends;
}

class Linear {
 public:
  explicit Linear(const Resampling& r)
      : r_(r),
        rows_(blends_along(r.in.rows, r.out.rows)),
        columns_(blends_along(r.in.columns, r.out.columns)) {}

  void compute(const float* source, float* result) const {
    r_.each_row(source, result, [&](const float* picture, float* row, std::size_t y) {
      const Blend& down = rows_[y];
      const float* upper = picture + down.low * r_.in.row();
      const float* lower = picture + down.high * r_.in.row();
      for (std::size_t m = 0; m < r_.out.middle; ++m) {
        if (r_.out.inner == 1)
          blend_columns(upper, lower, down, row);
        else
          blend_vectors(upper, lower, down, row);
        upper += r_.in.columns * r_.in.inner;
        lower += r_.in.columns * r_.in.inner;
        row += r_.out.columns * r_.out.inner;
      }
    });
  }

 private:
  void blend_columns(const float* upper, const float* lower, Blend down, float* to) const {
    const Blend* const columns = columns_.data();
    const std::size_t count = r_.out.columns;
    if (down.high_weight == 0.0F) {
      POLYCHRON_INDEPENDENT_STEPS
      for (std::size_t x = 0; x < count; ++x)
        to[x] = columns[x](upper[columns[x].low], upper[columns[x].high]);
      return;
    }
    POLYCHRON_INDEPENDENT_STEPS
    for (std::size_t x = 0; x < count; ++x)
      to[x] = down(columns[x](upper[columns[x].low], upper[columns[x].high]),
                   columns[x](lower[columns[x].low], lower[columns[x].high]));
  }

  void blend_vectors(const float* upper, const float* lower, Blend down, float* to) const {
    const std::size_t inner = r_.out.inner;
    for (const Blend& across : columns_) {
      const float* const a = upper + across.low * inner;
      const float* const b = upper + across.high * inner;
      const float* const c = lower + across.low * inner;
      const float* const d = lower + across.high * inner;
      POLYCHRON_INDEPENDENT_STEPS
      for (std::size_t i = 0; i < inner; ++i) to[i] = down(across(a[i], b[i]), across(c[i], d[i]));
      to += inner;
    }
  }

  Resampling r_;
  std::vector<Blend> rows_, columns_;
};

KernelResult prepare_resample(const Problem& problem) {
  const auto& a = std::get<Resample2dAttributes>(problem.attributes);
  const Slot& in = problem.inputs[0];
  const Slot& out = problem.outputs[0];
  const DataType type = in.descriptor.data_type;
  const bool nearest = a.mode == InterpolationMode::nearest_neighbor;
  // A pass widens float16 to float32, because operators around it may need more precision.
  if (type == DataType::float16) return refuse("not in float16");
  if (type != DataType::float32 && !nearest) return refuse("linear in float32 only");
  if (!problem.post_ops.empty()) return refuse("no post-operations");
  if (in.layout != out.layout) return refuse("input and result in one layout only");
  const auto [rows, columns] = std::minmax(a.axes[0], a.axes[1]);
  if (in.layout != Layout::plain && (rows != 2 || columns != 3))
    return refuse("blocks along axes 2 and 3 only");
  const Resampling resampling{picture_of(in, rows, columns), picture_of(out, rows, columns)};
  if (nearest)
    return make_kernel([type, kernel = Nearest(resampling)](const Arguments& arguments) {
      with_size(type, [&]<class T>(T) {
        with_vectors([&] {
          kernel.compute(reinterpret_cast<const T*>(arguments.inputs[0]),
                         reinterpret_cast<T*>(arguments.outputs[0]));
        });
      });
    });
  return make_kernel([kernel = Linear(resampling)](const Arguments& arguments) {
    with_vectors([&] {
      kernel.compute(reinterpret_cast<const float*>(arguments.inputs[0]),
                     reinterpret_cast<float*>(arguments.outputs[0]));
    });
  });
}

}  // namespace

std::span<const Entry> resampling_entries() noexcept {
  static constexpr Entry entries[] = {{ops::op("resample2d"), prepare_resample}};
  return entries;
}

}  // namespace polychron::kernels::direct
