// A generation: its tokens, its cache and its text. The scheduler computes the logits.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "apps/text/model_state.hpp"
#include "apps/text/pieces.hpp"
#include "apps/text/sampler.hpp"

namespace polychron::text::detail {

/// Not shared: the scheduler's loop alone touches it.
class Job {
 public:
  /// Throws type_error.
  Job(const ModelState& of, std::vector<TokenId> prompt, const GenerateOptions& given);

  const std::string& label() const { return options_.label; }
  std::uint32_t cached() const { return cached_; }
  /// Tokens of the next step. The last one goes alone: only its logits are of use. Never depends on
  /// other generations, as results of longer pieces may have other bits.
  std::uint32_t next_rows() const;
  bool needs_logits() const { return cached_ + 1 == tokens_.size(); }
  /// All its tokens are in the cache: the logits give the next one.
  bool is_read() const { return cached_ == tokens_.size(); }
  /// The i-th token of the next step.
  TokenId next_token(std::uint32_t i) const { return tokens_[cached_ + i]; }

  /// Throws aborted or timed_out.
  void check_time(std::chrono::steady_clock::time_point now) const;
  /// Copies `count` of `step_rows` new keys and values, from row `first` on, behind those in the
  /// cache.
  void append(std::span<const std::byte> rows, std::uint32_t step_rows, std::uint32_t first,
              std::uint32_t count, std::span<std::byte> cache);
  /// Adds the next token, and gives out its text. True if the text ends.
  bool add_token(std::span<const float> logits);

  Tensor cache;
  Promise<Generated> promise;
  /// The text, at its end. May call on_text.
  Generated take();
  /// The exception that is being handled. Never throws: nobody could hear of it.
  Error current_error() const;

 private:
  void add_logprobs(std::span<const float> logits, TokenId token);

  const ModelState& model_;      ///< the loop keeps it
  std::vector<TokenId> tokens_;  ///< of the prompt and the text
  std::uint32_t cached_ = 0;     ///< of these, those whose keys and values are in the cache
  const GenerateOptions options_;
  Sampler sampler_;
  Pieces pieces_;
  Generated generated_;
};

}  // namespace polychron::text::detail
