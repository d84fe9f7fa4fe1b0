// tile. A run of bytes that is not repeated within is copied as one. Each level above copies its
// items one by one and then doubles what it has written.
#include <algorithm>
#include <cstring>

#include "kernels/direct/direct.hpp"
#include "kernels/elements.hpp"
#include "kernels/function_kernel.hpp"

namespace polychron::kernels::direct {
namespace {

/// A repeated dimension, with the unrepeated dimensions within it.
struct Repetition {
  std::size_t count, repetitions;
  std::size_t in_step, out_step;  ///< bytes from item to item
};

/// Writes `times` copies of the `bytes` bytes at `out`, one after the other. The first one is
/// already there.
void repeat(std::byte* out, std::size_t bytes, std::size_t times) {
  const std::size_t all = bytes * times;
  for (std::size_t there = bytes; there < all;) {
    const std::size_t count = std::min(there, all - there);
    std::memcpy(out + there, out, count);
    there += count;
  }
}

/// The innermost level, if its items are single elements.
template <class T>
void repeat_elements(const std::byte* in, std::byte* out, std::size_t count, std::size_t times) {
  const auto* from = reinterpret_cast<const T*>(in);
  auto* to = reinterpret_cast<T*>(out);
  for (std::size_t i = 0; i < count; ++i) to = std::fill_n(to, times, from[i]);
}

class Tiler {
 public:
  Tiler(const OperandDescriptor& input, const std::vector<std::uint32_t>& repetitions)
      : element_(input.data_type), size_(byte_size(input.data_type)), run_(size_) {
    std::size_t in_bytes = size_, out_bytes = size_;
    for (std::size_t i = input.shape.size(); i-- > 0;) {
      const std::size_t count = input.shape[i], times = repetitions[i];
      // A dimension that is not repeated joins the next outer one.
      if (times == 1 && levels_.empty())
        run_ *= count;
      else if (open_)
        levels_.back().count *= count, levels_.back().repetitions = times;
      else
        levels_.push_back({count, times, in_bytes, out_bytes});
      in_bytes *= count;
      out_bytes *= count * times;
      open_ = times == 1 && !levels_.empty();
    }
    std::ranges::reverse(levels_);
  }

  void operator()(const std::byte* in, std::byte* out) const { fill(0, in, out); }

 private:
  void fill(std::size_t depth, const std::byte* in, std::byte* out) const {
    if (depth == levels_.size()) {
      std::memcpy(out, in, run_);
      return;
    }
    const Repetition& level = levels_[depth];
    if (depth + 2 == levels_.size() && levels_.back().count == 1 && run_ == size_)
      with_size(element_, [&]<class T>(T) {
        repeat_elements<T>(in, out, level.count, levels_.back().repetitions);
      });
    else if (depth + 1 == levels_.size())
      std::memcpy(out, in, level.count * run_);
    else
      for (std::size_t i = 0; i < level.count; ++i)
        fill(depth + 1, in + i * level.in_step, out + i * level.out_step);
    repeat(out, level.count * level.out_step, level.repetitions);
  }

  DataType element_;
  std::size_t size_, run_;
  std::vector<Repetition> levels_;  ///< outermost first
  bool open_ = false;               ///< true: the level last added has no repetitions yet
};

}  // namespace

KernelResult prepare_tile(const Problem& problem) {
  if (const auto reason = not_plain(problem)) return refuse(*reason);
  const Tiler tiler(problem.inputs[0].descriptor,
                    std::get<TileAttributes>(problem.attributes).repetitions);
  return make_kernel(
      [tiler](const Arguments& arguments) { tiler(arguments.inputs[0], arguments.outputs[0]); });
}

}  // namespace polychron::kernels::direct
