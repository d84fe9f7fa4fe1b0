#include "apps/text/pieces.hpp"

#include <algorithm>
#include <utility>

#include "apps/text/unicode.hpp"
#include "polychron/error.hpp"

namespace polychron::text::detail {

Pieces::Pieces(std::vector<std::string> stops, std::function<void(std::string_view)> on_text)
    : stops_(std::move(stops)), on_text_(std::move(on_text)) {
  if (std::ranges::any_of(stops_, &std::string::empty))
    polychron::detail::refuse(ErrorKind::type_error, "stop: a stop string is empty");
}

void Pieces::give(std::size_t bytes) {
  if (bytes == 0) return;
  const auto piece = valid_utf8(std::string_view(held_).substr(0, bytes));
  held_.erase(0, bytes);
  text_ += piece;
  if (on_text_) on_text_(piece);
}

/// Where the longest end of the held bytes begins that is the beginning of a stop string.
std::size_t Pieces::may_stop_from() const {
  const std::string_view held = held_;
  for (std::size_t at = 0; at < held.size(); ++at)
    for (const auto& stop : stops_)
      if (std::string_view(stop).starts_with(held.substr(at))) return at;
  return held.size();
}

bool Pieces::add(std::string_view bytes) {
  held_ += bytes;
  auto first = std::string::npos;
  for (const auto& stop : stops_) first = std::min(first, held_.find(stop));
  if (first != std::string::npos) {
    held_.resize(first);
    finish();
    return true;
  }
  give(complete_prefix(std::string_view(held_).substr(0, may_stop_from())));
  return false;
}

void Pieces::finish() { give(held_.size()); }

}  // namespace polychron::text::detail
