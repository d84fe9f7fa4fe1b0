// The network of an exported language model: its past keys and values are inputs, and the present
// ones outputs. The graph puts the model between the ports of a step.
#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "apps/text/network.hpp"
#include "apps/text/problem.hpp"
#include "apps/text/side_files.hpp"
#include "polychron/graph_builder.hpp"
#include "polychron/onnx.hpp"

namespace polychron::text::detail {

namespace {

constexpr const char* tokens_port = "tokens";  // in: int32 [1, rows]
constexpr std::uint32_t most_layers = 1024;

using onnx::ValueInfo;

const ValueInfo* find(const std::vector<ValueInfo>& values, std::string_view name) {
  const auto found = std::ranges::find(values, name, &ValueInfo::name);
  return found == values.end() ? nullptr : &*found;
}

std::string past_name(std::uint32_t i) {
  return "past_key_values." + std::to_string(i / 2) + (i % 2 == 0 ? ".key" : ".value");
}
std::string present_name(std::uint32_t i) {
  return "present." + std::to_string(i / 2) + (i % 2 == 0 ? ".key" : ".value");
}

class OnnxNetwork final : public Network {
 public:
  OnnxNetwork(onnx::Model model, std::size_t tokens, std::optional<DataType> cache_type)
      : model_(std::move(model)),
        tokens_(static_cast<std::uint32_t>(tokens)),
        past_(sizes_of(model_->summary())),
        cache_(past_) {
    if (cache_type) cache_.type = *cache_type;
    check_inputs(model_->summary());
    check_outputs(model_->summary());
  }

  CacheSizes cache() const override { return cache_; }
  bool joins_chats() const override { return false; }
  void drop_weights() override { model_.reset(); }
  void write(Context context, const NamedTensors& inputs,
             std::span<const StepRow> rows) const override {
    std::vector<std::int32_t> tokens;
    for (const auto& row : rows) tokens.push_back(static_cast<std::int32_t>(row.token));
    for (const auto& [name, tensor] : inputs)
      if (name == tokens_port) context.write_tensor(tensor, tokens);
  }

  Future<Graph> build(const Context& context, const NetworkShape& shape,
                      const std::string& label) const override {
    GraphBuilder b(context);
    const auto given = import(b, shape);
    const auto output = [&](const std::string& name) {
      return std::ranges::find(given, name, &NamedOperands::value_type::first)->second;
    };
    std::vector<Operand> rows;
    for (std::uint32_t i = 0; i < 2 * cache_.layers; ++i)
      rows.push_back(new_rows(b, output(present_name(i)), shape));
    NamedOperands outputs{{port::rows, as_type(b, b.concat(rows, 0), cache_.type)}};
    if (shape.rows == 1) outputs.emplace_back(port::logits, logits(b, output("logits")));
    return b.build(outputs, {.label = label});
  }

 private:
  static CacheSizes sizes_of(const onnx::Summary& summary) {
    const auto* const first = find(summary.inputs, past_name(0));
    if (first == nullptr)
      unsupported("a model without the input " + quote(past_name(0)) +
                  ": expected a language model that was exported with past keys and values");
    CacheSizes sizes{.layers = 0, .groups = 0, .features = 0};
    for (; find(summary.inputs, past_name(2 * sizes.layers)) != nullptr; ++sizes.layers)
      if (sizes.layers == most_layers) unsupported("more than 1024 layers");
    const auto size = [&](std::size_t axis) {
      return first->dimensions && first->dimensions->size() == 4
                 ? (*first->dimensions)[axis].value.value_or(0)
                 : 0;
    };
    sizes.groups = size(1);
    sizes.features = size(3);
    if (sizes.groups == 0 || sizes.features == 0)
      unsupported("the input " + quote(past_name(0)) + " of type " + quote(to_string(*first)) +
                  ": expected [batch, heads, past, features], heads and features as numbers");
    sizes.type = first->data_type.value_or(DataType::float32);
    if (sizes.type != DataType::float32 && sizes.type != DataType::float16)
      unsupported("keys of type " + quote(first->type));
    return sizes;
  }

  void check_inputs(const onnx::Summary& summary) const {
    std::vector<std::string> known{"input_ids", "attention_mask", "position_ids",
                                   "num_logits_to_keep"};
    for (std::uint32_t i = 0; i < 2 * cache_.layers; ++i) known.push_back(past_name(i));
    for (const auto& input : summary.inputs)
      if (std::ranges::find(known, input.name) == known.end())
        unsupported("the input " + quote(input.name) + " of a language model");
    if (find(summary.inputs, "input_ids") == nullptr)
      unsupported("a language model without the input 'input_ids'");
    // Otherwise the model takes positions from the past's length, which is that of the context.
    const auto is_grouped = [](const auto& each) { return each.name == "GroupQueryAttention"; };
    if (find(summary.inputs, "position_ids") == nullptr &&
        std::ranges::none_of(summary.operators, is_grouped))
      unsupported("a language model without the input 'position_ids' or GroupQueryAttention");
  }

  void check_outputs(const onnx::Summary& summary) const {
    std::vector<std::string> expected{"logits"};
    for (std::uint32_t i = 0; i < 2 * cache_.layers; ++i) expected.push_back(present_name(i));
    for (const auto& name : expected)
      if (find(summary.outputs, name) == nullptr)
        unsupported("a language model without the output " + quote(name));
  }

  /// The model's outputs. Its past is the whole cache, of which the mask tells the tokens; the new
  /// ones come behind it.
  NamedOperands import(GraphBuilder& b, const NetworkShape& shape) const {
    const auto& inputs = model_->summary().inputs;
    onnx::ImportOptions options;
    options.only_new_steps = true;
    const auto give = [&](const char* name, const auto& make) {
      const auto* const input = find(inputs, name);
      if (input != nullptr && input->data_type)
        options.operands.emplace(name, b.cast(make(), *input->data_type));
    };
    const auto row = [&](std::uint32_t count) { return Shape{1, count}; };
    const auto length = b.input(port::length, {DataType::int32, {1}});
    give("input_ids", [&] { return b.input(tokens_port, {DataType::int32, row(shape.rows)}); });
    give("position_ids", [&] {
      // Superfluous rows at the end of the context have no position of their own.
      const auto last = static_cast<std::int32_t>(shape.context) - 1;
      return b.min(b.add(length, places(b, shape.rows)), b.constant(DataType::int32, last));
    });
    give("attention_mask", [&] {
      const auto one = b.constant(DataType::int32, 1);
      const auto is_known = b.cast(b.lesser(places(b, shape.context), length), DataType::int32);
      return b.concat({is_known, b.expand(one, row(shape.rows))}, 1);
    });
    if (const auto* const count = find(inputs, "num_logits_to_keep"))
      options.constants.emplace(count->name, one_value(*count));
    const auto cache = b.input(port::cache(0), cache_descriptor(cache_, shape.context));
    const Shape size{1, cache_.groups, shape.context, cache_.features};
    for (std::uint32_t i = 0; i < 2 * cache_.layers; ++i)
      options.operands.emplace(
          past_name(i),
          as_type(b, b.slice(cache, {.starts = {i, 0, 0, 0}, .sizes = size}), past_.type));
    return onnx::import_model(*model_, b, options);
  }

  static onnx::TensorValue one_value(const ValueInfo& input) {
    const auto rank = input.dimensions ? input.dimensions->size() : 0;
    auto bytes = Buffer(sizeof(std::int64_t));
    bytes.as<std::int64_t>()[0] = 1;
    return onnx::make_value({DataType::int64, Shape(rank, 1)}, std::move(bytes));
  }

  static Operand as_type(GraphBuilder& b, const Operand& x, DataType type) {
    return x.data_type() == type ? x : b.cast(x, type);
  }

  /// 0, 1, 2, ...: [1, count]
  static Operand places(GraphBuilder& b, std::uint32_t count) {
    std::vector<std::int32_t> values(count);
    std::iota(values.begin(), values.end(), 0);
    return b.constant({DataType::int32, {1, count}}, values);
  }

  /// Attention of ONNX Runtime gives the new rows alone. Others put the past in front of them.
  Operand new_rows(GraphBuilder& b, const Operand& present, const NetworkShape& shape) const {
    const Shape alone{1, cache_.groups, shape.rows, cache_.features};
    auto whole = alone;
    whole[2] += shape.context;
    if (present.data_type() == past_.type && present.shape() == alone) return present;
    if (present.data_type() != past_.type || present.shape() != whole)
      unsupported("present keys or values " + to_string(present.descriptor()) + ": expected " +
                  to_string(OperandDescriptor{past_.type, whole}));
    return b.slice(present, {.starts = {0, 0, shape.context, 0}, .sizes = alone});
  }

  /// Of the one row: [1, tokens]. Models may have more logits than there are tokens.
  Operand logits(GraphBuilder& b, const Operand& made) const {
    const auto& shape = made.shape();
    if (shape.size() != 3 || shape[0] != 1 || shape[1] != 1 || shape[2] < tokens_)
      unsupported("logits of shape " + to_string(shape) + " for " + std::to_string(tokens_) +
                  " tokens");
    const auto real = b.cast(made, DataType::float32);
    const auto known = b.slice(real, {.starts = {0, 0, 0}, .sizes = {1, 1, tokens_}});
    return b.reshape(known, {1, tokens_});
  }

  std::optional<onnx::Model> model_;
  const std::uint32_t tokens_;
  const CacheSizes past_;  ///< as the model has it
  CacheSizes cache_;       ///< with the type that is asked for
};

}  // namespace

bool is_folder(const std::filesystem::path& path) {
  std::error_code failed;
  return std::filesystem::is_directory(path, failed);
}

ModelFiles read_onnx_model(const std::filesystem::path& path, std::optional<DataType> cache_type) {
  const auto file = is_folder(path) ? path / "model.onnx" : path;
  const auto side = read_side_files(file.parent_path());
  Tokenizer tokenizer(side.metadata, side.ends);
  const auto chat = chat_template(side.metadata, tokenizer);
  auto network = std::make_unique<OnnxNetwork>(onnx::load(file), tokenizer.size(), cache_type);
  return {std::move(tokenizer), chat, side.context_length, std::move(network)};
}

}  // namespace polychron::text::detail
