#include "apps/text/weights.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "apps/text/problem.hpp"
#include "polychron/invariant.hpp"

namespace polychron::text::detail {

namespace {

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
  /// The rows of `parts` as constants. `order` calls add(part, row) for each of them.
  template <class F>
  MatrixWeights constant(const std::string& label, const std::vector<PackedMatrix>& parts,
                         const F& order) {
    std::uint32_t rows = 0;
    for (const auto& part : parts) rows += part.rows();
    const auto columns = parts.front().columns();
    const auto packs = [](const PackedMatrix& part) { return part.type().part != 0; };
    if (std::ranges::all_of(parts, packs)) return integers(label, parts, rows, order);
    const OperandDescriptor descriptor{DataType::float32, {rows, columns}};
    auto floats = buffer_of(descriptor, label);
    auto left = floats.as<float>();
    order([&](const PackedMatrix& from, std::uint32_t row) {
      from.row(row, left.first(columns));
      left = left.subspan(columns);
    });
    check_invariant(left.empty(), "every row of a constant is filled");
    return {created(descriptor, std::move(floats), label), {}, {}};
  }
  /// Matrices, one below the other.
  MatrixWeights stacked(const std::vector<std::string>& names, std::uint32_t rows,
                        std::uint32_t columns) {
    std::vector<PackedMatrix> parts;
    for (const auto& name : names) parts.push_back(matrix(name, rows, columns));
    return constant(names.front(), parts, [&](auto&& add) {
      for (const auto& part : parts)
        for (std::uint32_t i = 0; i < rows; ++i) add(part, i);
    });
  }

  void check_all_read() const {
    for (const auto& [name, tensor] : file_.header().tensors)
      if (!read_.contains(name)) unsupported("the tensor " + quote(name) + " in this architecture");
  }

 private:
  /// Blocks of all parts are as small as the smallest. Strict contexts have no integers of 4 bits.
  template <class F>
  MatrixWeights integers(const std::string& label, const std::vector<PackedMatrix>& parts,
                         std::uint32_t rows, const F& order) {
    const auto columns = parts.front().columns();
    const auto& types = context_.op_support_limits().constant.data_types;
    bool four_bits = std::ranges::find(types, DataType::uint4) != types.end();
    std::size_t block = parts.front().type().part;
    for (const auto& part : parts) {
      four_bits = four_bits && part.type().four_bits;
      block = std::min(block, part.type().part);
    }
    const auto blocks = static_cast<std::uint32_t>(columns / block);
    const OperandDescriptor elements{four_bits ? DataType::uint4 : DataType::int8,
                                     {rows, blocks, static_cast<std::uint32_t>(block)}};
    const OperandDescriptor numbers{DataType::float32, {rows, blocks, 1}};
    auto bytes = buffer_of(elements, label), scales = buffer_of(numbers, label),
         minima = buffer_of(numbers, label);
    auto* to = bytes.as<std::int8_t>().data();
    auto *scale = scales.as<float>().data(), *minimum = minima.as<float>().data();
    std::vector<std::int8_t> row(columns);
    std::vector<PartNumbers> own;
    std::uint32_t filled = 0;
    order([&](const PackedMatrix& from, std::uint32_t i) {
      const auto part = from.type().part;
      own.resize(columns / part);
      from.row(i, row, own);
      for (std::uint32_t b = 0; b < blocks; ++b) {
        *scale++ = own[b * block / part].scale;
        *minimum++ = own[b * block / part].minimum;
      }
      if (four_bits)
        for (std::size_t k = 0; k < columns; k += 2)
          *to++ = static_cast<std::int8_t>(row[k] | row[k + 1] << 4);
      else
        to = std::ranges::copy(row, to).out;
      ++filled;
    });
    check_invariant(filled == rows, "every row of a constant is filled");
    const auto all = std::as_const(minima).as<float>();
    const bool has_minima = std::ranges::any_of(all, [](float x) { return x != 0; });
    MatrixWeights made{created(elements, std::move(bytes), label),
                       created(numbers, std::move(scales), label + " scales"),
                       {}};
    if (has_minima) made.minima = created(numbers, std::move(minima), label + " minima");
    return made;
  }
  static Buffer buffer_of(const OperandDescriptor& descriptor, const std::string& label) {
    const auto bytes = byte_length(descriptor);
    if (!bytes || *bytes > max_tensor_byte_length)
      unsupported("weights of " + to_string(descriptor) + " for '" + label + "'");
    return Buffer::uninitialized(static_cast<std::size_t>(*bytes));
  }
  Tensor created(const OperandDescriptor& descriptor, Buffer bytes, const std::string& label) {
    return context_.create_constant_tensor(descriptor, std::move(bytes), label).get();
  }

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

/// Calls f(part, row) for the rows of queries, keys and values in the order of
/// LayerWeights::attention. In files of llama the two features that rotate together are neighbours.
template <class F>
void each_attention_row(const DecoderSizes& s, F&& f) {
  const std::uint32_t half = s.features / 2, sizes[] = {s.heads, s.groups, s.groups};
  const bool halves = s.architecture.rotates_halves;
  for (const std::uint32_t second : {0U, 1U})
    for (const std::size_t part : {0U, 1U})
      for (std::uint32_t head = 0; head < sizes[part]; ++head)
        for (std::uint32_t i = 0; i < half; ++i)
          f(part, head * s.features + (halves ? second * half + i : 2 * i + second));
  for (std::uint32_t row = 0; row < sizes[2] * s.features; ++row) f(std::size_t{2}, row);
}

void read_attention(Reader& in, const std::string& layer, const DecoderSizes& s, LayerWeights& w) {
  const std::string names[] = {layer + "attn_q", layer + "attn_k", layer + "attn_v"};
  const std::uint32_t rows[] = {s.heads * s.features, s.groups * s.features, s.groups * s.features};
  std::vector<PackedMatrix> parts;
  std::vector<std::vector<float>> biases, norms;
  for (const std::size_t i : {0U, 1U, 2U}) {
    parts.push_back(in.matrix(names[i] + ".weight", rows[i], s.width));
    if (s.architecture.has_biases) biases.push_back(in.vector(names[i] + ".bias", rows[i]));
    if (s.architecture.normalizes_heads && i < 2)
      norms.push_back(in.vector(names[i] + "_norm.weight", s.features));
  }
  w.attention = in.constant(layer + "attention", parts, [&](auto&& add) {
    each_attention_row(s, [&](std::size_t part, std::uint32_t row) { add(parts[part], row); });
  });
  each_attention_row(s, [&](std::size_t part, std::uint32_t row) {
    if (!biases.empty()) w.attention_bias.push_back(biases[part][row]);
    if (part < norms.size()) w.heads_norm.push_back(norms[part][row % s.features]);
  });
}

LayerWeights read_layer(Reader& in, std::uint32_t i, const DecoderSizes& s) {
  const auto layer = "blk." + std::to_string(i) + ".";
  LayerWeights w;
  w.attention_norm = in.vector(layer + "attn_norm.weight", s.width);
  w.feed_forward_norm = in.vector(layer + "ffn_norm.weight", s.width);
  if (s.architecture.normalizes_parts) {
    w.attention_part_norm = in.vector(layer + "post_attention_norm.weight", s.width);
    w.feed_forward_part_norm = in.vector(layer + "post_ffw_norm.weight", s.width);
  }
  read_attention(in, layer, s, w);
  w.attention_output = in.stacked({layer + "attn_output.weight"}, s.width, s.heads * s.features);
  w.gate_and_up =
      in.stacked({layer + "ffn_gate.weight", layer + "ffn_up.weight"}, s.hidden, s.width);
  w.down = in.stacked({layer + "ffn_down.weight"}, s.width, s.hidden);
  return w;
}

}  // namespace

PackedMatrix::PackedMatrix(const GgufTensor& tensor, Buffer bytes)
    : type_(tensor.type),
      bytes_(std::move(bytes)),
      rows_(tensor.dimensions.at(1)),
      columns_(tensor.dimensions.at(0)) {}

std::span<const std::byte> PackedMatrix::row_bytes(std::uint32_t i) const {
  check_invariant(i < rows_, "a row is one of the matrix");
  const auto length = std::size_t{columns_} / type_->weights * type_->bytes;
  return bytes_.bytes().subspan(i * length, length);
}

void PackedMatrix::row(std::uint32_t i, std::span<float> to) const {
  check_invariant(to.size() == columns_, "a row has its matrix's columns");
  expand(*type_, row_bytes(i), to);
}

void PackedMatrix::row(std::uint32_t i, std::span<std::int8_t> integers,
                       std::span<PartNumbers> parts) const {
  check_invariant(integers.size() == columns_, "a row has its matrix's columns");
  split(*type_, row_bytes(i), integers, parts);
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
