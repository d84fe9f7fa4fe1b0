// reverse. Merges neighbouring dimensions that are all reversed, or all not.
#include <algorithm>
#include <cstring>

#include "kernels/direct/direct.hpp"
#include "kernels/elements.hpp"
#include "kernels/function_kernel.hpp"
#include "kernels/vectors.hpp"

namespace polychron::kernels::direct {
namespace {

struct Level {
  std::size_t count;
  bool turned;
  std::size_t step;  ///< bytes from item to item
};

class Reverser {
 public:
  Reverser(const OperandDescriptor& input, const std::optional<std::vector<std::uint32_t>>& axes)
      : element_(input.data_type) {
    std::size_t step = byte_size(element_);
    for (std::size_t i = input.shape.size(); i-- > 0; step *= input.shape[i]) {
      const bool turned = !axes || std::ranges::find(*axes, i) != axes->end();
      if (!levels_.empty() && (levels_.back().turned == turned || input.shape[i] == 1))
        levels_.back().count *= input.shape[i];
      else
        levels_.push_back({input.shape[i], turned, step});
    }
    if (levels_.empty()) levels_.push_back({1, false, step});
    std::ranges::reverse(levels_);
  }

  void operator()(const std::byte* in, std::byte* out) const { move(0, in, out); }

 private:
  void move(std::size_t depth, const std::byte* in, std::byte* out) const {
    const auto& [count, turned, step] = levels_[depth];
    if (depth + 1 == levels_.size()) {
      if (!turned)
        std::memcpy(out, in, count * step);
      else
        with_size(element_, [&, items = count]<class T>(T) {
          const auto* from = reinterpret_cast<const T*>(in);
          std::reverse_copy(from, from + items, reinterpret_cast<T*>(out));
        });
      return;
    }
    for (std::size_t i = 0; i < count; ++i)
      move(depth + 1, in + (turned ? count - 1 - i : i) * step, out + i * step);
  }

  DataType element_;
  std::vector<Level> levels_;  ///< outermost first
};

}  // namespace

KernelResult prepare_reverse(const Problem& problem) {
  if (const auto reason = not_plain(problem)) return refuse(*reason);
  const Reverser reverser(problem.inputs[0].descriptor,
                          std::get<ReverseAttributes>(problem.attributes).axes);
  return make_kernel([reverser](const Arguments& arguments) {
    with_vectors([&] { reverser(arguments.inputs[0], arguments.outputs[0]); });
  });
}

}  // namespace polychron::kernels::direct
