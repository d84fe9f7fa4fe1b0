#include "apps/text/blocks.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "polychron/float16.hpp"
#include "polychron/invariant.hpp"

namespace polychron::text::detail {

namespace {

using Bytes = const std::uint8_t*;

std::uint16_t word(Bytes at) { return static_cast<std::uint16_t>(at[0] | at[1] << 8); }

float half(Bytes at) { return static_cast<float>(float16::from_bits(word(at))); }

/// The low or high 4 bits.
float low(std::uint8_t byte) { return static_cast<float>(byte & 15U); }
float high(std::uint8_t byte) { return static_cast<float>(byte >> 4U); }
float signed_byte(std::uint8_t byte) { return static_cast<float>(static_cast<std::int8_t>(byte)); }

/// Calls f(block, its weights) for each block.
template <std::size_t BlockBytes, std::size_t BlockWeights, class F>
void each(Bytes blocks, std::size_t count, float* weights, F&& f) {
  for (std::size_t i = 0; i < count; ++i) f(blocks + i * BlockBytes, weights + i * BlockWeights);
}

void expand_f32(Bytes blocks, std::size_t count, float* weights) {
  static_assert(std::endian::native == std::endian::little, "GGUF is little-endian");
  std::memcpy(weights, blocks, count * sizeof(float));
}

void expand_f16(Bytes blocks, std::size_t count, float* weights) {
  each<2, 1>(blocks, count, weights, [](Bytes b, float* w) { *w = half(b); });
}

/// 16 bytes: the first half of the weights in the low bits, the other in the high ones.
template <class F>
void expand_nibbles(Bytes quants, float* weights, F&& f) {
  for (std::size_t i = 0; i < 16; ++i) {
    weights[i] = f(low(quants[i]));
    weights[i + 16] = f(high(quants[i]));
  }
}

void expand_q4_0(Bytes blocks, std::size_t count, float* weights) {
  each<18, 32>(blocks, count, weights, [](Bytes b, float* w) {
    const float scale = half(b);
    expand_nibbles(b + 2, w, [&](float q) { return (q - 8) * scale; });
  });
}

void expand_q4_1(Bytes blocks, std::size_t count, float* weights) {
  each<20, 32>(blocks, count, weights, [](Bytes b, float* w) {
    const float scale = half(b), least = half(b + 2);
    expand_nibbles(b + 4, w, [&](float q) { return q * scale + least; });
  });
}

void expand_q8_0(Bytes blocks, std::size_t count, float* weights) {
  each<34, 32>(blocks, count, weights, [](Bytes b, float* w) {
    const float scale = half(b);
    for (std::size_t i = 0; i < 32; ++i) w[i] = signed_byte(b[2 + i]) * scale;
  });
}

/// Part `i` of a Q4_K block has a scale and an offset of 6 bits each, packed in 12 bytes.
struct PartScale {
  float scale, least;
};
PartScale part_scale(Bytes packed, std::size_t i) {
  if (i < 4) return {static_cast<float>(packed[i] & 63U), static_cast<float>(packed[i + 4] & 63U)};
  const unsigned both = packed[i + 4], scale_top = packed[i - 4] >> 6U, least_top = packed[i] >> 6U;
  return {static_cast<float>((both & 15U) | scale_top << 4U),
          static_cast<float>(both >> 4U | least_top << 4U)};
}

void expand_q4_k(Bytes blocks, std::size_t count, float* weights) {
  each<144, 256>(blocks, count, weights, [](Bytes b, float* w) {
    const float scale = half(b), least = half(b + 2);
    for (std::size_t part = 0; part < 8; ++part) {
      const auto own = part_scale(b + 4, part);
      const Bytes quants = b + 16 + part / 2 * 32;
      for (std::size_t i = 0; i < 32; ++i) {
        const float q = part % 2 == 0 ? low(quants[i]) : high(quants[i]);
        w[part * 32 + i] = scale * own.scale * q - least * own.least;
      }
    }
  });
}

void expand_q6_k(Bytes blocks, std::size_t count, float* weights) {
  each<210, 256>(blocks, count, weights, [](Bytes b, float* w) {
    const float scale = half(b + 208);
    for (std::size_t i = 0; i < 256; ++i) {
      // Each half has four rows of 32: low bits of two rows share a byte, high bits of four do.
      const std::size_t side = i / 128, row = i % 128 / 32, column = i % 32;
      const unsigned lows = b[side * 64 + row % 2 * 32 + column] >> row / 2 * 4;
      const unsigned highs = b[128 + side * 32 + column] >> row * 2;
      const auto q = static_cast<float>((lows & 15U) | (highs & 3U) << 4U) - 32;
      w[i] = scale * signed_byte(b[192 + i / 16]) * q;
    }
  });
}

constexpr std::array known_types{
    BlockType{0, "F32", 1, 4, expand_f32},        BlockType{1, "F16", 1, 2, expand_f16},
    BlockType{2, "Q4_0", 32, 18, expand_q4_0},    BlockType{3, "Q4_1", 32, 20, expand_q4_1},
    BlockType{8, "Q8_0", 32, 34, expand_q8_0},    BlockType{12, "Q4_K", 256, 144, expand_q4_k},
    BlockType{14, "Q6_K", 256, 210, expand_q6_k},
};

}  // namespace

const BlockType* block_type(std::uint32_t number) noexcept {
  const auto* const found = std::ranges::find(known_types, number, &BlockType::number);
  return found == known_types.end() ? nullptr : found;
}

void expand(const BlockType& type, std::span<const std::byte> bytes, std::span<float> weights) {
  const auto count = weights.size() / type.weights;
  check_invariant(count * type.weights == weights.size() && count * type.bytes == bytes.size(),
                  "weights are whole blocks");
  type.expand(reinterpret_cast<Bytes>(bytes.data()), count, weights.data());
}

}  // namespace polychron::text::detail
