#include "apps/text/weights.hpp"

#include <set>
#include <utility>

#include "apps/text/problem.hpp"
#include "polychron/invariant.hpp"

namespace polychron::text::detail {

namespace {

constexpr std::uint32_t most_of_a_size = 1U << 20U;  // of any size, so that products fit

/// Reads tensors by name, and knows which it has read.
class Reader {
 public:
  Reader(const GgufFile& file, Context context) : file_(file), context_(std::move(context)) {}

  bool has(const std::string& name) const { return file_.header().tensors.contains(name); }

  PackedMatrix matrix(const std::string& name, std::uint32_t rows, std::uint32_t columns) {
    return {tensor(name, {columns, rows}), file_.read(file_.header().tensor(name))};
  }
  std::vector<float> vector(const std::string& name, std::uint32_t length) {
    const auto& found = tensor(name, {length});
    std::vector<float> values(length);
    expand(*found.type, std::as_const(bytes_ = file_.read(found)).bytes(), values);
    return values;
  }
  /// A constant of rows that `fill` expands, one after the other.
  template <class F>
  Tensor constant(const std::string& label, std::uint32_t rows, std::uint32_t columns, F&& fill) {
    const OperandDescriptor descriptor{DataType::float32, {rows, columns}};
    const auto bytes = byte_length(descriptor);
    if (!bytes || *bytes > max_tensor_byte_length)
      unsupported("weights of " + to_string(descriptor) + " for '" + label + "'");
    auto buffer = Buffer::uninitialized(static_cast<std::size_t>(*bytes));
    auto left = buffer.as<float>();
    fill([&](const PackedMatrix& from, std::uint32_t row) {
      from.row(row, left.first(columns));
      left = left.subspan(columns);
    });
    check_invariant(left.empty(), "every row of a constant is filled");
    return context_.create_constant_tensor(descriptor, std::move(buffer), label).get();
  }
  /// Matrices, one below the other.
  Tensor stacked(const std::vector<std::string>& names, std::uint32_t rows, std::uint32_t columns) {
    const auto count = static_cast<std::uint32_t>(names.size());
    return constant(names.front(), count * rows, columns, [&](auto&& add) {
      for (const auto& name : names) {
        const auto part = matrix(name, rows, columns);
        for (std::uint32_t i = 0; i < rows; ++i) add(part, i);
      }
    });
  }

  void check_all_read() const {
    for (const auto& [name, tensor] : file_.header().tensors)
      if (!read_.contains(name)) unsupported("the tensor " + quote(name) + " in this architecture");
  }

 private:
  const GgufTensor& tensor(const std::string& name, const std::vector<std::uint32_t>& expected) {
    const auto& found = file_.header().tensor(name);
    if (found.dimensions != expected)
      malformed("tensor " + quote(name) + ": expected " + to_string(expected) + ", got " +
                to_string(found.dimensions));
    read_.insert(name);
    return found;
  }

  const GgufFile& file_;
  Context context_;
  Buffer bytes_;
  std::set<std::string> read_;
};

/// llama's converter puts the two features that rotate together side by side; the first of each
/// pair becomes part of the first half.
Tensor read_attention(Reader& in, const std::string& layer, const DecoderSizes& s) {
  const auto queries = in.matrix(layer + "attn_q.weight", s.heads * s.features, s.width);
  const auto keys = in.matrix(layer + "attn_k.weight", s.groups * s.features, s.width);
  const auto values = in.matrix(layer + "attn_v.weight", s.groups * s.features, s.width);
  const auto rows = queries.rows() + keys.rows() + values.rows();
  return in.constant(layer + "attention", rows, s.width, [&](auto&& add) {
    for (const std::uint32_t half : {0U, 1U})
      for (const auto* part : {&queries, &keys})
        for (std::uint32_t row = half; row < part->rows(); row += 2) add(*part, row);
    for (std::uint32_t row = 0; row < values.rows(); ++row) add(values, row);
  });
}

LayerWeights read_layer(Reader& in, std::uint32_t i, const DecoderSizes& s) {
  const auto layer = "blk." + std::to_string(i) + ".";
  LayerWeights w;
  w.attention_norm = in.vector(layer + "attn_norm.weight", s.width);
  w.feed_forward_norm = in.vector(layer + "ffn_norm.weight", s.width);
  w.attention = read_attention(in, layer, s);
  w.attention_output = in.stacked({layer + "attn_output.weight"}, s.width, s.heads * s.features);
  w.gate_and_up =
      in.stacked({layer + "ffn_gate.weight", layer + "ffn_up.weight"}, s.hidden, s.width);
  w.down = in.stacked({layer + "ffn_down.weight"}, s.width, s.hidden);
  return w;
}

/// Refuses a key with another value than the one that this decoder computes with.
void refuse_other(const Gguf& gguf, const std::string& key, std::uint32_t expected) {
  const auto* const value = gguf.find<std::int64_t>(key);
  if (value != nullptr && *value != expected)
    unsupported(quote(key) + " of " + std::to_string(*value) + " where heads have " +
                std::to_string(expected) + " features");
}

}  // namespace

DecoderSizes::DecoderSizes(const Gguf& gguf) {
  const auto& architecture = gguf.get<std::string>("general.architecture");
  if (architecture != "llama") unsupported("the architecture " + quote(architecture));
  const auto count = [&](const char* key) {
    return gguf.count(std::string("llama.") + key, most_of_a_size);
  };
  layers = count("block_count");
  width = count("embedding_length");
  hidden = count("feed_forward_length");
  context = count("context_length");
  heads = count("attention.head_count");
  groups = gguf.metadata.contains("llama.attention.head_count_kv")
               ? count("attention.head_count_kv")
               : heads;
  if (width % heads != 0 || heads % groups != 0 || width / heads % 2 != 0)
    malformed(std::to_string(heads) + " heads of queries and " + std::to_string(groups) +
              " of keys for a width of " + std::to_string(width));
  features = width / heads;
  epsilon = gguf.get<double>("llama.attention.layer_norm_rms_epsilon");
  const auto* const given = gguf.find<double>("llama.rope.freq_base");
  base = given == nullptr ? 10000 : *given;
  if (!(epsilon >= 0 && epsilon < 1) || !(base > 0)) malformed("an epsilon or base out of range");
  for (const char* key :
       {"llama.rope.dimension_count", "llama.attention.key_length", "llama.attention.value_length"})
    refuse_other(gguf, key, features);
  const auto* const scaling = gguf.find<std::string>("llama.rope.scaling.type");
  if (scaling != nullptr && *scaling != "none") unsupported("angles scaled by " + quote(*scaling));
}

PackedMatrix::PackedMatrix(const GgufTensor& tensor, Buffer bytes)
    : type_(tensor.type),
      bytes_(std::move(bytes)),
      rows_(tensor.dimensions.at(1)),
      columns_(tensor.dimensions.at(0)) {}

void PackedMatrix::row(std::uint32_t i, std::span<float> to) const {
  check_invariant(i < rows_ && to.size() == columns_, "a row is one of the matrix");
  const auto length = std::size_t{columns_} / type_->weights * type_->bytes;
  expand(*type_, bytes_.bytes().subspan(i * length, length), to);
}

DecoderWeights read_weights(const GgufFile& file, const DecoderSizes& sizes,
                            const Context& context) {
  Reader in(file, context);
  const auto tokens = file.header().get<std::vector<std::string>>("tokenizer.ggml.tokens").size();
  const auto vocabulary = static_cast<std::uint32_t>(tokens);
  DecoderWeights all;
  all.embedding = in.matrix("token_embd.weight", vocabulary, sizes.width);
  all.norm = in.vector("output_norm.weight", sizes.width);
  for (std::uint32_t i = 0; i < sizes.layers; ++i) all.layers.push_back(read_layer(in, i, sizes));
  const std::string own_head = "output.weight";
  all.head =
      in.stacked({in.has(own_head) ? own_head : "token_embd.weight"}, vocabulary, sizes.width);
  in.check_all_read();
  return all;
}

}  // namespace polychron::text::detail
