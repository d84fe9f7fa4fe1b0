// The choice of the next token from the logits, by a seed.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "apps/text/tokenizer.hpp"
#include "polychron/text.hpp"

namespace polychron::text::detail {

/// Chooses greedily, or at random among the most probable tokens. Its random numbers are those of
/// SplitMix64 (Steele, Lea, Flood: "Fast Splittable Pseudorandom Number Generators", 2014).
class Sampler {
 public:
  /// Throws type_error for an option out of range.
  explicit Sampler(const GenerateOptions& options);
  /// Equal logits: the lower token. Throws operation_error if all logits are NaN.
  TokenId choose(std::span<const float> logits);

 private:
  double random();  ///< at least 0, below 1
  double temperature_, top_p_;
  std::size_t top_k_;
  std::uint64_t state_;
  std::vector<TokenId> order_;   ///< kept for its memory
  std::vector<double> weights_;  ///< of the most probable tokens
};

/// The natural logarithms of the probabilities of `chosen` and of the `count` most probable tokens,
/// without their texts. Equal logits: the lower token first. NaN has no probability.
ChosenToken logprobs(std::span<const float> logits, TokenId chosen, std::uint32_t count);

}  // namespace polychron::text::detail
