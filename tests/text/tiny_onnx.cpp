#include "tests/text/tiny_onnx.hpp"

#include <unistd.h>

#include <cmath>
#include <fstream>
#include <vector>

#include "tests/text/graph_writer.hpp"
#include "tests/text/tiny_model.hpp"

namespace text_tests {

namespace {

constexpr float norm_epsilon = 1e-5F;
constexpr std::uint32_t width = TinyModel::width, heads = TinyModel::heads,
                        groups = TinyModel::groups, positions = TinyModel::context;

class DecoderWriter {
 public:
  DecoderWriter(const TinyModel& tiny, Export kind) : tiny_(tiny), kind_(kind) {}

  std::string write(std::uint32_t extra_logits) {
    const auto tokens = g_.input("input_ids", int64, {"batch_size", "sequence_length"});
    mask_ = g_.input("attention_mask", int64, {"batch_size", "total_sequence_length"});
    write_angles();
    if (kind_ == Export::grouped)
      write_lengths();
    else
      positions_ = g_.input("position_ids", int64, {"batch_size", "sequence_length"});
    const auto& table = tiny_.weights.at("token_embd.weight");
    auto x = g_.node("Gather", {matrix(table, width), tokens});
    for (std::uint32_t i = 0; i < tiny_.layers; ++i) x = layer(i, x);
    x = normalized(x, "output_norm.weight");
    auto logits = product(x, table, width);
    if (extra_logits > 0) {
      const std::vector<float> high(extra_logits, 1e9F);
      const auto more = g_.constant(real32, {1, 1, extra_logits}, high);
      const auto shape =
          g_.node("Concat",
                  {g_.node("Slice", {g_.node("Shape", {x}), g_.integers({0}), g_.integers({2})}),
                   g_.integers({extra_logits})},
                  {integer("axis", 0)});
      logits = g_.node("Concat", {logits, g_.node("Expand", {more, shape})}, {integer("axis", 2)});
    }
    g_.node("Identity", {logits}, {}, {"logits"});
    g_.output("logits", {"batch_size", "sequence_length", "tokens"});
    return g_.bytes();
  }

 private:
  std::string matrix(const std::vector<float>& values, std::uint64_t columns) {
    return g_.constant(real32, {values.size() / columns, columns}, values);
  }
  /// By the transpose of a matrix [outputs, inputs].
  std::string product(const std::string& x, const std::vector<float>& values, std::size_t inputs) {
    std::vector<float> turned(values.size());
    const auto outputs = values.size() / inputs;
    for (std::size_t i = 0; i < outputs; ++i)
      for (std::size_t j = 0; j < inputs; ++j) turned[j * outputs + i] = values[i * inputs + j];
    return g_.node("MatMul", {x, matrix(turned, outputs)});
  }
  std::string normalized(const std::string& x, const std::string& weight) {
    const auto scale = g_.constant(real32, {width}, tiny_.weights.at(weight));
    return g_.node("SimplifiedLayerNormalization", {x, scale},
                   {integer("axis", -1), real_number("epsilon", norm_epsilon)});
  }

  void write_angles() {
    std::vector<float> cosines, sines;
    const auto half = tiny_.features / 2;
    for (std::uint32_t position = 0; position < positions; ++position)
      for (std::uint32_t i = 0; i < half; ++i) {
        const auto angle = position * std::pow(tiny_.base, -2.0 * i / tiny_.features);
        cosines.push_back(static_cast<float>(std::cos(angle)));
        sines.push_back(static_cast<float>(std::sin(angle)));
      }
    cosines_ = g_.constant(real32, {positions, half}, cosines);
    sines_ = g_.constant(real32, {positions, half}, sines);
  }
  /// From the mask: the last position, and the number of keys.
  void write_lengths() {
    const auto sum = g_.node("ReduceSum", {mask_, g_.integers({1})}, {integer("keepdims", 0)});
    const auto last = g_.node("Sub", {sum, g_.integers({1})});
    last_ = g_.node("Cast", {last}, {integer("to", int32)});
    const auto total = g_.node("Gather", {g_.node("Shape", {mask_}), g_.scalar(1)});
    total_ = g_.node("Cast", {total}, {integer("to", int32)});
  }

  std::string layer(std::uint32_t i, const std::string& x) {
    const auto prefix = "blk." + std::to_string(i) + ".";
    const auto of = [&](const char* name) -> const std::vector<float>& {
      return tiny_.weights.at(prefix + name + ".weight");
    };
    auto h = normalized(x, prefix + "attn_norm.weight");
    const auto projected = [&](const std::string& name) {
      const auto made = product(h, of(name.c_str()), width);
      const auto bias = tiny_.weights.find(prefix + name + ".bias");
      if (bias == tiny_.weights.end()) return made;
      return g_.node("Add", {made, g_.constant(real32, {bias->second.size()}, bias->second)});
    };
    const auto query = projected("attn_q"), key = projected("attn_k"), value = projected("attn_v");
    const auto seen =
        kind_ == Export::grouped ? grouped(i, query, key, value) : plain(i, query, key, value);
    const auto after =
        g_.node("Add", {x, product(seen, of("attn_output"), heads * tiny_.features)});
    h = normalized(after, prefix + "ffn_norm.weight");
    const auto gate = product(h, of("ffn_gate"), width), up = product(h, of("ffn_up"), width);
    const auto gated = g_.node("Mul", {g_.node("Mul", {gate, g_.node("Sigmoid", {gate})}), up});
    return g_.node("Add", {after, product(gated, of("ffn_down"), TinyModel::hidden)});
  }

  /// Declares past and present of a layer: the names of keys, then of values.
  Names caches(std::uint32_t i, const char* of, const char* length) {
    Names names;
    for (const auto* kind : {".key", ".value"}) {
      names.push_back(of + std::to_string(i) + kind);
      const Names shape{"batch_size", std::to_string(groups), length,
                        std::to_string(tiny_.features)};
      if (of == std::string("present."))
        g_.output(names.back(), shape);
      else
        g_.input(names.back(), real32, shape);
    }
    return names;
  }
  Message interleaved(const char* name) const {
    return integer(name, tiny_.architecture == "llama" ? 1 : 0);
  }

  std::string grouped(std::uint32_t i, const std::string& query, const std::string& key,
                      const std::string& value) {
    const auto past = caches(i, "past_key_values.", "past_sequence_length");
    const auto present = caches(i, "present.", "total_sequence_length");
    return g_.node("com.microsoft:GroupQueryAttention",
                   {query, key, value, past[0], past[1], last_, total_, cosines_, sines_},
                   {integer("num_heads", heads), integer("kv_num_heads", groups),
                    integer("do_rotary", 1), interleaved("rotary_interleaved")},
                   {"seen" + std::to_string(i), present[0], present[1]});
  }

  /// [batch, steps, heads * features] as [batch, heads, steps, features].
  std::string by_heads(const std::string& x, std::uint32_t count) {
    const auto shape = g_.integers({0, 0, count, tiny_.features});
    return transposed(g_.node("Reshape", {x, shape}), {0, 2, 1, 3});
  }
  std::string transposed(const std::string& x, const std::vector<std::uint64_t>& order) {
    Message permutation;
    permutation.bytes(1, "perm");
    for (const auto axis : order) permutation.number(8, axis);
    return g_.node("Transpose", {x}, {permutation.number(20, 7)});
  }
  std::string length_of(const std::string& x, std::int64_t axis) {
    return g_.node("Gather", {g_.node("Shape", {x}), g_.scalar(axis)});
  }

  std::string plain(std::uint32_t i, const std::string& query, const std::string& key,
                    const std::string& value) {
    const auto past = caches(i, "past_key_values.", "past_sequence_length");
    const auto present = caches(i, "present.", "total_sequence_length");
    const auto rotated = [&](const std::string& x, std::uint32_t count) {
      return g_.node("com.microsoft:RotaryEmbedding",
                     {by_heads(x, count), positions_, cosines_, sines_},
                     {interleaved("interleaved")});
    };
    const auto whole = [&](std::size_t part, const std::string& fresh) {
      g_.node("Concat", {past[part], fresh}, {integer("axis", 2)}, {present[part]});
      std::vector<std::int64_t> shared;  // the group of each head
      for (std::uint32_t head = 0; head < heads; ++head) shared.push_back(head * groups / heads);
      return g_.node("Gather", {present[part], g_.integers(shared)}, {integer("axis", 1)});
    };
    const auto keys = whole(0, rotated(key, groups)), values = whole(1, by_heads(value, groups));
    const auto scale =
        g_.constant(real32, {}, std::vector{1 / std::sqrt(static_cast<float>(tiny_.features))});
    const auto product = g_.node("MatMul", {rotated(query, heads), transposed(keys, {0, 1, 3, 2})});
    const auto scores = g_.node("Add", {g_.node("Mul", {product, scale}), mask(past[0], keys)});
    const auto weights = g_.node("Softmax", {scores}, {integer("axis", -1)});
    const auto seen = transposed(g_.node("MatMul", {weights, values}), {0, 2, 1, 3});
    return g_.node("Reshape", {seen, g_.integers({0, 0, heads * tiny_.features})});
  }
  /// Keys up to a query's own position, of which the mask tells that they are there.
  std::string mask(const std::string& past, const std::string& keys) {
    const auto begin = length_of(past, 2), end = length_of(keys, 2), one = g_.scalar(1);
    const auto columns = g_.node("Range", {g_.scalar(0), end, one});
    const auto rows = g_.node("Unsqueeze", {g_.node("Range", {begin, end, one}), g_.integers({1})});
    const auto is_there = g_.node("Cast", {mask_}, {integer("to", bool8)});
    const auto kept = g_.node("And", {g_.node("LessOrEqual", {columns, rows}), is_there});
    const auto number = [&](float value) { return g_.constant(real32, {}, std::vector{value}); };
    return g_.node("Where", {kept, number(0), number(-1e30F)});
  }

  const TinyModel& tiny_;
  const Export kind_;
  GraphWriter g_;
  std::string mask_, positions_, cosines_, sines_, last_, total_;
};

std::string quoted(const std::string& text) {
  std::string made = "\"";
  for (const char c : text)
    if (c == '\n')
      made += "\\n";
    else if (c == '"' || c == '\\')
      (made += '\\') += c;
    else
      made += c;
  return made + '"';
}

/// Joins what f(i) gives.
template <class F>
std::string listed(std::size_t count, const F& f) {
  std::string list;
  for (std::size_t i = 0; i < count; ++i)
    if (const std::string each = f(i); !each.empty()) list += (list.empty() ? "" : ",") + each;
  return list;
}

/// Every pair of tokens that makes a token, the most probable first.
Names pairs_of(const TinyModel& tiny) {
  Names pairs;
  const auto is_normal = [&](const std::string& name) {
    const auto id = tiny.id_of(name);
    return id < tiny.tokens.size() && tiny.types[id] == 1;
  };
  for (std::size_t i = 0; i < tiny.tokens.size(); ++i)
    for (std::size_t at = 1; tiny.types[i] == 1 && at < tiny.tokens[i].size(); ++at) {
      const auto left = tiny.tokens[i].substr(0, at), right = tiny.tokens[i].substr(at);
      if (is_normal(left) && is_normal(right))
        pairs.push_back("[" + quoted(left) + "," + quoted(right) + "]");
    }
  return pairs;
}

}  // namespace

std::string onnx_bytes(const TinyModel& tiny, Export kind, std::uint32_t extra_logits) {
  return DecoderWriter(tiny, kind).write(extra_logits);
}

std::string tokenizer_json(const TinyModel& tiny) {
  const bool pieces = tiny.architecture == "gemma3";
  const auto own = [&](std::size_t i) { return tiny.types[i] == 3 || tiny.types[i] == 4; };
  const auto vocabulary = listed(tiny.tokens.size(), [&](std::size_t i) {
    return own(i) ? "" : quoted(tiny.tokens[i]) + ":" + std::to_string(i);
  });
  const auto added = listed(tiny.tokens.size(), [&](std::size_t i) {
    return !own(i) ? ""
                   : R"({"id":)" + std::to_string(i) + R"(,"content":)" + quoted(tiny.tokens[i]) +
                         R"(,"special":)" + (tiny.types[i] == 3 ? "true" : "false") + "}";
  });
  const auto pairs = pieces ? pairs_of(tiny) : Names();
  const auto merges =
      pieces ? listed(pairs.size(), [&](std::size_t i) { return pairs[i]; })
             : listed(tiny.merges.size(), [&](std::size_t i) { return quoted(tiny.merges[i]); });
  constexpr auto* bytes_only = R"({"type":"ByteLevel","add_prefix_space":false,"use_regex":false})";
  const std::string qwen = R"x((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N})x"
                           R"x(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)x";
  const std::string sequence = R"({"type":"Sequence","pretokenizers":[{"type":)";
  const auto words = tiny.architecture == "llama"
                         ? sequence + R"("Digits","individual_digits":true},{"type":"ByteLevel",)" +
                               R"("add_prefix_space":false,"use_regex":true}]})"
                         : sequence + R"("Split","behavior":"Isolated","pattern":{"Regex":)" +
                               quoted(qwen) + "}}," + bytes_only + "]}";
  const auto spaces =
      R"("normalizer":{"type":"Replace","pattern":{"String":" "},"content":"▁"},)"
      R"("post_processor":{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"<bos>"}},)"
      R"({"Sequence":{"id":"A"}}]},)";
  return R"({"version":"1.0","added_tokens":[)" + added + "]," +
         (pieces ? spaces : R"("pre_tokenizer":)" + words + ",") +
         R"("model":{"type":"BPE","unk_token":)" + (pieces ? R"("<unk>")" : "null") +
         R"(,"byte_fallback":)" + (pieces ? "true" : "false") + R"(,"vocab":{)" + vocabulary +
         R"(},"merges":[)" + merges + "]}}";
}

std::map<std::string, std::string> onnx_folder(const TinyModel& tiny, Export kind) {
  return {
      {"model.onnx", onnx_bytes(tiny, kind)},
      {"tokenizer.json", tokenizer_json(tiny)},
      {"tokenizer_config.json",
       R"({"eos_token":"<|im_end|>","chat_template":"{{ '<|im_start|>' + message }}"})"},
      {"config.json", R"({"max_position_embeddings":)" + std::to_string(positions) + "}"},
      {"generation_config.json",
       R"({"eos_token_id":[)" + std::to_string(tiny.id_of("<|im_end|>")) + "]}"},
  };
}

TemporaryFolder::TemporaryFolder(const std::map<std::string, std::string>& files) {
  static int count = 0;
  path_ = std::filesystem::temp_directory_path() /
          ("polychron-onnx-" + std::to_string(::getpid()) + "-" + std::to_string(++count));
  for (const auto& [name, bytes] : files) {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
}
TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace text_tests
