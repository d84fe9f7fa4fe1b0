#include "tests/text/tiny_model.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <random>
#include <stdexcept>

namespace text_tests {

namespace {

constexpr double base = 10000, epsilon = 1e-5;

std::string utf8(std::uint32_t code) {
  if (code < 0x80) return {static_cast<char>(code)};
  return {static_cast<char>(0xc0U | code >> 6U), static_cast<char>(0x80U | (code & 0x3fU))};
}

/// GPT-2's visible characters for the bytes, in the bytes' order.
std::vector<std::string> names_of_bytes() {
  std::vector<std::string> names;
  std::uint32_t moved = 256;
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    const bool visible = (byte > 32 && byte < 127) || (byte > 160 && byte != 173);
    names.push_back(utf8(visible ? byte : moved++));
  }
  return names;
}

using Row = std::vector<double>;

Row product(const std::vector<float>& matrix, const Row& x) {
  Row y(matrix.size() / x.size());
  for (std::size_t i = 0; i < y.size(); ++i)
    for (std::size_t j = 0; j < x.size(); ++j) y[i] += matrix[i * x.size() + j] * x[j];
  return y;
}

Row normalized(const Row& x, const std::vector<float>& scale) {
  double squares = 0;
  for (const auto value : x) squares += value * value;
  const auto root = std::sqrt(squares / static_cast<double>(x.size()) + epsilon);
  Row y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = x[i] / root * scale[i];
  return y;
}

/// Turns neighbouring features.
void rotate(Row& x, std::size_t position) {
  constexpr auto features = TinyModel::features;
  for (std::size_t i = 0; i < x.size(); i += 2) {
    const auto angle = static_cast<double>(position) *
                       std::pow(base, -static_cast<double>(i % features) / features);
    const auto a = x[i], b = x[i + 1];
    x[i] = a * std::cos(angle) - b * std::sin(angle);
    x[i + 1] = a * std::sin(angle) + b * std::cos(angle);
  }
}

void add(Row& x, const Row& y) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += y[i];
}

/// What the query at the end of `keys` sees.
Row attended(const Row& query, const std::vector<Row>& keys, const std::vector<Row>& values) {
  constexpr std::size_t features = TinyModel::features,
                        shared = TinyModel::heads / TinyModel::groups;
  Row result(query.size());
  for (std::size_t head = 0; head < TinyModel::heads; ++head) {
    const auto at = head / shared * features;
    Row weights(keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) {
      double score = 0;
      for (std::size_t j = 0; j < features; ++j)
        score += query[head * features + j] * keys[i][at + j];
      weights[i] = std::exp(score / std::sqrt(static_cast<double>(features)));
    }
    double sum = 0;
    for (const auto weight : weights) sum += weight;
    for (std::size_t i = 0; i < keys.size(); ++i)
      for (std::size_t j = 0; j < features; ++j)
        result[head * features + j] += weights[i] / sum * values[i][at + j];
  }
  return result;
}

}  // namespace

// -- files ----------------------------------------------------------------------------------------

File& File::add(const std::string& key, std::uint32_t value) {
  values.emplace_back(key, Bytes{}.number(std::uint32_t{u32}).number(value));
  return *this;
}
File& File::add(const std::string& key, float value) {
  values.emplace_back(key, Bytes{}.number(std::uint32_t{f32}).number(value));
  return *this;
}
File& File::add(const std::string& key, const std::string& value) {
  values.emplace_back(key, Bytes{}.number(std::uint32_t{text}).string(value));
  return *this;
}
File& File::add(const std::string& key, const std::vector<std::string>& value) {
  Bytes bytes;
  bytes.number(std::uint32_t{array})
      .number(std::uint32_t{text})
      .number(std::uint64_t{value.size()});
  for (const auto& one : value) bytes.string(one);
  values.emplace_back(key, std::move(bytes));
  return *this;
}
File& File::add(const std::string& key, const std::vector<std::int32_t>& value) {
  Bytes bytes;
  bytes.number(std::uint32_t{array}).number(std::uint32_t{i32}).number(std::uint64_t{value.size()});
  for (const auto one : value) bytes.number(one);
  values.emplace_back(key, std::move(bytes));
  return *this;
}

void File::remove(const std::string& key) {
  std::erase_if(values, [&](const auto& value) { return value.first == key; });
}

Bytes& File::value(const std::string& key) {
  for (auto& [name, bytes] : values)
    if (name == key) return bytes;
  throw std::logic_error("no value " + key);
}

FileTensor& File::tensor(const std::string& name) {
  for (auto& tensor : tensors)
    if (tensor.name == name) return tensor;
  throw std::logic_error("no tensor " + name);
}

std::string File::bytes() const {
  constexpr std::size_t alignment = 32;
  const auto padded = [](std::string data) {
    data.resize((data.size() + alignment - 1) / alignment * alignment);
    return data;
  };
  Bytes header;
  header.data = "GGUF";
  header.number(version).number(std::uint64_t{tensors.size()}).number(std::uint64_t{values.size()});
  for (const auto& [key, value] : values) header.string(key).data += value.data;
  std::string data;
  for (const auto& tensor : tensors) {
    header.string(tensor.name).number(static_cast<std::uint32_t>(tensor.dimensions.size()));
    for (const auto size : tensor.dimensions) header.number(size);
    const auto given = tensor.offset != ~std::uint64_t{0};
    header.number(tensor.type).number(given ? tensor.offset : std::uint64_t{data.size()});
    data = padded(data + tensor.bytes);
  }
  return padded(header.data) + data;
}

TemporaryFile::TemporaryFile(const std::string& bytes) {
  static int count = 0;
  path_ = std::filesystem::temp_directory_path() / ("polychron-text-" + std::to_string(::getpid()) +
                                                    "-" + std::to_string(++count) + ".gguf");
  std::ofstream(path_, std::ios::binary)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}
TemporaryFile::~TemporaryFile() {
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

// -- the model ------------------------------------------------------------------------------------

TinyModel::TinyModel(std::uint64_t seed) : tokens(names_of_bytes()) {
  const auto space = tokens[32];
  merges = {"h e", "l l", "he ll", "hell o", space + " w", "o r", "or l", "c a", "a t"};
  for (const auto& merge : merges) {
    auto whole = merge;
    tokens.push_back(whole.erase(whole.find(' ', 1), 1));
  }
  tokens.insert(tokens.end(), {"<|im_start|>", "<|im_end|>"});
  std::mt19937_64 random(seed);
  const auto fill = [&](const std::string& name, std::size_t count, double center, double spread) {
    auto& values = weights[name];
    for (std::size_t i = 0; i < count; ++i) {
      // Not a distribution of the standard library: its numbers differ among libraries.
      const auto unit = static_cast<double>(random() >> 11U) * 0x1p-53;
      values.push_back(static_cast<float>(center + spread * (2 * unit - 1)));
    }
  };
  fill("token_embd.weight", tokens.size() * width, 0, 1);
  fill("output_norm.weight", width, 1, 0.2);
  for (std::uint32_t i = 0; i < layers; ++i) {
    const auto layer = "blk." + std::to_string(i) + ".";
    fill(layer + "attn_norm.weight", width, 1, 0.2);
    fill(layer + "ffn_norm.weight", width, 1, 0.2);
    fill(layer + "attn_q.weight", std::size_t{heads} * features * width, 0, 0.3);
    fill(layer + "attn_k.weight", std::size_t{groups} * features * width, 0, 0.3);
    fill(layer + "attn_v.weight", std::size_t{groups} * features * width, 0, 0.3);
    fill(layer + "attn_output.weight", std::size_t{width} * heads * features, 0, 0.3);
    fill(layer + "ffn_gate.weight", std::size_t{hidden} * width, 0, 0.3);
    fill(layer + "ffn_up.weight", std::size_t{hidden} * width, 0, 0.3);
    fill(layer + "ffn_down.weight", std::size_t{width} * hidden, 0, 0.3);
  }
}

File TinyModel::file() const {
  File file;
  file.add("general.architecture", std::string("llama"));
  file.add("llama.block_count", layers).add("llama.embedding_length", width);
  file.add("llama.feed_forward_length", hidden).add("llama.context_length", context);
  file.add("llama.attention.head_count", heads).add("llama.attention.head_count_kv", groups);
  file.add("llama.attention.layer_norm_rms_epsilon", static_cast<float>(epsilon));
  file.add("llama.rope.freq_base", static_cast<float>(base));
  file.add("tokenizer.ggml.model", std::string("gpt2"));
  file.add("tokenizer.ggml.pre", std::string("smollm"));
  file.add("tokenizer.ggml.tokens", tokens).add("tokenizer.ggml.merges", merges);
  std::vector<std::int32_t> types(tokens.size(), 1);
  types[types.size() - 1] = types[types.size() - 2] = 3;
  file.add("tokenizer.ggml.token_type", types);
  file.add("tokenizer.ggml.eos_token_id", static_cast<std::uint32_t>(tokens.size() - 1));
  file.add("tokenizer.chat_template", std::string("{{ '<|im_start|>' + message }}"));
  for (const auto& [name, values] : weights) {
    FileTensor tensor{.name = name, .dimensions = {values.size()}, .bytes = {}};
    const std::uint64_t columns = name.ends_with("ffn_down.weight") ? hidden : std::uint64_t{width};
    if (values.size() > width) tensor.dimensions = {columns, values.size() / columns};
    tensor.bytes.assign(reinterpret_cast<const char*>(values.data()),
                        values.size() * sizeof(float));
    file.tensors.push_back(std::move(tensor));
  }
  return file;
}

std::vector<double> TinyModel::logits(const std::vector<std::uint32_t>& prompt) const {
  std::vector<std::vector<Row>> keys(layers), values(layers);
  const auto& embedding = weights.at("token_embd.weight");
  Row x;
  for (std::size_t position = 0; position < prompt.size(); ++position) {
    const auto* const row = embedding.data() + std::size_t{prompt[position]} * width;
    x.assign(row, row + width);
    for (std::size_t i = 0; i < layers; ++i) {
      const auto of = [&](const std::string& name) -> const std::vector<float>& {
        return weights.at("blk." + std::to_string(i) + "." + name + ".weight");
      };
      auto h = normalized(x, of("attn_norm"));
      auto query = product(of("attn_q"), h), key = product(of("attn_k"), h);
      rotate(query, position);
      rotate(key, position);
      keys[i].push_back(key);
      values[i].push_back(product(of("attn_v"), h));
      add(x, product(of("attn_output"), attended(query, keys[i], values[i])));
      h = normalized(x, of("ffn_norm"));
      auto gate = product(of("ffn_gate"), h);
      const auto up = product(of("ffn_up"), h);
      for (std::size_t j = 0; j < gate.size(); ++j) gate[j] *= up[j] / (1 + std::exp(-gate[j]));
      add(x, product(of("ffn_down"), gate));
    }
  }
  return product(embedding, normalized(x, weights.at("output_norm.weight")));
}

std::vector<std::uint32_t> TinyModel::greedy(std::vector<std::uint32_t> prompt,
                                             std::size_t count) const {
  std::vector<std::uint32_t> made;
  while (made.size() < count) {
    const auto all = logits(prompt);
    const auto best = std::ranges::max_element(all) - all.begin();
    made.push_back(static_cast<std::uint32_t>(best));
    prompt.push_back(made.back());
  }
  return made;
}

}  // namespace text_tests
