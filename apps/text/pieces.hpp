// From the bytes of tokens to pieces of text: whole characters, up to a stop string.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace polychron::text::detail {

/// Holds back what may be the beginning of a stop string, and characters that are not complete.
class Pieces {
 public:
  /// Throws type_error for an empty stop string.
  Pieces(std::vector<std::string> stops, std::function<void(std::string_view)> on_text);
  /// Adds a token's bytes. True if they complete a stop string: the text ends in front of it.
  bool add(std::string_view bytes);
  /// The end of the text: gives out all that was held back.
  void finish();
  /// All that was given out.
  std::string take() { return std::move(text_); }

 private:
  void give(std::size_t bytes);
  std::size_t may_stop_from() const;
  const std::vector<std::string> stops_;
  const std::function<void(std::string_view)> on_text_;
  std::string held_, text_;
};

}  // namespace polychron::text::detail
