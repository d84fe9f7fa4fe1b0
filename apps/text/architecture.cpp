#include "apps/text/architecture.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "apps/text/problem.hpp"

namespace polychron::text::detail {

namespace {

constexpr std::uint32_t most_of_a_size = 1U << 20U;  // of any size, so that products fit

/// As llama.cpp computes them. Its converter has added 1 to Gemma's scales of normalizations.
constexpr std::array architectures{
    Architecture{.name = "llama",
                 .has_biases = false,
                 .normalizes_heads = false,
                 .normalizes_parts = false,
                 .scales_embeddings = false,
                 .rotates_halves = false,
                 .has_gelu = false,
                 .window_period = 0},
    Architecture{.name = "qwen2",
                 .has_biases = true,
                 .normalizes_heads = false,
                 .normalizes_parts = false,
                 .scales_embeddings = false,
                 .rotates_halves = true,
                 .has_gelu = false,
                 .window_period = 0},
    Architecture{.name = "qwen3",
                 .has_biases = false,
                 .normalizes_heads = true,
                 .normalizes_parts = false,
                 .scales_embeddings = false,
                 .rotates_halves = true,
                 .has_gelu = false,
                 .window_period = 0},
    Architecture{.name = "gemma3",
                 .has_biases = false,
                 .normalizes_heads = true,
                 .normalizes_parts = true,
                 .scales_embeddings = true,
                 .rotates_halves = true,
                 .has_gelu = true,
                 .window_period = 6},
};

/// Values of an architecture's keys.
class Keys {
 public:
  Keys(const Gguf& gguf, std::string_view architecture)
      : gguf_(gguf), prefix_(std::string(architecture) + ".") {}
  std::string named(const char* key) const { return prefix_ + key; }
  bool has(const char* key) const { return gguf_.metadata.contains(named(key)); }
  std::uint32_t count(const char* key) const { return gguf_.count(named(key), most_of_a_size); }
  std::uint32_t count(const char* key, std::uint32_t absent) const {
    return has(key) ? count(key) : absent;
  }
  double base(const char* key) const {
    const auto* const given = gguf_.find<double>(named(key));
    const auto value = given == nullptr ? 10000 : *given;
    if (!(value > 0)) malformed(quote(named(key)) + " is out of range");
    return value;
  }
  /// Refuses another value than the one that this decoder computes with.
  void refuse_other(const char* key, std::uint32_t expected, const char* of) const {
    const auto* const value = gguf_.find<std::int64_t>(named(key));
    if (value != nullptr && *value != expected)
      unsupported(quote(named(key)) + " of " + std::to_string(*value) + " where " + of + " " +
                  std::to_string(expected));
  }

 private:
  const Gguf& gguf_;
  const std::string prefix_;
};

}  // namespace

const Architecture& architecture_of(const Gguf& gguf) {
  const auto& name = gguf.get<std::string>("general.architecture");
  const auto* const found = std::ranges::find(architectures, name, &Architecture::name);
  if (found == architectures.end()) unsupported("the architecture " + quote(name));
  return *found;
}

DecoderSizes::DecoderSizes(const Gguf& gguf) : architecture(architecture_of(gguf)) {
  const Keys keys(gguf, architecture.name);
  layers = keys.count("block_count");
  width = keys.count("embedding_length");
  hidden = keys.count("feed_forward_length");
  context = keys.count("context_length");
  heads = keys.count("attention.head_count");
  groups = keys.count("attention.head_count_kv", heads);
  const bool has_features = keys.has("attention.key_length");
  features = has_features ? keys.count("attention.key_length") : width / heads;
  if ((!has_features && width % heads != 0) || heads % groups != 0 || features % 2 != 0 ||
      features == 0 || features > most_of_a_size / heads)
    malformed(std::to_string(heads) + " heads of queries and " + std::to_string(groups) +
              " of keys for a width of " + std::to_string(width));
  epsilon = gguf.get<double>(keys.named("attention.layer_norm_rms_epsilon"));
  if (!(epsilon >= 0 && epsilon < 1)) malformed("an epsilon out of range");
  bases = {keys.base("rope.freq_base")};
  window = 0;
  if (architecture.window_period > 0) {
    window = keys.count("attention.sliding_window");
    bases.push_back(keys.base("rope.freq_base_swa"));
    keys.refuse_other("attention.sliding_window_pattern", architecture.window_period,
                      "the architecture has");
    // Gemma 3 27B, whose factor of scores is another one. The file does not tell it.
    if (layers == 62) unsupported("the scores of " + quote(architecture.name) + " with 62 layers");
  }
  for (const char* key : {"rope.dimension_count", "attention.value_length"})
    keys.refuse_other(key, features, "features of a head are");
  const auto* const scaling = gguf.find<std::string>(keys.named("rope.scaling.type"));
  if (scaling != nullptr && *scaling != "none") unsupported("angles scaled by " + quote(*scaling));
}

}  // namespace polychron::text::detail
