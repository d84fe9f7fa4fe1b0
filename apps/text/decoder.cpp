#include "apps/text/decoder.hpp"

#include <cmath>
#include <limits>
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
          const DecoderShape& shape)
      : s_(sizes),
        w_(weights),
        rows_(shape.rows),
        context_(shape.context),
        chats_(shape.chats),
        own_rows_(rows_ / chats_),
        b_(context),
        x_(b_.input(port::embedding, floats({rows_, s_.width}))),
        caches_(caches()),
        past_masks_(past_masks()),
        own_mask_(own_mask()),
        angles_(b_.split(b_.input(port::angles, floats({2 * rows_, 1, s_.features / 2})), 2, 0)) {}

  Future<Graph> build(const BuildOptions& options) {
    for (std::uint32_t i = 0; i < s_.layers; ++i) {
      const bool last = i + 1 == s_.layers;
      add_layer(i, last && own_rows_ > 1);
    }
    NamedOperands outputs{{port::rows, b_.concat(new_rows_, 0)}};
    if (own_rows_ == 1)
      outputs.emplace_back(port::logits, product(normalized(x_, w_.norm), w_.head));
    return b_.build(outputs, options);
  }

 private:
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
    const auto epsilon = b_.constant(DataType::float32, s_.epsilon);
    const auto root = b_.sqrt(b_.add(mean, epsilon));
    return b_.mul(b_.div(x, root), b_.constant(floats({s_.width}), scale));
  }

  std::vector<Operand> caches() {
    std::vector<Operand> all;
    for (std::uint32_t chat = 0; chat < chats_; ++chat)
      all.push_back(b_.input(port::cache(chat), cache_descriptor(s_, context_)));
    return all;
  }

  /// Of each chat 0 for places of the cache that hold a token: [1, 1, context].
  std::vector<Operand> past_masks() {
    std::vector<std::int32_t> places(context_);
    std::iota(places.begin(), places.end(), 0);
    const auto lengths = b_.input(port::length, {DataType::int32, {chats_}});
    const auto place = b_.constant({DataType::int32, {1, 1, context_}}, places);
    std::vector<Operand> all;
    for (std::uint32_t chat = 0; chat < chats_; ++chat) {
      const auto length = b_.slice(lengths, {.starts = {chat}, .sizes = {1}});
      all.push_back(b_.where(b_.lesser(place, length), b_.constant(DataType::float32, 0.0),
                             b_.constant(DataType::float32, static_cast<double>(unseen))));
    }
    return all;
  }

  /// 0 for new tokens up to the row's own: [1, heads of a group * rows, rows].
  Operand own_mask() {
    const auto heads = s_.heads / s_.groups;
    std::vector<float> values;
    for (std::uint32_t row = 0; row < heads * own_rows_; ++row)
      for (std::uint32_t column = 0; column < own_rows_; ++column)
        values.push_back(column <= row % own_rows_ ? 0 : unseen);
    return b_.constant(floats({1, heads * own_rows_, own_rows_}), values);
  }

  /// [rows, n, features] to [n, rows, features]
  Operand by_head(const Operand& x) { return b_.transpose(x, {.permutation = {{1, 0, 2}}}); }

  /// The cached keys or values of a chat: [groups, context, features].
  Operand cached(std::uint32_t chat, std::uint32_t i) {
    const Shape size{1, s_.groups, context_, s_.features};
    const auto part = b_.slice(caches_[chat], {.starts = {i, 0, 0, 0}, .sizes = size});
    return b_.reshape(part, {s_.groups, context_, s_.features});
  }

  Operand scores(const Operand& queries, const Operand& keys, const Operand& mask) {
    const auto product = b_.matmul(queries, b_.transpose(keys, {.permutation = {{0, 2, 1}}}));
    const auto scale = 1 / std::sqrt(static_cast<double>(s_.features));
    return b_.add(b_.mul(product, b_.constant(DataType::float32, scale)), mask);
  }

  /// The heads that share keys are rows of one matrix. Each chat has operators of the same shapes
  /// as alone.
  Operand attention(std::uint32_t layer, std::uint32_t chat, const Operand& queries,
                    const Operand& keys, const Operand& values) {
    const auto rows = s_.heads / s_.groups * own_rows_;
    const auto q = b_.reshape(by_head(queries), {s_.groups, rows, s_.features});
    const auto all = b_.concat({scores(q, cached(chat, 2 * layer), past_masks_[chat]),
                                scores(q, by_head(keys), own_mask_)},
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
  Operand rotated(const Operand& first_half, const Operand& second_half) {
    const Shape halves{rows_, s_.heads + s_.groups, s_.features / 2};
    const auto a = b_.reshape(first_half, halves), b = b_.reshape(second_half, halves);
    const auto &cosines = angles_[0], &sines = angles_[1];
    const auto first = b_.sub(b_.mul(a, cosines), b_.mul(b, sines));
    const auto second = b_.add(b_.mul(a, sines), b_.mul(b, cosines));
    return b_.concat({first, second}, 2);
  }

  /// Adds a layer; of the last one only keys and values, if nobody needs more.
  void add_layer(std::uint32_t i, bool keys_and_values_only) {
    const auto& w = w_.layers[i];
    const auto half = (s_.heads + s_.groups) * (s_.features / 2);
    const auto parts = b_.split(product(normalized(x_, w.attention_norm), w.attention),
                                {half, half, s_.groups * s_.features}, 1);
    const auto turned = b_.split(rotated(parts[0], parts[1]), {s_.heads, s_.groups}, 1);
    const auto& keys = turned[1];
    const auto values = b_.reshape(parts[2], {rows_, s_.groups, s_.features});
    const Shape one{1, s_.groups, rows_, s_.features};
    new_rows_.push_back(b_.reshape(by_head(keys), one));
    new_rows_.push_back(b_.reshape(by_head(values), one));
    if (keys_and_values_only) return;
    x_ = b_.add(x_, product(attention(i, turned[0], keys, values), w.attention_output));
    const auto wide = b_.split(product(normalized(x_, w.feed_forward_norm), w.gate_and_up), 2, 1);
    const auto gate = b_.mul(wide[0], b_.sigmoid(wide[0]));
    x_ = b_.add(x_, product(b_.mul(gate, wide[1]), w.down));
  }

  const DecoderSizes& s_;
  const DecoderWeights& w_;
  const std::uint32_t rows_, context_, chats_;
  const std::uint32_t own_rows_;  ///< of each chat
  GraphBuilder b_;
  Operand x_;                                       ///< the residual stream: [rows, width]
  const std::vector<Operand> caches_, past_masks_;  ///< of each chat
  const Operand own_mask_;
  const std::vector<Operand> angles_;  ///< cosines and sines: [rows, 1, features / 2]
  std::vector<Operand> new_rows_;
};

}  // namespace

OperandDescriptor cache_descriptor(const DecoderSizes& sizes, std::uint32_t tokens) {
  return floats({2 * sizes.layers, sizes.groups, tokens, sizes.features});
}

Future<Graph> build_decoder(const Context& context, const DecoderSizes& sizes,
                            const DecoderWeights& weights, const DecoderShape& shape,
                            const std::string& label) {
  const BuildOptions options{.label = label};
  return Decoder(context, sizes, weights, shape).build(options);
}

}  // namespace polychron::text::detail
