// Byte-pair encoding, as GGUF files have it: of bytes ("gpt2"), or of characters by SentencePiece
// ("llama").
// Sennrich, Haddow, Birch: "Neural Machine Translation of Rare Words with Subword Units" (2016);
// Radford et al.: "Language Models are Unsupervised Multitask Learners" (2019) for the bytes;
// Kudo, Richardson: "SentencePiece" (2018) for the characters.
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
#include "apps/text/words.hpp"

namespace polychron::text::detail {

/// The number of a token.
using TokenId = std::uint32_t;

/// GGUF's types of tokens.
inline constexpr double normal_type = 1, unknown_type = 2, control_type = 3, user_type = 4,
                        unused_type = 5, byte_type = 6;

/// Part of a prompt. Only in a `trusted` part names of control tokens mean these tokens: in a
/// user's words "<|im_end|>" is text. Other tokens of its own that a file has, such as Gemma's runs
/// of spaces, are tokens in every part.
struct Segment {
  std::string_view text;
  bool trusted = false;
};

/// Cuts text into tokens, and puts it together again. Immutable.
class Tokenizer {
 public:
  /// `more_ends` end a text besides the file's own. Throws Error: bad_data, not_supported (another
  /// kind of tokenizer).
  explicit Tokenizer(const Gguf& gguf, std::vector<TokenId> more_ends = {});

  /// The tokens of all segments together.
  std::vector<TokenId> encode(const std::vector<Segment>& segments) const;
  /// The bytes of a token; nothing for a control token. They may be a part of a character.
  std::string_view bytes_of(TokenId token) const { return bytes_.at(token); }
  /// The same; of a control token its name.
  std::string name_of(TokenId token) const;
  /// True for a token after which the model has nothing more to say.
  bool ends(TokenId token) const;
  std::size_t size() const noexcept { return bytes_.size(); }
  std::optional<TokenId> find(std::string_view control) const;

 private:
  struct Merge {
    double rank;  ///< the lowest comes first
    TokenId whole;
  };
  struct Symbol;
  // No hash tables: a stranger's file could fill one with equal hashes.
  using Names = std::map<std::string, TokenId, std::less<>>;
  void read_tokens(const Gguf& gguf);
  bool read_own_token(const std::string& name, double type, TokenId id);
  void read_merges(const Gguf& gguf, const Names& names);
  void read_scores(const Gguf& gguf);
  void read_ends(const Gguf& gguf);
  std::optional<Merge> merge_of(const Symbol& left, const Symbol& right) const;
  std::vector<Symbol> symbols_of(std::string_view word) const;
  void encode_word(std::string_view word, std::vector<TokenId>& tokens) const;
  void encode_text(std::string_view text, std::vector<TokenId>& tokens) const;
  std::optional<std::string_view> own_token_at(std::string_view text, bool trusted) const;

  const WordRule* words_ = nullptr;  ///< null: SentencePiece
  std::vector<std::string> bytes_;
  Names controls_;
  Names users_;  ///< are in every text
  std::array<std::optional<TokenId>, 256> of_byte_;
  std::map<std::pair<TokenId, TokenId>, Merge> merges_;  ///< of bytes
  Names names_;                 ///< of SentencePiece, with plain spaces; of bytes, if words need it
  std::vector<double> scores_;  ///< of SentencePiece, by token
  std::vector<TokenId> ends_;
  std::optional<TokenId> first_;  ///< in front of every prompt
  std::optional<TokenId> unknown_;
  bool adds_space_ = false;  ///< in front of a text
};

}  // namespace polychron::text::detail
