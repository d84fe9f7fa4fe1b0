#include "tests/text/tiny_model.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numbers>
#include <random>
#include <stdexcept>

namespace text_tests {

namespace {

constexpr double window_base = 10000, epsilon = 1e-5;

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

/// Turns pairs of features: neighbours, or those of two halves.
void rotate(Row& x, std::size_t position, std::size_t features, bool halves, double base) {
  for (std::size_t head = 0; head < x.size(); head += features)
    for (std::size_t i = 0; i < features / 2; ++i) {
      const auto angle =
          static_cast<double>(position) *
          std::pow(base, -2.0 * static_cast<double>(i) / static_cast<double>(features));
      auto& first = x[head + (halves ? i : 2 * i)];
      auto& second = x[head + (halves ? i + features / 2 : 2 * i + 1)];
      const auto a = first, b = second;
      first = a * std::cos(angle) - b * std::sin(angle);
      second = a * std::sin(angle) + b * std::cos(angle);
    }
}

void add(Row& x, const Row& y) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += y[i];
}

/// What the query at the end of `keys` sees from the key `first` on.
Row attended(const Row& query, const std::vector<Row>& keys, const std::vector<Row>& values,
             std::size_t first) {
  constexpr std::size_t shared = TinyModel::heads / TinyModel::groups;
  const auto features = query.size() / TinyModel::heads;
  Row result(query.size());
  for (std::size_t head = 0; head < TinyModel::heads; ++head) {
    const auto at = head / shared * features;
    Row weights(keys.size());
    for (std::size_t i = first; i < keys.size(); ++i) {
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

File& File::add(const std::string& key, const std::vector<float>& value) {
  Bytes bytes;
  bytes.number(std::uint32_t{array}).number(std::uint32_t{f32}).number(std::uint64_t{value.size()});
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

void TinyModel::add_byte_pairs() {
  tokens = names_of_bytes();
  const auto space = tokens[32];
  merges = {"h e", "l l", "he ll", "hell o", space + " w", "o r", "or l", "c a", "a t"};
  for (const auto& merge : merges) {
    auto whole = merge;
    tokens.push_back(whole.erase(whole.find(' ', 1), 1));
  }
  types.assign(tokens.size(), 1);
  tokens.insert(tokens.end(), {"<|im_start|>", "<|im_end|>"});
  types.insert(types.end(), {3, 3});
}

/// In the order of falling scores.
void TinyModel::add_sentence_pieces() {
  constexpr std::int32_t normal = 1, unknown = 2, control = 3, user = 4, byte = 6;
  const auto add = [&](std::int32_t type, std::initializer_list<std::string> names) {
    tokens.insert(tokens.end(), names);
    types.insert(types.end(), names.size(), type);
  };
  add(control, {"<pad>", "<eos>", "<bos>"});
  add(unknown, {"<unk>"});
  add(user, {"  ", "\n\n", "<tag>"});
  for (std::uint32_t i = 0; i < 256; ++i) {
    constexpr auto* digits = "0123456789ABCDEF";
    add(byte, {std::string("<0x") + digits[i / 16] + digits[i % 16] + ">"});
  }
  const std::string space = "\u2581";
  add(normal, {"he",        "ll",          "hell",  "hello", space + "w",
               "or",        "orl",         "ca",    "at",    space + "hello",
               space + "c", space + "cat", "h",     "e",     "l",
               "o",         "w",           "r",     "c",     "a",
               "t",         space,         "\u00e9"});
  add(control, {"<start_of_turn>", "<end_of_turn>"});
}

std::uint32_t TinyModel::id_of(const std::string& token) const {
  return static_cast<std::uint32_t>(std::ranges::find(tokens, token) - tokens.begin());
}

TinyModel::TinyModel(std::uint64_t seed, std::string of)
    : architecture(std::move(of)),
      layers(architecture == "gemma3" ? 6 : 2),
      features(architecture == "qwen3" || architecture == "gemma3" ? 24 : width / heads),
      window(architecture == "gemma3" ? 7 : 0),
      base(architecture == "llama" ? 10000 : 30000) {
  if (architecture == "gemma3")
    add_sentence_pieces();
  else
    add_byte_pairs();
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
    if (architecture == "qwen2") {
      fill(layer + "attn_q.bias", std::size_t{heads} * features, 0, 1);
      fill(layer + "attn_k.bias", std::size_t{groups} * features, 0, 1);
      fill(layer + "attn_v.bias", std::size_t{groups} * features, 0, 1);
    }
    if (architecture == "qwen3" || architecture == "gemma3") {
      fill(layer + "attn_q_norm.weight", features, 1, 0.5);
      fill(layer + "attn_k_norm.weight", features, 1, 0.5);
    }
    if (architecture == "gemma3") {
      fill(layer + "post_attention_norm.weight", width, 1, 0.5);
      fill(layer + "post_ffw_norm.weight", width, 1, 0.5);
    }
  }
}

File TinyModel::file() const {
  File file;
  const auto prefix = architecture + ".";
  file.add("general.architecture", architecture);
  file.add(prefix + "block_count", layers).add(prefix + "embedding_length", width);
  file.add(prefix + "feed_forward_length", hidden).add(prefix + "context_length", context);
  file.add(prefix + "attention.head_count", heads).add(prefix + "attention.head_count_kv", groups);
  file.add(prefix + "attention.layer_norm_rms_epsilon", static_cast<float>(epsilon));
  file.add(prefix + "rope.freq_base", static_cast<float>(base));
  if (features != width / heads)
    file.add(prefix + "attention.key_length", features)
        .add(prefix + "attention.value_length", features);
  if (window > 0) file.add(prefix + "attention.sliding_window", window);
  file.add("tokenizer.ggml.tokens", tokens).add("tokenizer.ggml.token_type", types);
  if (architecture == "gemma3") {
    std::vector<float> scores;
    for (std::size_t i = 0; i < tokens.size(); ++i) scores.push_back(-static_cast<float>(i));
    file.add("tokenizer.ggml.model", std::string("llama")).add("tokenizer.ggml.scores", scores);
    file.values.emplace_back("tokenizer.ggml.add_space_prefix",
                             Bytes{}.number(std::uint32_t{boolean}).number(std::uint8_t{0}));
    file.add("tokenizer.ggml.bos_token_id", id_of("<bos>"));
    file.add("tokenizer.ggml.eos_token_id", id_of("<eos>"));
    file.add("tokenizer.chat_template", std::string("{{ '<start_of_turn>' + message }}"));
  } else {
    file.add("tokenizer.ggml.model", std::string("gpt2")).add("tokenizer.ggml.merges", merges);
    file.add("tokenizer.ggml.pre", std::string(architecture == "llama" ? "smollm" : "qwen2"));
    file.add("tokenizer.ggml.eos_token_id", id_of("<|im_end|>"));
    file.add("tokenizer.chat_template", std::string("{{ '<|im_start|>' + message }}"));
  }
  for (const auto& [name, values] : weights) {
    FileTensor tensor{.name = name, .dimensions = {values.size()}, .bytes = {}};
    const std::uint64_t columns = name.ends_with("ffn_down.weight")      ? hidden
                                  : name.ends_with("attn_output.weight") ? heads * features
                                                                         : width;
    const bool is_vector = name.ends_with("norm.weight") || name.ends_with(".bias");
    if (!is_vector) tensor.dimensions = {columns, values.size() / columns};
    tensor.bytes.assign(reinterpret_cast<const char*>(values.data()),
                        values.size() * sizeof(float));
    file.tensors.push_back(std::move(tensor));
  }
  return file;
}

std::vector<double> TinyModel::logits(const std::vector<std::uint32_t>& prompt) const {
  std::vector<std::vector<Row>> keys(layers), values(layers);
  const bool gemma = architecture == "gemma3", halves = architecture != "llama";
  const auto& embedding = weights.at("token_embd.weight");
  Row x;
  for (std::size_t position = 0; position < prompt.size(); ++position) {
    const auto* const row = embedding.data() + std::size_t{prompt[position]} * width;
    x.assign(row, row + width);
    for (auto& value : x) value *= gemma ? std::sqrt(static_cast<double>(width)) : 1;
    for (std::size_t i = 0; i < layers; ++i) {
      const auto name_of = [&](const std::string& name) {
        return "blk." + std::to_string(i) + "." + name;
      };
      const auto of = [&](const std::string& name) -> const std::vector<float>& {
        return weights.at(name_of(name) + ".weight");
      };
      const auto is_local = window > 0 && i != 5;
      auto h = normalized(x, of("attn_norm"));
      const auto projected = [&](const std::string& name) {
        auto result = product(of(name), h);
        if (const auto bias = weights.find(name_of(name) + ".bias"); bias != weights.end())
          add(result, Row(bias->second.begin(), bias->second.end()));
        const auto norm = weights.find(name_of(name) + "_norm.weight");
        for (std::size_t at = 0; norm != weights.end() && at < result.size(); at += features) {
          const auto begin = result.begin() + static_cast<std::ptrdiff_t>(at);
          const auto head = normalized(Row(begin, begin + features), norm->second);
          std::copy(head.begin(), head.end(), begin);
        }
        if (name != "attn_v")
          rotate(result, position, features, halves, is_local ? window_base : base);
        return result;
      };
      const auto query = projected("attn_q");
      keys[i].push_back(projected("attn_k"));
      values[i].push_back(projected("attn_v"));
      const auto first = is_local && position >= window ? position - window + 1 : 0;
      const auto add_part = [&](const Row& part, const std::string& norm) {
        add(x, gemma ? normalized(part, of(norm)) : part);
      };
      add_part(product(of("attn_output"), attended(query, keys[i], values[i], first)),
               "post_attention_norm");
      h = normalized(x, of("ffn_norm"));
      auto gate = product(of("ffn_gate"), h);
      const auto up = product(of("ffn_up"), h);
      for (std::size_t j = 0; j < gate.size(); ++j) {
        const auto g = gate[j];
        const auto tanh = std::tanh(std::sqrt(2 / std::numbers::pi) * (g + 0.044715 * g * g * g));
        gate[j] = up[j] * (gemma ? g / 2 * (1 + tanh) : g / (1 + std::exp(-g)));
      }
      add_part(product(of("ffn_down"), gate), "post_ffw_norm");
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
