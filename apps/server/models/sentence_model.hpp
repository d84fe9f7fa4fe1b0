// A model of sentence embeddings: how texts become inputs of an ONNX model, and its outputs a
// vector for each text. Reimers, Gurevych: "Sentence-BERT" (2019).
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "models/signature.hpp"
#include "models/word_piece.hpp"

namespace polychron::server {

/// Immutable.
class SentenceModel {
 public:
  /// Graphs for the usual numbers of rows and lengths, which share their weights.
  static constexpr std::size_t graphs = 64;

  /// Reads tokenizer.json beside the model, and the files of sentence-transformers where they are:
  /// 1_Pooling/config.json, modules.json, sentence_bert_config.json. At most `most` tokens a text.
  /// Throws Error.
  SentenceModel(const std::filesystem::path& folder, const Signature& signature, std::size_t most);

  const WordPiece& tokenizer() const { return tokenizer_; }
  /// The most tokens of a text.
  std::size_t longest() const { return longest_; }
  TokenIds encode(std::string_view text) const { return tokenizer_.encode(text, longest_); }

  /// Texts of about one length, which run together.
  struct Run {
    std::size_t length = 0;              ///< all are padded to it
    std::vector<std::size_t> sentences;  ///< their places
  };
  /// Few lengths and few numbers of rows, as each pair of them is a graph.
  std::vector<Run> runs_of(std::span<const TokenIds> sentences) const;
  std::vector<WireTensor> inputs_of(const Run& run, std::span<const TokenIds> sentences) const;
  const std::string& output() const { return output_; }
  /// The vectors of a run, one behind the other, in `values`, which has room for all sentences'.
  /// Throws Refusal (internal) if the output's shape fits no sentences, or is not finite.
  void take(const Run& run, std::span<const TokenIds> sentences, const WireTensor& output,
            Vectors& vectors) const;

 private:
  enum class Pooling : std::uint8_t { mean, first };

  void read_pooling(const std::filesystem::path& folder);
  void read_modules(const std::filesystem::path& folder);
  void choose_inputs(const Signature& signature);
  void choose_output(const Signature& signature);

  const WordPiece tokenizer_;
  std::size_t longest_;
  Pooling pooling_ = Pooling::mean;
  bool normalizes_ = true;
  std::vector<SignatureTensor> inputs_;
  std::string output_;
  std::optional<std::uint32_t> fixed_rows_, fixed_length_;
};

}  // namespace polychron::server
