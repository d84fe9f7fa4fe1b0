#include "apps/text/blocks.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <vector>

#include "polychron/float16.hpp"
#include "polychron/invariant.hpp"

namespace polychron::text::detail {

namespace {

using Bytes = const std::uint8_t*;

std::uint16_t word(Bytes at) { return static_cast<std::uint16_t>(at[0] | at[1] << 8); }

float half(Bytes at) { return static_cast<float>(float16::from_bits(word(at))); }

/// The low or high 4 bits.
std::int8_t low(std::uint8_t byte) { return static_cast<std::int8_t>(byte & 15U); }
std::int8_t high(std::uint8_t byte) { return static_cast<std::int8_t>(byte >> 4U); }

void read_f32(Bytes blocks, std::size_t count, float* weights) {
  static_assert(std::endian::native == std::endian::little, "GGUF is little-endian");
  std::memcpy(weights, blocks, count * sizeof(float));
}

void read_f16(Bytes blocks, std::size_t count, float* weights) {
  for (std::size_t i = 0; i < count; ++i) weights[i] = half(blocks + 2 * i);
}

/// bfloat16 is the upper half of a float32.
void read_bf16(Bytes blocks, std::size_t count, float* weights) {
  for (std::size_t i = 0; i < count; ++i)
    weights[i] = std::bit_cast<float>(std::uint32_t{word(blocks + 2 * i)} << 16U);
}

/// Calls f(block, its integers, its parts) for each block.
template <std::size_t BlockBytes, std::size_t BlockWeights, std::size_t Parts, class F>
void each(Bytes blocks, std::size_t count, std::int8_t* integers, PartNumbers* parts, F&& f) {
  for (std::size_t i = 0; i < count; ++i)
    f(blocks + i * BlockBytes, integers + i * BlockWeights, parts + i * Parts);
}

/// 16 bytes: the first half of the integers in the low bits, the other in the high ones.
void split_nibbles(Bytes quants, std::int8_t* integers) {
  for (std::size_t i = 0; i < 16; ++i) {
    integers[i] = low(quants[i]);
    integers[i + 16] = high(quants[i]);
  }
}

/// An integer of 5 bits, whose highest one is the byte's bit number `bit`.
std::int8_t with_fifth_bit(std::int8_t integer, std::uint8_t byte, std::size_t bit) {
  return static_cast<std::int8_t>(integer + ((byte >> bit & 1) != 0 ? 16 : 0));
}

/// 4 bytes with the fifth bit of each of the 32 integers, then their nibbles.
void split_fives(Bytes from, std::int8_t* integers) {
  split_nibbles(from + 4, integers);
  for (std::size_t i = 0; i < 32; ++i)
    integers[i] = with_fifth_bit(integers[i], from[i / 8], i % 8);
}

using SplitIntegers = void (*)(Bytes, std::int8_t*);

/// 32 integers behind a scale. `Zero` stands for 0.
template <std::size_t IntegerBytes, int Zero, SplitIntegers Integers>
void split_with_zero(Bytes blocks, std::size_t count, std::int8_t* integers, PartNumbers* parts) {
  each<2 + IntegerBytes, 32, 1>(blocks, count, integers, parts,
                                [](Bytes b, std::int8_t* q, PartNumbers* part) {
                                  *part = {half(b), -Zero * half(b)};
                                  Integers(b + 2, q);
                                });
}

/// 32 integers behind a scale and a minimum.
template <std::size_t IntegerBytes, SplitIntegers Integers>
void split_with_minimum(Bytes blocks, std::size_t count, std::int8_t* integers,
                        PartNumbers* parts) {
  each<4 + IntegerBytes, 32, 1>(blocks, count, integers, parts,
                                [](Bytes b, std::int8_t* q, PartNumbers* part) {
                                  *part = {half(b), half(b + 2)};
                                  Integers(b + 4, q);
                                });
}

void split_q8_0(Bytes blocks, std::size_t count, std::int8_t* integers, PartNumbers* parts) {
  each<34, 32, 1>(blocks, count, integers, parts, [](Bytes b, std::int8_t* q, PartNumbers* part) {
    *part = {half(b), 0};
    std::memcpy(q, b + 2, 32);
  });
}

/// Part `i` of a Q4_K or Q5_K block has a scale and an offset of 6 bits each, packed in 12 bytes.
PartNumbers part_numbers(Bytes packed, std::size_t i) {
  if (i < 4) return {static_cast<float>(packed[i] & 63U), static_cast<float>(packed[i + 4] & 63U)};
  const unsigned both = packed[i + 4], scale_top = packed[i - 4] >> 6U, least_top = packed[i] >> 6U;
  return {static_cast<float>((both & 15U) | scale_top << 4U),
          static_cast<float>(both >> 4U | least_top << 4U)};
}

/// The numbers of 8 parts, and the low 4 bits of their integers: two parts share 32 bytes.
void split_parts(Bytes b, Bytes quants, std::int8_t* q, PartNumbers* to) {
  const float scale = half(b), least = half(b + 2);
  for (std::size_t part = 0; part < 8; ++part) {
    const auto own = part_numbers(b + 4, part);
    to[part] = {scale * own.scale, -(least * own.minimum)};
    const Bytes both = quants + part / 2 * 32;
    for (std::size_t i = 0; i < 32; ++i)
      q[part * 32 + i] = part % 2 == 0 ? low(both[i]) : high(both[i]);
  }
}

void split_q4_k(Bytes blocks, std::size_t count, std::int8_t* integers, PartNumbers* parts) {
  each<144, 256, 8>(blocks, count, integers, parts, [](Bytes b, std::int8_t* q, PartNumbers* to) {
    split_parts(b, b + 16, q, to);
  });
}

void split_q5_k(Bytes blocks, std::size_t count, std::int8_t* integers, PartNumbers* parts) {
  each<176, 256, 8>(blocks, count, integers, parts, [](Bytes b, std::int8_t* q, PartNumbers* to) {
    split_parts(b, b + 48, q, to);
    // A byte has the fifth bits of the eight parts' integers of one column.
    for (std::size_t i = 0; i < 256; ++i) q[i] = with_fifth_bit(q[i], b[16 + i % 32], i / 32);
  });
}

void split_q6_k(Bytes blocks, std::size_t count, std::int8_t* integers, PartNumbers* parts) {
  each<210, 256, 16>(blocks, count, integers, parts, [](Bytes b, std::int8_t* q, PartNumbers* to) {
    for (std::size_t part = 0; part < 16; ++part)
      to[part] = {half(b + 208) * static_cast<float>(static_cast<std::int8_t>(b[192 + part])), 0};
    for (std::size_t i = 0; i < 256; ++i) {
      // Each half has four rows of 32: low bits of two rows share a byte, high bits of four do.
      const std::size_t side = i / 128, row = i % 128 / 32, column = i % 32;
      const unsigned lows = b[side * 64 + row % 2 * 32 + column] >> row / 2 * 4;
      const unsigned highs = b[128 + side * 32 + column] >> row * 2;
      q[i] = static_cast<std::int8_t>(static_cast<int>((lows & 15U) | (highs & 3U) << 4U) - 32);
    }
  });
}

constexpr std::array known_types{
    BlockType{0, "F32", 1, 4, 0, false, read_f32, nullptr},
    BlockType{1, "F16", 1, 2, 0, false, read_f16, nullptr},
    BlockType{2, "Q4_0", 32, 18, 32, true, nullptr, split_with_zero<16, 8, split_nibbles>},
    BlockType{3, "Q4_1", 32, 20, 32, true, nullptr, split_with_minimum<16, split_nibbles>},
    BlockType{6, "Q5_0", 32, 22, 32, false, nullptr, split_with_zero<20, 16, split_fives>},
    BlockType{7, "Q5_1", 32, 24, 32, false, nullptr, split_with_minimum<20, split_fives>},
    BlockType{8, "Q8_0", 32, 34, 32, false, nullptr, split_q8_0},
    BlockType{12, "Q4_K", 256, 144, 32, true, nullptr, split_q4_k},
    BlockType{13, "Q5_K", 256, 176, 32, false, nullptr, split_q5_k},
    BlockType{14, "Q6_K", 256, 210, 16, false, nullptr, split_q6_k},
    BlockType{30, "BF16", 1, 2, 0, false, read_bf16, nullptr},
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
  if (type.part == 0)
    return type.read(reinterpret_cast<Bytes>(bytes.data()), count, weights.data());
  std::vector<std::int8_t> integers(weights.size());
  std::vector<PartNumbers> parts(weights.size() / type.part);
  split(type, bytes, integers, parts);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const auto& part = parts[i / type.part];
    weights[i] = static_cast<float>(integers[i]) * part.scale + part.minimum;
  }
}

void split(const BlockType& type, std::span<const std::byte> bytes, std::span<std::int8_t> integers,
           std::span<PartNumbers> parts) {
  const auto count = bytes.size() / type.bytes;
  check_invariant(count * type.bytes == bytes.size() && integers.size() == count * type.weights &&
                      parts.size() * type.part == integers.size(),
                  "integers are whole blocks");
  type.split(reinterpret_cast<Bytes>(bytes.data()), count, integers.data(), parts.data());
}

}  // namespace polychron::text::detail
