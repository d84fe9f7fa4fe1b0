// Packs a matrix of 4-bit or 8-bit integers into panels of columns.
#include "kernels/direct/packed_panels.hpp"

#include <algorithm>
#include <cstring>

namespace polychron::kernels::direct {
namespace {

/// The numbers of a block's column. Unsigned elements are kept minus half of their range.
struct Numbers {
  float scale, zero, minimum;
};
class NumbersOf {
 public:
  NumbersOf(const Problem& problem, const PackedOperands& o)
      : o_(o),
        half_(o.is_signed   ? 0.0F
              : o.four_bits ? 8.0F
                            : 128.0F) {
    for (std::size_t i = 0; i < 3; ++i)
      if (const auto& constant = problem.inputs[i + 2].constant)
        of_[i] = reinterpret_cast<const float*>(constant->data());
  }
  Numbers at(std::size_t block, std::size_t column) const {
    const std::size_t i = block * o_.columns + column;
    Numbers n{of_[0][i], (of_[1] == nullptr ? 0 : of_[1][i]) - half_,
              of_[2] == nullptr ? 0 : of_[2][i]};
    if (of_[2] == nullptr) return n;
    n.minimum -= n.zero * n.scale;
    n.zero = 0;
    return n;
  }

 private:
  const PackedOperands& o_;
  const float half_;
  const float* of_[3] = {};
};

/// `count` elements from number `at` on, as signed ones, the first one in the highest bits.
std::uint32_t word_of(const std::uint8_t* from, std::size_t at, std::size_t step, std::size_t count,
                      bool is_signed) {
  const std::uint32_t flip = is_signed ? 0 : 0x88888888U;
  std::uint32_t word = 0;
  if (step == 1 && count == nibbles_of_word && at % 2 == 0) {  // the usual matrix, faster
    for (std::size_t i = 0; i < 4; ++i) {
      const std::uint32_t byte = from[at / 2 + i];
      word = word << 8 | (byte & 0xfU) << 4 | byte >> 4;
    }
    return word ^ flip;
  }
  for (std::size_t i = 0; i < count; ++i, at += step)
    word |= (from[at / 2] >> at % 2 * 4 & 0xfU) << (nibbles_of_word - 1 - i) * 4;
  return word ^ flip;
}

void pack_block(const Slot& matrix, const PackedOperands& o, const PackedLayout& layout,
                const NumbersOf& numbers, std::size_t first, std::size_t b, std::byte* to) {
  const std::size_t width = layout.width;
  const auto* const from = reinterpret_cast<const std::uint8_t*>(matrix.constant->data());
  const auto steps = steps_of(matrix);
  const auto step = static_cast<std::size_t>(steps[0]);
  auto* const scales = reinterpret_cast<float*>(to);
  std::byte* const elements = to + layout.numbers_bytes();
  for (std::size_t i = 0; i < std::min(width, o.columns - first); ++i) {
    const Numbers n = numbers.at(b, first + i);
    scales[i] = n.scale;
    if (layout.zeros) scales[width + i] = n.zero;
    if (layout.minima) scales[(layout.zeros ? 2 : 1) * width + i] = n.minimum;
    const auto at = step * b * o.block + static_cast<std::size_t>(steps[1]) * (first + i);
    if (o.four_bits)
      for (std::size_t k = 0; k < o.block; k += nibbles_of_word) {
        const std::size_t count = std::min(nibbles_of_word, o.block - k);
        const std::uint32_t word = word_of(from, at + k * step, step, count, o.is_signed);
        std::memcpy(elements + (k / nibbles_of_word * width + i) * sizeof(word), &word,
                    sizeof(word));
      }
    else
      for (std::size_t k = 0; k < o.block; ++k)
        elements[k * width + i] =
            static_cast<std::byte>(from[at + k * step] ^ (o.is_signed ? 0U : 128U));
  }
}

}  // namespace

Buffer pack_panels(const Problem& problem, const PackedOperands& o, PackedLayout& layout) {
  const NumbersOf numbers(problem, o);
  for (std::size_t b = 0; b < o.blocks; ++b)
    for (std::size_t i = 0; i < o.columns; ++i) {
      const Numbers n = numbers.at(b, i);
      layout.zeros = layout.zeros || n.zero != 0;
      layout.minima = layout.minima || n.minimum != 0;
    }
  const std::size_t panels = (o.columns + layout.width - 1) / layout.width;
  Buffer bytes(panels * layout.panel_bytes());
  std::byte* to = bytes.data();
  for (std::size_t first = 0; first < o.columns; first += layout.width)
    for (std::size_t b = 0; b < o.blocks; ++b, to += layout.block_bytes())
      pack_block(problem.inputs[1], o, layout, numbers, first, b, to);
  return bytes;
}

}  // namespace polychron::kernels::direct
