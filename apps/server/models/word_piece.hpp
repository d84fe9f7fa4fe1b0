// WordPiece, the tokenizer of BERT and of the sentence models made from it, read from Hugging
// Face's tokenizer.json. Schuster, Nakajima: "Japanese and Korean Voice Search" (2012).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

#include "protocol/message.hpp"

namespace polychron::server {

/// Cuts text into tokens. Immutable.
class WordPiece {
 public:
  /// The text of a tokenizer.json. Throws Error: bad_data where it is malformed, not_supported
  /// where it describes another tokenizer.
  explicit WordPiece(std::string_view json);

  /// The text's tokens between those that begin and end each text. At most `most` of them all: the
  /// end of a longer text is left out. `text` is UTF-8.
  TokenIds encode(std::string_view text, std::size_t most) const;
  /// The most tokens of a text by the file's own limit; 0: it has none.
  std::size_t longest() const { return longest_; }
  /// Greater than the number of every token.
  std::uint32_t size() const { return size_; }
  std::uint32_t padding() const { return padding_; }

 private:
  class Reader;
  class Writer;

  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  using Vocabulary = std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>>;

  Vocabulary beginnings_;     ///< of words
  Vocabulary continuations_;  ///< without their prefix
  /// Names in a text that mean one token, as "[MASK]" does.
  std::map<std::string, std::uint32_t, std::less<>> added_;
  std::string added_begin_;                            ///< the first bytes of these names
  std::size_t longest_piece_ = 0, longest_added_ = 0;  ///< in bytes
  std::size_t longest_word_ = 100;                     ///< in characters; longer ones are unknown
  std::uint32_t unknown_ = 0, padding_ = 0, size_ = 0;
  std::size_t longest_ = 0;
  TokenIds first_, last_;
  bool cleans_ = true, cuts_chinese_ = true, strips_accents_ = true, lowers_ = true;
};

}  // namespace polychron::server
