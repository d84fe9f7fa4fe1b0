#include "apps/text/generation.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "polychron/invariant.hpp"

namespace polychron::text::detail {

Job::Job(const ModelState& of, std::vector<TokenId> prompt, const GenerateOptions& given)
    : model_(of),
      tokens_(std::move(prompt)),
      options_(given),
      sampler_(given),
      pieces_(given.stop, given.on_text) {
  using polychron::detail::refuse;
  if (tokens_.empty()) refuse(ErrorKind::type_error, "the prompt has no tokens");
  if (tokens_.size() > model_.context_length)
    refuse(ErrorKind::type_error, "the prompt has " + std::to_string(tokens_.size()) +
                                      " tokens: expected at most " +
                                      std::to_string(model_.context_length));
  if (options_.max_tokens == 0) refuse(ErrorKind::type_error, "max_tokens: expected 1 or more");
  generated_.prompt_tokens = static_cast<std::uint32_t>(tokens_.size());
}

std::uint32_t Job::next_rows() const {
  const auto left = static_cast<std::uint32_t>(tokens_.size()) - cached_;
  if (left < 3) return 1;
  // Three short pieces cost less than a long one.
  const auto rows = left > 3 * short_piece ? long_piece : short_piece;
  return std::min(left - 1, rows);
}

void Job::check_time(std::chrono::steady_clock::time_point now) const {
  if (options_.cancellation && options_.cancellation->cancelled())
    throw Error(ErrorKind::aborted, "the generation was cancelled");
  if (options_.deadline && now >= *options_.deadline)
    throw Error(ErrorKind::timed_out, "the deadline passed before the text's end");
}

void Job::append(std::span<const std::byte> rows, std::uint32_t step_rows, std::uint32_t first,
                 std::uint32_t count, std::span<std::byte> cache_bytes) {
  const auto& sizes = model_.sizes;
  const auto row = sizes.features * byte_size(sizes.type);
  const auto from = step_rows * row, to = model_.context_length * row;
  const std::size_t heads = std::size_t{2} * sizes.layers * sizes.groups;
  check_invariant(rows.size() == heads * from && cache_bytes.size() == heads * to &&
                      first + count <= step_rows && cached_ + count <= model_.context_length,
                  "new keys and values fit behind those in the cache");
  for (std::size_t i = 0; i < heads; ++i)
    std::memcpy(cache_bytes.data() + i * to + cached_ * row, rows.data() + i * from + first * row,
                count * row);
  cached_ += count;
}

void Job::add_logprobs(std::span<const float> logits, TokenId token) {
  auto& made = generated_.logprobs.emplace_back(logprobs(logits, token, *options_.top_logprobs));
  made.chosen.text = model_.tokenizer.name_of(token);
  for (auto& each : made.top) each.text = model_.tokenizer.name_of(each.token);
  if (options_.on_token) options_.on_token(made);
}

bool Job::add_token(std::span<const float> logits) {
  const auto token = sampler_.choose(logits);
  if (model_.tokenizer.ends(token)) return true;
  generated_.tokens.push_back(token);
  if (options_.top_logprobs) add_logprobs(logits, token);
  if (pieces_.add(model_.tokenizer.bytes_of(token))) return true;
  tokens_.push_back(token);
  if (generated_.tokens.size() < options_.max_tokens && tokens_.size() <= model_.context_length)
    return false;
  generated_.reason = FinishReason::length;
  return true;
}

Generated Job::take() {
  pieces_.finish();
  generated_.text = pieces_.take();
  return std::move(generated_);
}

Error Job::current_error() const {
  const auto named = [&](const Error& error) {
    return error.with_operation("generate", options_.label)
        .with_object("model '" + model_.label + "'");
  };
  try {
    try {
      throw;
    } catch (const Error& error) {
      return named(error);
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& exception) {
      return named(Error(ErrorKind::operation_error, exception.what()));
    } catch (...) {
      return named(Error(ErrorKind::operation_error, "on_text threw an exception"));
    }
  } catch (const std::bad_alloc&) {
    return polychron::detail::out_of_memory_error();
  }
}

}  // namespace polychron::text::detail
