// The tiny model with weights of 4, 5 and 8 bits.
#pragma once

#include <random>
#include <span>
#include <string>
#include <utility>

#include "apps/text/blocks.hpp"
#include "tests/text/tiny_model.hpp"

namespace text_tests {

/// Gives the matrices random blocks of these types. Their numbers are about as large as before.
inline File packed_file(TinyModel& tiny) {
  constexpr std::uint32_t q4_0 = 2, q4_1 = 3, q5_1 = 7, q8_0 = 8;
  const auto type_of = [](const std::string& name) {
    for (const auto* part : {"attn_v", "ffn_down", "token_embd"})
      if (name.find(part) != std::string::npos) return q8_0;
    if (name.find("attn_output") != std::string::npos) return q5_1;
    return name.find("attn_k") != std::string::npos || name.find("ffn_up") != std::string::npos
               ? q4_0
               : q4_1;
  };
  auto file = tiny.file();
  std::mt19937 random(5);
  for (auto& tensor : file.tensors) {
    if (tensor.dimensions.size() < 2) continue;
    tensor.type = type_of(tensor.name);
    const auto& type = *polychron::text::detail::block_type(tensor.type);
    auto& weights = tiny.weights.at(tensor.name);
    tensor.bytes.clear();
    for (std::size_t i = 0; i < weights.size() / type.weights; ++i) {
      for (std::size_t j = 0; j < type.bytes; ++j) tensor.bytes += static_cast<char>(random());
      auto* const block = tensor.bytes.data() + tensor.bytes.size() - type.bytes;
      block[1] = tensor.type == q8_0 ? 0x18 : 0x28;  // of the scale: 0.002 and 0.03 in float16
      if (tensor.type == q4_1 || tensor.type == q5_1)
        block[3] = static_cast<char>(0xb3);  // of the minimum: -0.23
    }
    polychron::text::detail::expand(type, std::as_bytes(std::span(std::as_const(tensor.bytes))),
                                    weights);
  }
  return file;
}

}  // namespace text_tests
