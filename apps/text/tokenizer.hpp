// Byte-level byte-pair encoding, as GGUF files of the kind "gpt2" have it.
// Sennrich, Haddow, Birch: "Neural Machine Translation of Rare Words with Subword Units" (2016);
// Radford et al.: "Language Models are Unsupervised Multitask Learners" (2019) for the bytes.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/text/gguf.hpp"

namespace polychron::text::detail {

/// The number of a token.
using TokenId = std::uint32_t;

/// Part of a prompt. Only in a `trusted` part names of control tokens mean these tokens: in a
/// user's words "<|im_end|>" is text.
struct Segment {
  std::string_view text;
  bool trusted = false;
};

/// Cuts text into tokens, and puts it together again. Immutable.
class Tokenizer {
 public:
  /// Throws Error: bad_data, not_supported (another kind of tokenizer).
  explicit Tokenizer(const Gguf& gguf);

  /// The tokens of all segments together.
  std::vector<TokenId> encode(const std::vector<Segment>& segments) const;
  /// The bytes of a token; nothing for a control token. They may be a part of a character.
  std::string_view bytes_of(TokenId token) const { return bytes_.at(token); }
  /// True for a token after which the model has nothing more to say.
  bool ends(TokenId token) const;
  std::size_t size() const noexcept { return bytes_.size(); }
  std::optional<TokenId> find(std::string_view control) const;

 private:
  struct Merge {
    std::uint32_t rank;
    TokenId whole;
  };
  // No hash tables: a stranger's file could fill one with equal hashes.
  using Names = std::map<std::string_view, TokenId>;
  void read_tokens(const Gguf& gguf);
  void read_merges(const Gguf& gguf, const Names& names);
  void read_ends(const Gguf& gguf);
  std::optional<Merge> merge_of(TokenId left, TokenId right) const;
  void encode_word(std::string_view word, std::vector<TokenId>& tokens) const;
  void encode_text(std::string_view text, std::vector<TokenId>& tokens) const;

  std::vector<std::string> bytes_;
  std::map<std::string, TokenId, std::less<>> controls_;
  std::array<std::optional<TokenId>, 256> of_byte_;
  std::map<std::pair<TokenId, TokenId>, Merge> merges_;
  std::vector<TokenId> ends_;
  std::optional<TokenId> first_;  ///< in front of every prompt
  bool single_digits_ = false;
};

}  // namespace polychron::text::detail
