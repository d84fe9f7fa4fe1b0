#include "models/sentence_model.hpp"

#include <algorithm>
#include <bit>
#include <boost/json/parse.hpp>
#include <cmath>
#include <cstring>
#include <numeric>

#include "protocol/refusal.hpp"

namespace polychron::server {

namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

constexpr std::uint64_t largest_file = std::uint64_t{64} << 20;
/// Of a run: rows, and tokens with the padding. More do not run faster.
constexpr std::size_t most_rows = 16, most_run_tokens = 4096;

std::string sentence_file(const fs::path& file) {
  const auto size = fs::file_size(file);
  if (size > largest_file)
    bad_data("'" + file.filename().string() + "' has " + std::to_string(size) + " bytes, at most " +
             std::to_string(largest_file));
  return text_of_file(file);
}

/// Null if there is no such file.
json::value optional_json(const fs::path& file) {
  std::error_code failed;
  if (!fs::exists(file, failed)) return nullptr;
  const auto text = sentence_file(file);
  json::error_code wrong;
  auto value = json::parse({text.data(), text.size()}, wrong);
  if (wrong) bad_data("'" + file.filename().string() + "': not JSON: " + wrong.message());
  return value;
}

const json::value* part_of(const json::value& value, std::string_view name) {
  const auto* object = value.if_object();
  return object ? object->if_contains(json::string_view(name.data(), name.size())) : nullptr;
}

/// A length that a run is padded to: from 16 on a half more at most.
std::size_t padded_length(std::size_t length) {
  if (length <= 32) return (length + 7) / 8 * 8;
  const auto step = std::bit_ceil(length) / 4;
  return (length + step - 1) / step * step;
}

template <class T>
void write_number(Buffer& bytes, std::size_t at, std::uint32_t number) {
  const auto value = static_cast<T>(number);
  std::memcpy(bytes.data() + at * sizeof(T), &value, sizeof(T));
}

}  // namespace

SentenceModel::SentenceModel(const fs::path& folder, const Signature& signature, std::size_t most)
    : tokenizer_(sentence_file(folder / "tokenizer.json")), longest_(most) {
  read_pooling(folder);
  read_modules(folder);
  choose_inputs(signature);
  choose_output(signature);
  // Its own length comes before the tokenizer's: so does sentence-transformers take them.
  std::size_t own = tokenizer_.longest() > 0 ? tokenizer_.longest() : 512;
  const auto settings = optional_json(folder / "sentence_bert_config.json");
  if (const auto* length = part_of(settings, "max_seq_length"); length && !length->is_null()) {
    const auto* number = length->if_int64();
    if (!number || *number < 1) bad_data("sentence_bert_config.json: max_seq_length is no length");
    own = static_cast<std::size_t>(*number);
  }
  longest_ = std::min({longest_, own, std::size_t{fixed_length_.value_or(0xffff'ffffU)}});
}

void SentenceModel::read_pooling(const fs::path& folder) {
  const auto config = optional_json(folder / "1_Pooling" / "config.json");
  if (config.is_null()) return;
  const std::string mean = "pooling_mode_mean_tokens", first = "pooling_mode_cls_token";
  std::size_t chosen = 0;
  const auto* object = config.if_object();
  if (!object) bad_data("1_Pooling/config.json: expected an object");
  for (const auto& [key, value] : *object) {
    const std::string name(key.data(), key.size());
    if (!name.starts_with("pooling_mode_") || value != true) continue;
    if (name != mean && name != first)
      throw Error(ErrorKind::not_supported,
                  "1_Pooling/config.json: '" + printable(name, 60) + "' is not supported");
    pooling_ = name == mean ? Pooling::mean : Pooling::first;
    ++chosen;
  }
  if (chosen != 1)
    throw Error(ErrorKind::not_supported, "1_Pooling/config.json: expected one of '" + mean +
                                              "' and '" + first + "', got " +
                                              std::to_string(chosen));
}

void SentenceModel::read_modules(const fs::path& folder) {
  const auto modules = optional_json(folder / "modules.json");
  if (modules.is_null()) return;
  const auto* list = modules.if_array();
  if (!list) bad_data("modules.json: expected an array");
  normalizes_ = false;
  for (const auto& each : *list) {
    const auto* type = part_of(each, "type");
    const auto* text = type ? type->if_string() : nullptr;
    const std::string_view name = text ? std::string_view(text->data(), text->size()) : "";
    const auto kind = name.substr(name.rfind('.') + 1);
    if (kind == "Normalize")
      normalizes_ = true;
    else if (kind != "Transformer" && kind != "Pooling")
      throw Error(ErrorKind::not_supported,
                  "modules.json: a module '" + printable(name, 60) + "' is not supported");
  }
}

void SentenceModel::choose_inputs(const Signature& signature) {
  bool has_tokens = false;
  for (const auto& each : signature.inputs) {
    has_tokens |= each.name == "input_ids";
    const bool known =
        each.name == "input_ids" || each.name == "attention_mask" || each.name == "token_type_ids";
    const bool whole = each.type == WireType::int64 || each.type == WireType::int32;
    if (!known || !whole || each.dimensions.size() != 2)
      throw Error(ErrorKind::not_supported,
                  "the input '" + printable(each.name, 60) + "', " + describe(each) +
                      ": expected input_ids, attention_mask and token_type_ids, INT64 [-1, -1]");
    const auto fix = [&](std::optional<std::uint32_t>& size, const onnx::Dimension& dimension) {
      if (dimension.value) size = dimension.value;
    };
    fix(fixed_rows_, each.dimensions[0]);
    fix(fixed_length_, each.dimensions[1]);
  }
  if (!has_tokens) throw Error(ErrorKind::not_supported, "the model has no input 'input_ids'");
  if (fixed_rows_ == 0U || fixed_length_ == 0U) bad_data("the model's inputs are empty");
  inputs_ = signature.inputs;
}

/// A vector for each text, if the model says that it is one; else those of its tokens. (BERT's
/// pooler_output is another thing.)
void SentenceModel::choose_output(const Signature& signature) {
  const auto find = [&](const auto& fits) {
    const auto found = std::ranges::find_if(signature.outputs, [&](const auto& each) {
      return each.type == WireType::fp32 && fits(each);
    });
    if (output_.empty() && found != signature.outputs.end()) output_ = found->name;
  };
  find([](const auto& each) { return each.name == "sentence_embedding"; });
  find([](const auto& each) { return each.known_rank && each.dimensions.size() == 3; });
  find([](const auto& each) { return each.known_rank && each.dimensions.size() == 2; });
  find([](const auto& each) { return !each.known_rank; });
  if (output_.empty())
    throw Error(ErrorKind::not_supported, "the model has no output FP32 [-1, -1, -1] or [-1, -1]");
}

std::vector<SentenceModel::Run> SentenceModel::runs_of(std::span<const TokenIds> sentences) const {
  std::vector<std::size_t> order(sentences.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto length_of = [&](std::size_t i) {
    const auto length = std::max<std::size_t>(sentences[i].size(), 1);
    return fixed_length_ ? *fixed_length_ : std::min(padded_length(length), longest_);
  };
  std::ranges::stable_sort(order, {}, length_of);
  std::vector<Run> runs;
  for (auto at = order.begin(); at != order.end();) {
    const auto length = length_of(*at);
    const auto end = std::find_if(at, order.end(), [&](auto i) { return length_of(i) != length; });
    // Powers of two, so that no row is padding.
    const auto most = std::clamp<std::size_t>(most_run_tokens / length, 1, most_rows);
    while (at != end) {
      const auto left = static_cast<std::size_t>(end - at);
      const auto rows = fixed_rows_ ? std::min<std::size_t>(left, *fixed_rows_)
                                    : std::bit_floor(std::min(left, most));
      runs.push_back({length, {at, at + static_cast<std::ptrdiff_t>(rows)}});
      at += static_cast<std::ptrdiff_t>(rows);
    }
  }
  return runs;
}

std::vector<WireTensor> SentenceModel::inputs_of(const Run& run,
                                                 std::span<const TokenIds> sentences) const {
  const std::size_t rows = fixed_rows_ ? *fixed_rows_ : run.sentences.size();
  std::vector<WireTensor> inputs;
  for (const auto& each : inputs_) {
    WireTensor input{each.name,
                     each.type,
                     {static_cast<std::uint32_t>(rows), static_cast<std::uint32_t>(run.length)},
                     {}};
    input.bytes = Buffer::uninitialized(rows * run.length * byte_size(each.type));
    const bool is_tokens = each.name == "input_ids", is_mask = each.name == "attention_mask";
    for (std::size_t row = 0; row < rows; ++row) {
      // Rows that only fill the graph are those of the last sentence.
      const auto& tokens = sentences[run.sentences[std::min(row, run.sentences.size() - 1)]];
      for (std::size_t i = 0; i < run.length; ++i) {
        const bool has_token = i < tokens.size();
        const std::uint32_t number =
            is_tokens ? (has_token ? tokens[i] : tokenizer_.padding()) : is_mask && has_token;
        const auto at = row * run.length + i;
        each.type == WireType::int64 ? write_number<std::int64_t>(input.bytes, at, number)
                                     : write_number<std::int32_t>(input.bytes, at, number);
      }
    }
    inputs.push_back(std::move(input));
  }
  return inputs;
}

void SentenceModel::take(const Run& run, std::span<const TokenIds> sentences,
                         const WireTensor& output, Vectors& vectors) const {
  const auto& shape = output.shape;
  const std::size_t rows = fixed_rows_ ? *fixed_rows_ : run.sentences.size();
  const bool by_token = shape.size() == 3 && shape[1] == run.length;
  if (!(by_token || shape.size() == 2) || shape[0] != rows || shape.back() == 0 ||
      (vectors.width != 0 && vectors.width != shape.back()))
    throw Refusal(Status::internal, "output '" + printable(output.name) + "' has the shape " +
                                        polychron::to_string(shape) + " for " +
                                        std::to_string(rows) + " texts of " +
                                        std::to_string(run.length) + " tokens");
  vectors.width = shape.back();
  vectors.values.resize(sentences.size() * vectors.width);
  const auto* from = reinterpret_cast<const float*>(output.bytes.data());
  const auto row_size = vectors.width * (by_token ? run.length : 1);
  for (std::size_t row = 0; row < run.sentences.size(); ++row, from += row_size) {
    const auto place = run.sentences[row];
    const auto vector = std::span(vectors.values).subspan(place * vectors.width, vectors.width);
    const auto tokens = by_token && pooling_ == Pooling::mean
                            ? std::max<std::size_t>(sentences[place].size(), 1)
                            : 1;
    std::ranges::fill(vector, 0.0F);
    for (std::size_t token = 0; token < tokens; ++token)
      for (std::size_t i = 0; i < vector.size(); ++i) vector[i] += from[token * vector.size() + i];
    double square = 0;
    for (auto& each : vector) {
      each /= static_cast<float>(tokens);
      square += static_cast<double>(each) * each;
    }
    if (!std::isfinite(square))
      throw Refusal(Status::internal, "output '" + printable(output.name) + "' is not finite");
    if (normalizes_ && square > 0)
      for (auto& each : vector) each = static_cast<float>(each / std::sqrt(square));
  }
}

}  // namespace polychron::server
