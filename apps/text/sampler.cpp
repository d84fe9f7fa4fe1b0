#include "apps/text/sampler.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>

namespace polychron::text::detail {

Sampler::Sampler(const GenerateOptions& options)
    : temperature_(options.temperature),
      top_p_(options.top_p),
      top_k_(options.top_k),
      state_(options.seed) {
  using polychron::detail::refuse;
  if (!(temperature_ >= 0) || std::isinf(temperature_))
    refuse(ErrorKind::type_error, "temperature: expected a number of 0 and more");
  if (!(top_p_ > 0 && top_p_ <= 1))
    refuse(ErrorKind::type_error, "top_p: expected a number above 0 and at most 1");
}

double Sampler::random() {
  state_ += 0x9e3779b97f4a7c15U;
  auto z = state_;
  z = (z ^ z >> 30U) * 0xbf58476d1ce4e5b9U;
  z = (z ^ z >> 27U) * 0x94d049bb133111ebU;
  z ^= z >> 31U;
  return static_cast<double>(z >> 11U) * 0x1p-53;
}

TokenId Sampler::choose(std::span<const float> logits) {
  order_.clear();
  for (TokenId i = 0; i < logits.size(); ++i)
    if (!std::isnan(logits[i])) order_.push_back(i);
  if (order_.empty()) throw Error(ErrorKind::operation_error, "the model's result is not a number");
  const auto less_probable = [&](TokenId a, TokenId b) {
    return logits[a] != logits[b] ? logits[a] < logits[b] : a > b;
  };
  if (temperature_ == 0) return *std::ranges::max_element(order_, less_probable);
  const auto most = logits[*std::ranges::max_element(order_, less_probable)];
  const auto weight = [&](TokenId i) {
    return std::exp((static_cast<double>(logits[i]) - most) / temperature_);
  };
  // A heap gives the most probable tokens one by one, as many as are needed.
  std::ranges::make_heap(order_, less_probable);
  const auto limit = top_k_ == 0 ? order_.size() : std::min(top_k_, order_.size());
  double all = 0;
  if (limit == order_.size() && top_p_ < 1)
    for (const auto i : order_) all += weight(i);
  weights_.clear();
  double sum = 0;
  auto end = order_.end();
  while (weights_.size() < limit) {
    std::ranges::pop_heap(order_.begin(), end, less_probable);
    weights_.push_back(weight(*--end));
    sum += weights_.back();
    if (all > 0 && sum >= top_p_ * all) break;
  }
  // With both options, top_p is of the tokens that top_k left.
  if (limit < order_.size() && top_p_ < 1) {
    const auto enough = top_p_ * sum;
    sum = 0;
    std::size_t kept = 0;
    while (kept < weights_.size() && sum < enough) sum += weights_[kept++];
    weights_.resize(kept);
  }
  auto rest = random() * sum;
  std::size_t chosen = 0;
  while (chosen + 1 < weights_.size() && rest >= weights_[chosen]) rest -= weights_[chosen++];
  return *(order_.end() - 1 - static_cast<std::ptrdiff_t>(chosen));
}

ChosenToken logprobs(std::span<const float> logits, TokenId chosen, std::uint32_t count) {
  std::vector<TokenId> order;
  double most = -std::numeric_limits<double>::infinity(), sum = 0;
  for (TokenId i = 0; i < logits.size(); ++i) {
    if (std::isnan(logits[i])) continue;
    order.push_back(i);
    most = std::max(most, static_cast<double>(logits[i]));
  }
  for (const auto i : order) sum += std::exp(static_cast<double>(logits[i]) - most);
  const auto with_probability = [&](TokenId i) {
    return TokenLogprob{i, static_cast<double>(logits[i]) - most - std::log(sum), {}};
  };
  const auto shown = std::min<std::size_t>(count, order.size());
  const auto top = order.begin() + static_cast<std::ptrdiff_t>(shown);
  std::ranges::partial_sort(order, top, [&](TokenId a, TokenId b) {
    return logits[a] != logits[b] ? logits[a] > logits[b] : a < b;
  });
  ChosenToken made{with_probability(chosen), {}};
  std::transform(order.begin(), top, std::back_inserter(made.top), with_probability);
  return made;
}

}  // namespace polychron::text::detail
