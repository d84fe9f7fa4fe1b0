// Joins a convolution of 8-bit integers with a constant filter into one step. Importers write two
// patterns:
//  - sum over parts of cast(int32, conv2d(channels of a, part of b)), where a and b are differences
//    of 8-bit integers in float32; parts of the filter keep sums exact. The pass computes the parts
//    and adds them up as one filter, however they were cut.
//  - conv2d(dequantizeLinear(a), dequantizeLinear(b)), the form of models that were trained for
//    quantization. Sums become exact and are multiplied with both scales.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "kernels/cpu/passes/integer_difference.hpp"
#include "kernels/cpu/passes/passes.hpp"
#include "kernels/integer_convolution.hpp"

namespace polychron::kernels {
namespace {

using ops::op;
using ops::ValueId;

/// Channels of each group of `whole`, from `begin` on.
struct Channels {
  ValueId whole;
  std::uint32_t begin = 0;
};

class ConvolutionRecogniser {
 public:
  explicit ConvolutionRecogniser(PlanGraph& graph)
      : graph_(graph), match_(graph), bytes_(most_bytes_added(graph)) {}

  void run() {
    // The last node of a sum comes first.
    for (std::size_t i = graph_.nodes.size(); i-- > 0;) {
      const PlanNode& node = graph_.nodes[i];
      if (node.removed) continue;
      parts_.clear();
      if (node.op == op("conv2d")) {
        if (auto convolution = dequantized(node)) put(i, *std::move(convolution));
      } else if (node.op == op("add") || node.op == op("cast")) {
        if (auto convolution = sum_of(node)) replace(i, *std::move(convolution));
      }
    }
    graph_.sweep();
  }

 private:
  const Shape& shape(ValueId value) const { return match_.descriptor(value).shape; }
  DataType type(ValueId value) const { return match_.descriptor(value).data_type; }
  ops::ConstantBytes known(ValueId value) { return folded(graph_, match_.uses(), value, bytes_); }
  template <class T>
  std::span<const T> numbers(ValueId value) {
    const auto bytes = known(value);
    if (!bytes) return {};
    return {reinterpret_cast<const T*>(bytes->data()), bytes->size() / sizeof(T)};
  }

  // -- sums of parts ------------------------------------------------------------------------------

  /// The convolution whose sum ends in `last`. Its nodes, which nobody else reads, are `parts_`.
  std::optional<PlanNode> sum_of(const PlanNode& last) {
    if (type(last.outputs[0]) != DataType::int32) return std::nullopt;
    PlanNode made = convolution_node(last);
    const PlanNode* node = &last;
    if (node->op == op("add") && match_.made_by(node->inputs[1], op("cast")) == nullptr) {
      made.inputs[3] = node->inputs[1];
      take(*node);
      node = next_part(node->inputs[0]);
    }
    ValueId whole = ops::no_value;
    Shape window;
    std::vector<std::int32_t> weights;
    for (bool ends = false; !ends;) {
      if (node == nullptr) return std::nullopt;
      ends = node->op == op("cast");
      const PlanNode* const cast = ends ? node : match_.only_made_by(node->inputs[1], op("cast"));
      if (cast == nullptr || type(cast->outputs[0]) != DataType::int32) return std::nullopt;
      const PlanNode* const part = match_.only_made_by(cast->inputs[0], op("conv2d"));
      if (part == nullptr || !is_plain(*part)) return std::nullopt;
      const auto& a = std::get<Conv2dAttributes>(part->attributes);
      const auto channels = channels_of(part->inputs[0], a.groups);
      if (!channels) return std::nullopt;
      if (whole == ops::no_value) {
        whole = channels->whole;
        made.attributes = a;
        window = shape(part->inputs[1]);
        window[1] = shape(whole)[1] / a.groups;
        weights.assign(*element_count(window), 0);
      }
      if (channels->whole != whole || !is_same(std::get<Conv2dAttributes>(made.attributes), a))
        return std::nullopt;
      if (!add_part(part->inputs[1], channels->begin, window, weights)) return std::nullopt;
      if (!ends) take(*node);
      take(*cast), take(*part);
      if (!ends) node = next_part(node->inputs[0]);
    }
    const auto difference = difference_of(match_, whole);
    if (!difference || graph_.is_constant(difference->elements)) return std::nullopt;
    made.inputs[0] = difference->elements;
    made.inputs[2] = match_.source_of(difference->zero);
    return with_filter(std::move(made), window, weights);
  }

  const PlanNode* next_part(ValueId rest) const {
    const PlanNode* const sum = match_.only_made_by(rest, op("add"));
    return sum != nullptr ? sum : match_.only_made_by(rest, op("cast"));
  }

  void take(const PlanNode& node) {
    parts_.push_back(static_cast<std::size_t>(&node - graph_.nodes.data()));
  }

  static bool is_plain(const PlanNode& node) {
    const auto& a = std::get<Conv2dAttributes>(node.attributes);
    return a.input_layout == InputOperandLayout::nchw &&
           a.filter_layout == Conv2dFilterOperandLayout::oihw;
  }

  static bool is_same(const Conv2dAttributes& a, const Conv2dAttributes& b) {
    return a.padding == b.padding && a.strides == b.strides && a.dilations == b.dilations &&
           a.groups == b.groups;
  }

  /// Reads slice(channels), or with groups reshape(slice(reshape(value to five dimensions))).
  std::optional<Channels> channels_of(ValueId value, std::uint32_t groups) const {
    const PlanNode* const joined = groups == 1 ? nullptr : match_.made_by(value, op("reshape"));
    const ValueId part = joined == nullptr ? value : joined->inputs[0];
    const PlanNode* const slice = match_.made_by(part, op("slice"));
    Channels channels{slice == nullptr ? part : slice->inputs[0]};
    const std::size_t axis = joined == nullptr ? 1 : 2;
    if (slice != nullptr) {
      const auto& a = std::get<SliceAttributes>(slice->attributes);
      const Shape& all = shape(channels.whole);
      for (std::size_t i = 0; i < all.size(); ++i)
        if ((a.strides && (*a.strides)[i] != 1) ||
            (i != axis && (a.starts[i] != 0 || a.sizes[i] != all[i])))
          return std::nullopt;
      channels.begin = a.starts[axis];
    }
    if (joined != nullptr) {
      const PlanNode* const split = match_.made_by(channels.whole, op("reshape"));
      const Shape& s = shape(value);
      if (split == nullptr) return std::nullopt;
      channels.whole = split->inputs[0];
      const Shape& all = shape(channels.whole);
      const Shape wanted{s[0], groups, all.size() == 4 ? all[1] / groups : 0, s[2], s[3]};
      if (shape(split->outputs[0]) != wanted || shape(part)[1] != groups) return std::nullopt;
    }
    if (shape(channels.whole).size() != 4 || (joined == nullptr && slice != nullptr && groups > 1))
      return std::nullopt;
    return channels;
  }

  /// Adds the filter `part` to `weights`, from a channel on.
  bool add_part(ValueId part, std::uint32_t begin, const Shape& window,
                std::vector<std::int32_t>& weights) {
    const Shape of = shape(part);
    if (of[0] != window[0] || begin + of[1] > window[1] || of[2] != window[2] || of[3] != window[3])
      return false;
    auto values = channels_of_filter(part);
    if (values.empty()) values = whole_numbers(part);
    if (values.empty()) return false;
    const std::size_t length = std::size_t{of[1]} * of[2] * of[3];  // of a filter
    const std::size_t first = std::size_t{begin} * of[2] * of[3];
    for (std::size_t i = 0; i < values.size(); ++i)
      weights[i / length * (weights.size() / window[0]) + first + i % length] += values[i];
    return true;
  }

  /// Reads slice(channels of a difference of constants) without computing it: in float32, large
  /// models' filters would not fit what a pass may add. Empty if `part` is something else.
  std::vector<std::int32_t> channels_of_filter(ValueId part) {
    const PlanNode* const slice = match_.made_by(part, op("slice"));
    const auto whole = difference_of(match_, slice == nullptr ? part : slice->inputs[0]);
    if (!whole || !graph_.is_constant(whole->elements)) return {};
    const Shape &all = shape(whole->elements), &of = shape(part);
    if (all.size() != of.size()) return {};
    std::uint32_t begin = 0;
    if (slice != nullptr) {
      const auto& a = std::get<SliceAttributes>(slice->attributes);
      begin = a.starts[1];
      const bool dense = !a.strides || std::ranges::count(*a.strides, 1U) == 4;
      if (!dense || all[0] != of[0] || all[2] != of[2] || all[3] != of[3]) return {};
    }
    const auto integers = integers_minus_zeros(whole->elements, whole->zero);
    const std::size_t length = std::size_t{of[1]} * of[2] * of[3];
    const std::size_t first = std::size_t{begin} * of[2] * of[3];
    std::vector<std::int32_t> taken;
    for (std::size_t i = 0; i < integers.size(); i += integers.size() / of[0]) {
      const auto from = integers.begin() + static_cast<std::ptrdiff_t>(i + first);
      taken.insert(taken.end(), from, from + static_cast<std::ptrdiff_t>(length));
    }
    return taken;
  }

  /// Empty if `value` is not known, or not of whole numbers of at most 255.
  std::vector<std::int32_t> whole_numbers(ValueId value) {
    std::vector<std::int32_t> whole;
    for (const float x : numbers<float>(value)) {
      if (!(std::abs(x) <= 255) || x != std::nearbyint(x)) return {};
      whole.push_back(static_cast<std::int32_t>(x));
    }
    return whole;
  }

  // -- dequantized operands -----------------------------------------------------------------------

  std::optional<PlanNode> dequantized(const PlanNode& node) {
    const PlanNode* const picture = match_.made_by(node.inputs[0], op("dequantizeLinear"));
    const PlanNode* const filter = match_.made_by(node.inputs[1], op("dequantizeLinear"));
    if (picture == nullptr || filter == nullptr || !is_plain(node) ||
        !match_.is_float32(node.outputs[0]) || !has_8_bits(type(filter->inputs[0])))
      return std::nullopt;
    const auto scale = numbers<float>(picture->inputs[1]),
               steps = numbers<float>(filter->inputs[1]);
    const Shape window = shape(filter->inputs[0]);
    if (scale.size() != 1 || steps.empty() || graph_.is_constant(picture->inputs[0]) ||
        (steps.size() != 1 &&
         (steps.size() != window[0] || shape(filter->inputs[1])[0] != window[0])))
      return std::nullopt;
    const auto weights = integers_minus_zeros(filter->inputs[0], filter->inputs[2]);
    if (weights.empty()) return std::nullopt;
    PlanNode made = convolution_node(node);
    made.attributes = node.attributes;
    made.inputs[0] = picture->inputs[0];
    made.inputs[2] = picture->inputs[2];
    std::vector<float> factors(steps.begin(), steps.end());
    for (float& factor : factors) factor *= scale[0];
    const auto count = static_cast<std::uint32_t>(factors.size());
    append(made, op("mul"), graph_.add_constant({count, 1, 1}, factors));
    if (node.inputs.size() > 2 && node.inputs[2] != ops::no_value) {
      const auto bias = numbers<float>(node.inputs[2]);
      if (bias.empty()) return std::nullopt;
      append(made, op("add"), graph_.add_constant({window[0], 1, 1}, bias));
    }
    return with_filter(std::move(made), window, weights);
  }

  // -- integers -----------------------------------------------------------------------------------

  /// A filter's elements minus zero points: one for all, or one for each filter. Empty if they are
  /// not constant, or if there are other zero points.
  std::vector<std::int32_t> integers_minus_zeros(ValueId elements, ValueId zero) {
    static constexpr std::byte none{};
    const auto bytes = numbers<std::byte>(elements);
    const auto zeros = zero == ops::no_value ? std::span(&none, 1) : numbers<std::byte>(zero);
    const bool by_filter = zeros.size() > 1 && zeros.size() == shape(elements)[0] &&
                           shape(zero).size() == 4 && shape(zero)[0] == zeros.size();
    if (bytes.empty() || (zeros.size() != 1 && !by_filter)) return {};
    const bool is_signed = type(elements) == DataType::int8;
    const auto integer = [&](std::byte bits) {
      const auto value = std::to_integer<std::uint8_t>(bits);
      return is_signed ? static_cast<std::int8_t>(value) : std::int32_t{value};
    };
    std::vector<std::int32_t> weights;
    for (std::size_t i = 0; i < bytes.size(); ++i)
      weights.push_back(integer(bytes[i]) - integer(zeros[i * zeros.size() / bytes.size()]));
    return weights;
  }

  static void append(PlanNode& node, ops::OpId id, ValueId operand) {
    node.post_ops.push_back({id, {}, {static_cast<std::uint32_t>(node.inputs.size())}});
    node.inputs.push_back(operand);
  }

  // -- the node -----------------------------------------------------------------------------------

  static PlanNode convolution_node(const PlanNode& last) {
    PlanNode node;
    node.op = op_integer_convolution;
    node.inputs.assign(4, ops::no_value);
    node.own_inputs = node.inputs.size();
    node.outputs = last.outputs;
    node.label = last.label;
    return node;
  }

  std::optional<PlanNode> with_filter(PlanNode node, const Shape& window,
                                      const std::vector<std::int32_t>& weights) {
    for (const std::int32_t x : weights)
      if (std::abs(x) > 255) return std::nullopt;
    PlanValue filter;
    filter.kind = ops::Value::Kind::constant;
    filter.descriptor = {DataType::int32, window};
    filter.constant =
        std::make_shared<const Buffer>(Buffer::copy_of(std::span<const std::int32_t>(weights)));
    node.inputs[1] = graph_.add_value(std::move(filter));
    return integer_convolution(problem_of(graph_, node)) ? std::optional(std::move(node))
                                                         : std::nullopt;
  }

  /// Puts `node` in the place of its last part or, if that is all that reads it, of the cast to
  /// float32.
  void replace(std::size_t index, PlanNode node) {
    const std::size_t next = only_consumer(graph_, match_.uses(), node.outputs[0]);
    const bool real = next != Uses::none && graph_.nodes[next].op == op("cast") &&
                      match_.is_float32(graph_.nodes[next].outputs[0]);
    if (real) node.outputs = graph_.nodes[next].outputs;
    for (const std::size_t part : parts_) {
      match_.forget(part);
      graph_.nodes[part].removed = true;
    }
    put(real ? next : index, std::move(node));
  }
  void put(std::size_t index, PlanNode node) {
    if (!graph_.nodes[index].removed) match_.forget(index);
    graph_.nodes[index] = std::move(node);
    match_.learn(index);
  }

  PlanGraph& graph_;
  Matcher match_;
  std::uint64_t bytes_;  ///< that constants may still take
  std::vector<std::size_t> parts_;
};

}  // namespace

void recognise_integer_convolutions(PlanGraph& graph) { ConvolutionRecogniser(graph).run(); }

}  // namespace polychron::kernels
