// pad: finds the source of each coordinate in advance, and copies whole rows.
#include <cstring>

#include "kernels/direct/direct.hpp"
#include "kernels/elements.hpp"
#include "kernels/function_kernel.hpp"
#include "kernels/strides.hpp"
#include "ops/number.hpp"

namespace polychron::kernels::direct {
namespace {

constexpr std::int64_t filler = -1;

/// A dimension of the result: the input offset of each coordinate, or `filler`.
struct Dimension {
  std::vector<std::int64_t> source;
  std::int64_t before = 0, inside = 0;  ///< elements in front of the input's own, and these
};

std::int64_t source_of(std::int64_t x, std::int64_t extent, PaddingMode mode) {
  if (x >= 0 && x < extent) return x;
  if (mode == PaddingMode::edge) return x < 0 ? 0 : extent - 1;
  if (mode == PaddingMode::reflection) return x < 0 ? -x : 2 * (extent - 1) - x;
  return filler;
}

class Padder {
 public:
  Padder(const Problem& problem, const PadAttributes& a)
      : type_(problem.inputs[0].descriptor.data_type), value_(ops::element_bytes(a.value, type_)) {
    const Shape& shape = problem.inputs[0].descriptor.shape;
    const Shape& result = problem.outputs[0].descriptor.shape;
    const Strides strides = strides_of(shape);
    for (std::size_t i = 0; i < shape.size(); ++i) {
      Dimension dimension{{}, a.beginning_padding[i], shape[i]};
      for (std::int64_t at = 0; at < result[i]; ++at) {
        const auto source = source_of(at - dimension.before, shape[i], a.mode);
        dimension.source.push_back(source == filler ? filler : source * strides[i]);
      }
      dimensions_.push_back(std::move(dimension));
    }
    rows_.assign(shape.size() + 1, 1);
    for (std::size_t i = shape.size(); i-- > 0;) rows_[i] = rows_[i + 1] * result[i];
  }

  void operator()(const std::byte* in, std::byte* out) const {
    with_size(type_, [&]<class T>(T) {
      T value;
      std::memcpy(&value, value_.data(), sizeof(T));
      fill(0, reinterpret_cast<const T*>(in), reinterpret_cast<T*>(out), value);
    });
  }

 private:
  template <class T>
  void fill(std::size_t depth, const T* in, T* out, T value) const {
    if (depth == dimensions_.size()) {
      *out = *in;
      return;
    }
    const auto& [source, before, inside] = dimensions_[depth];
    const std::int64_t pitch = rows_[depth + 1];
    const auto count = static_cast<std::int64_t>(source.size());
    const bool innermost = depth + 1 == dimensions_.size();
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t from = source[static_cast<std::size_t>(i)];
      if (innermost && i == before) {
        std::memcpy(out + i, in, static_cast<std::size_t>(inside) * sizeof(T));
        i += inside - 1;
      } else if (from == filler) {
        std::fill_n(out + i * pitch, pitch, value);
      } else if (innermost) {
        out[i] = in[from];
      } else {
        fill(depth + 1, in + from, out + i * pitch, value);
      }
    }
  }

  DataType type_;
  std::vector<std::byte> value_;
  std::vector<Dimension> dimensions_;
  std::vector<std::int64_t> rows_;  ///< elements of the result in one step of dimension i - 1
};

}  // namespace

KernelResult prepare_pad(const Problem& problem) {
  if (const auto reason = not_plain(problem)) return refuse(*reason);
  const Padder padder(problem, std::get<PadAttributes>(problem.attributes));
  return make_kernel(
      [padder](const Arguments& arguments) { padder(arguments.inputs[0], arguments.outputs[0]); });
}

}  // namespace polychron::kernels::direct
