#include "apps/text/decoder.hpp"

#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <utility>

#include "polychron/graph_builder.hpp"

namespace polychron::text::detail {

namespace {

constexpr float unseen = -std::numeric_limits<float>::infinity();

OperandDescriptor floats(Shape shape) { return {DataType::float32, std::move(shape)}; }

/// Adds the decoder's operators to a builder.
class Decoder {
 public:
  Decoder(const Context& context, const DecoderSizes& sizes, const DecoderWeights& weights,
          const NetworkShape& shape, DataType cache_type)
      : s_(sizes),
        w_(weights),
        rows_(shape.rows),
        context_(shape.context),
        chats_(shape.chats),
        own_rows_(rows_ / chats_),
        cache_(cache_sizes(sizes, cache_type)),
        b_(context),
        x_(embeddings()),
        caches_(caches()),
        masks_(masks()),
        angles_(angles()) {}

  Future<Graph> build(const BuildOptions& options) {
    for (std::uint32_t i = 0; i < s_.layers; ++i) {
      const bool last = i + 1 == s_.layers;
      add_layer(i, last && own_rows_ > 1);
    }
    const auto new_rows = b_.concat(new_rows_, 0);
    const bool rounds = cache_.type != DataType::float32;
    NamedOperands outputs{{port::rows, rounds ? b_.cast(new_rows, cache_.type) : new_rows}};
    if (own_rows_ == 1)
      outputs.emplace_back(port::logits, product(normalized(x_, w_.norm), w_.head));
    return b_.build(outputs, options);
  }

 private:
  Operand embeddings() {
    const auto read = b_.input(port::embedding, floats({rows_, s_.width}));
    if (!s_.architecture.scales_embeddings) return read;
    return b_.mul(read, number(std::sqrt(static_cast<double>(s_.width))));
  }

  Operand number(double value) { return b_.constant(DataType::float32, value); }

  /// [rows, inputs] to [rows, outputs]. Products with packed weights give a row the same bits
  /// whatever rows are beside it. Others do not, so each chat has one of its own.
  Operand product(const Operand& x, const MatrixWeights& weights) {
    const auto times_matrix = [&, m = matrix(weights)](const Operand& rows) {
      return b_.gemm(rows, m, {.b_transpose = true});
    };
    if (chats_ == 1 || weights.scales) return times_matrix(x);
    std::vector<Operand> all;
    for (const auto& row : b_.split(x, chats_, 0)) all.push_back(times_matrix(row));
    return b_.concat(all, 0);
  }

  /// The runtime makes one step of these operators and the product. Integers stay packed.
  Operand matrix(const MatrixWeights& weights) {
    const auto elements = b_.constant(weights.elements);
    if (!weights.scales) return elements;
    const OperandDescriptor zeros{elements.data_type(), weights.scales->shape()};
    const auto zero = b_.constant(zeros, Buffer(*byte_length(zeros)));
    auto real = b_.dequantize_linear(elements, b_.constant(*weights.scales), zero);
    if (weights.minima) real = b_.add(real, b_.constant(*weights.minima));
    const auto& blocks = elements.shape();
    return b_.reshape(real, {blocks[0], blocks[1] * blocks[2]});
  }

  /// Root mean square normalization (Zhang, Sennrich, 2019).
  Operand normalized(const Operand& x, const std::vector<float>& scale) {
    const auto mean = b_.reduce_mean(b_.mul(x, x), {.axes = {{1}}, .keep_dimensions = true});
    const auto root = b_.sqrt(b_.add(mean, number(s_.epsilon)));
    return b_.mul(b_.div(x, root), b_.constant(floats({s_.width}), scale));
  }

  std::vector<Operand> caches() {
    std::vector<Operand> all;
    for (std::uint32_t chat = 0; chat < chats_; ++chat)
      all.push_back(b_.input(port::cache(chat), cache_descriptor(cache_, context_)));
    return all;
  }

  /// What a layer may see: 0, or minus infinity.
  struct Masks {
    std::vector<Operand> past;  ///< of each chat, the places of its cache
    Operand own;                ///< the new tokens: [1, heads of a group * rows, rows]
  };

  /// Of layers that see all, and of those with a window.
  std::vector<Masks> masks() {
    std::vector<std::int32_t> places(context_);
    std::iota(places.begin(), places.end(), 0);
    const auto lengths = b_.input(port::length, {DataType::int32, {chats_}});
    const auto place = b_.constant({DataType::int32, {1, 1, context_}}, places);
    const auto seen = [&](const Operand& condition) {
      return b_.where(condition, number(0), number(static_cast<double>(unseen)));
    };
    std::vector<Masks> all{{{}, own_mask(rows_)}};
    if (s_.window > 0) all.push_back({{}, own_mask(s_.window)});
    for (std::uint32_t chat = 0; chat < chats_; ++chat) {
      const auto length = b_.slice(lengths, {.starts = {chat}, .sizes = {1}});
      all[0].past.push_back(seen(b_.lesser(place, length)));
      if (s_.window == 0) continue;
      const auto first = b_.add(length, first_places());
      all[1].past.push_back(b_.add(all[0].past.back(), seen(b_.greater_or_equal(place, first))));
    }
    return all;
  }

  /// With a window, the first place that each row sees, from the length of the cache on:
  /// [1, heads of a group * rows, 1].
  Operand first_places() {
    const auto rows = s_.heads / s_.groups * own_rows_;
    std::vector<std::int32_t> first;
    for (std::uint32_t row = 0; row < rows; ++row)
      first.push_back(static_cast<std::int32_t>(row % own_rows_ + 1) -
                      static_cast<std::int32_t>(s_.window));
    return b_.constant({DataType::int32, {1, rows, 1}}, first);
  }

  /// New tokens up to the row's own, within the window.
  Operand own_mask(std::uint32_t window) {
    const auto heads = s_.heads / s_.groups;
    std::vector<float> values;
    for (std::uint32_t i = 0; i < heads * own_rows_; ++i)
      for (std::uint32_t column = 0, row = i % own_rows_; column < own_rows_; ++column)
        values.push_back(column <= row && row - column < window ? 0 : unseen);
    return b_.constant(floats({1, heads * own_rows_, own_rows_}), values);
  }

  /// Cosines and sines, of each base.
  std::vector<Operand> angles() {
    const auto read = b_.input(port::angles, angles_descriptor(s_, rows_));
    return b_.split(read, static_cast<std::uint32_t>(2 * s_.bases.size()), 0);
  }

  /// [rows, n, features] to [n, rows, features]
  Operand by_head(const Operand& x) { return b_.transpose(x, {.permutation = {{1, 0, 2}}}); }

  /// The cached keys or values of a chat: [groups, context, features]. The runtime makes one step
  /// of the cast and the attention.
  Operand cached(std::uint32_t chat, std::uint32_t i) {
    const Shape size{1, s_.groups, context_, s_.features};
    const auto part = b_.slice(caches_[chat], {.starts = {i, 0, 0, 0}, .sizes = size});
    const auto own = b_.reshape(part, {s_.groups, context_, s_.features});
    return cache_.type == DataType::float32 ? own : b_.cast(own, DataType::float32);
  }

  Operand scores(const Operand& queries, const Operand& keys, const Operand& mask) {
    const auto product = b_.matmul(queries, b_.transpose(keys, {.permutation = {{0, 2, 1}}}));
    const auto scale = 1 / std::sqrt(static_cast<double>(s_.features));
    return b_.add(b_.mul(product, number(scale)), mask);
  }

  /// The heads that share keys are rows of one matrix. Each chat has operators of the same shapes
  /// as alone.
  Operand attention(std::uint32_t layer, std::uint32_t chat, const Operand& queries,
                    const Operand& keys, const Operand& values) {
    const auto rows = s_.heads / s_.groups * own_rows_;
    const auto q = b_.reshape(by_head(queries), {s_.groups, rows, s_.features});
    const auto& mask = masks_[s_.has_window(layer) ? 1 : 0];
    const auto all = b_.concat(
        {scores(q, cached(chat, 2 * layer), mask.past[chat]), scores(q, by_head(keys), mask.own)},
        2);
    const auto parts = b_.split(b_.softmax(all, 2), {context_, own_rows_}, 2);
    const auto seen = b_.add(b_.matmul(parts[0], cached(chat, 2 * layer + 1)),
                             b_.matmul(parts[1], by_head(values)));
    const auto heads = b_.reshape(seen, {s_.heads, own_rows_, s_.features});
    return b_.reshape(by_head(heads), {own_rows_, s_.heads * s_.features});
  }

  /// Of all chats.
  Operand attention(std::uint32_t layer, const Operand& queries, const Operand& keys,
                    const Operand& values) {
    if (chats_ == 1) return attention(layer, 0, queries, keys, values);
    const auto q = b_.split(queries, chats_, 0), k = b_.split(keys, chats_, 0),
               v = b_.split(values, chats_, 0);
    std::vector<Operand> all;
    for (std::uint32_t chat = 0; chat < chats_; ++chat)
      all.push_back(attention(layer, chat, q[chat], k[chat], v[chat]));
    return b_.concat(all, 0);
  }

  /// Queries, then keys, rotated by the angles of their positions.
  Operand rotated(std::uint32_t layer, const std::vector<Operand>& halves) {
    const auto &a = halves[0], &b = halves[1];
    const std::size_t base = s_.has_window(layer) ? 2 : 0;
    const auto &cosines = angles_[base], &sines = angles_[base + 1];
    const auto first = b_.sub(b_.mul(a, cosines), b_.mul(b, sines));
    const auto second = b_.add(b_.mul(a, sines), b_.mul(b, cosines));
    return b_.concat({first, second}, 2);
  }

  /// Divides the halves of each head by the root mean square of both.
  std::vector<Operand> normalized_heads(const std::vector<Operand>& halves,
                                        const std::vector<float>& scale) {
    const auto square = [&](const Operand& x) { return b_.mul(x, x); };
    const auto sum = b_.reduce_sum(b_.add(square(halves[0]), square(halves[1])),
                                   {.axes = {{2}}, .keep_dimensions = true});
    const auto mean = b_.div(sum, number(s_.features));
    const auto root = b_.sqrt(b_.add(mean, number(s_.epsilon)));
    const Shape shape{2, 1, s_.heads + s_.groups, s_.features / 2};
    const auto scales = b_.split(b_.constant(floats(shape), scale), 2, 0);
    const auto scaled = [&](std::size_t i) {
      const Shape all_rows{1, s_.heads + s_.groups, s_.features / 2};
      return b_.mul(b_.div(halves[i], root), b_.reshape(scales[i], all_rows));
    };
    return {scaled(0), scaled(1)};
  }

  /// Adds what attention or feed-forward made to the residual stream.
  void add_part(const Operand& part, const std::vector<float>& norm) {
    x_ = b_.add(x_, norm.empty() ? part : normalized(part, norm));
  }

  /// GELU's approximation with tanh (Hendrycks, Gimpel, 2016) is x * sigmoid(2 * its argument).
  Operand gate(const Operand& x) {
    if (!s_.architecture.has_gelu) return b_.mul(x, b_.sigmoid(x));
    const auto factor = 2 * std::sqrt(2 / std::numbers::pi);
    const auto cubic = b_.mul(b_.mul(x, x), number(factor * 0.044715));
    return b_.mul(x, b_.sigmoid(b_.mul(x, b_.add(cubic, number(factor)))));
  }

  /// Adds a layer; of the last one only keys and values, if nobody needs more.
  void add_layer(std::uint32_t i, bool keys_and_values_only) {
    const auto& w = w_.layers[i];
    const auto half = (s_.heads + s_.groups) * (s_.features / 2), rest = s_.groups * s_.features;
    auto all = product(normalized(x_, w.attention_norm), w.attention);
    if (!w.attention_bias.empty())
      all = b_.add(all, b_.constant(floats({2 * half + rest}), w.attention_bias));
    const auto parts = b_.split(all, {half, half, rest}, 1);
    const Shape by_heads{rows_, s_.heads + s_.groups, s_.features / 2};
    std::vector<Operand> halves{b_.reshape(parts[0], by_heads), b_.reshape(parts[1], by_heads)};
    if (!w.heads_norm.empty()) halves = normalized_heads(halves, w.heads_norm);
    const auto turned = b_.split(rotated(i, halves), {s_.heads, s_.groups}, 1);
    const auto& keys = turned[1];
    const auto values = b_.reshape(parts[2], {rows_, s_.groups, s_.features});
    const Shape one{1, s_.groups, rows_, s_.features};
    new_rows_.push_back(b_.reshape(by_head(keys), one));
    new_rows_.push_back(b_.reshape(by_head(values), one));
    if (keys_and_values_only) return;
    add_part(product(attention(i, turned[0], keys, values), w.attention_output),
             w.attention_part_norm);
    const auto wide = b_.split(product(normalized(x_, w.feed_forward_norm), w.gate_and_up), 2, 1);
    add_part(product(b_.mul(gate(wide[0]), wide[1]), w.down), w.feed_forward_part_norm);
  }

  const DecoderSizes& s_;
  const DecoderWeights& w_;
  const std::uint32_t rows_, context_, chats_;
  const std::uint32_t own_rows_;  ///< of each chat
  const CacheSizes cache_;
  GraphBuilder b_;
  Operand x_;                          ///< the residual stream: [rows, width]
  const std::vector<Operand> caches_;  ///< of each chat
  const std::vector<Masks> masks_;
  const std::vector<Operand> angles_;  ///< cosines and sines: [rows, 1, features / 2]
  std::vector<Operand> new_rows_;
};

}  // namespace

OperandDescriptor angles_descriptor(const DecoderSizes& sizes, std::uint32_t rows) {
  const auto planes = static_cast<std::uint32_t>(2 * sizes.bases.size());
  return floats({planes * rows, 1, sizes.features / 2});
}

CacheSizes cache_sizes(const DecoderSizes& sizes, DataType type) {
  return {sizes.layers, sizes.groups, sizes.features, type};
}

Future<Graph> build_decoder(const Context& context, const DecoderSizes& sizes,
                            const DecoderWeights& weights, const NetworkShape& shape,
                            DataType cache_type, const std::string& label) {
  const BuildOptions options{.label = label};
  return Decoder(context, sizes, weights, shape, cache_type).build(options);
}

}  // namespace polychron::text::detail
