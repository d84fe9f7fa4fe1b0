// Sequences of tensors and optional tensors, which exist only at import. Positions must be known.
#include <algorithm>
#include <array>

#include "onnx/handlers.hpp"
#include "onnx/operators/assemble.hpp"

namespace polychron::onnx::detail {

namespace {

using Sequence = std::vector<Tensor>;

void set_sequence(Node& node, Sequence sequence) {
  Tensor tensor;
  tensor.sequence = std::make_shared<const Sequence>(std::move(sequence));
  node.set(std::move(tensor), 0);
}

/// ONNX has no sequences of sequences. Nested in a loop, their destruction would overflow the
/// stack.
void check_element(const Tensor& tensor) {
  if (tensor.sequence) malformed("a sequence in a sequence");
}

const Sequence& sequence_of(const Node& node, std::size_t i) {
  const auto& tensor = node.input_tensor(i);
  if (!tensor.sequence) malformed("input " + std::to_string(i) + " is not a sequence");
  return *tensor.sequence;
}

/// A position among `size` elements, counted from the front; for an insertion also after the last.
std::size_t position(const Node& node, std::size_t input, std::size_t size, bool inserts = false) {
  const auto values = node.integers(input);
  if (values.size() != 1) malformed("the position must be a scalar");
  const auto at =
      values.front() < 0 ? values.front() + static_cast<std::int64_t>(size) : values.front();
  if (at < 0 || at >= static_cast<std::int64_t>(size + (inserts ? 1 : 0)))
    malformed("position " + std::to_string(values.front()) + " of a sequence of that length");
  return static_cast<std::size_t>(at);
}

void construct(Node& node) {
  auto tensors = node.tensors();
  std::ranges::for_each(tensors, check_element);
  set_sequence(node, std::move(tensors));
}

void empty(Node& node) { set_sequence(node, {}); }

void at(Node& node) {
  const auto& sequence = sequence_of(node, 0);
  node.set(sequence[position(node, 1, sequence.size())].renamed(), 0);
}

void insert(Node& node) {
  auto sequence = sequence_of(node, 0);
  node.importer.spend(sequence.size());
  check_element(node.input_tensor(1));
  const auto to = node.has_input(2) ? position(node, 2, sequence.size(), true) : sequence.size();
  sequence.insert(sequence.begin() + static_cast<std::ptrdiff_t>(to),
                  node.input_tensor(1).renamed());
  set_sequence(node, std::move(sequence));
}

void erase(Node& node) {
  auto sequence = sequence_of(node, 0);
  if (sequence.empty()) malformed("the sequence is empty");
  node.importer.spend(sequence.size());
  const auto from = node.has_input(1) ? position(node, 1, sequence.size()) : sequence.size() - 1;
  sequence.erase(sequence.begin() + static_cast<std::ptrdiff_t>(from));
  set_sequence(node, std::move(sequence));
}

void length(Node& node) {
  const auto size = static_cast<std::int64_t>(sequence_of(node, 0).size());
  node.set(make_literal(ElementType::int64, {}, std::vector{size}));
}

void concat_from(Node& node) {
  const auto& sequence = sequence_of(node, 0);
  if (sequence.empty()) unsupported("an empty result, which WebNN does not have");
  const bool fresh = node.integer("new_axis", 0) != 0;
  const auto rank = shape_of(sequence.front()).size() + (fresh ? 1 : 0);
  const auto axis = node.axis(node.integer("axis", 0), rank);
  node.set(fresh ? stacked(node, sequence, axis) : joined(node, sequence, axis), 0);
}

void split_to(Node& node) {
  const auto& input = node.input_tensor(0);
  const auto axis = node.axis(node.integer("axis", 0), node.rank(0));
  const auto whole = node.shape(0)[axis];
  std::vector<std::int64_t> sizes;
  const bool given = node.has_input(1);
  if (given && node.rank(1) == 1) {
    sizes = node.integers(1);
  } else {
    const auto given_sizes = given ? node.integers(1) : std::vector<std::int64_t>{1};
    if (given_sizes.size() != 1) malformed("the size of the parts must be a scalar");
    const auto size = given_sizes.front();
    if (size < 1) malformed("parts of " + std::to_string(size));
    for (std::int64_t begin = 0; begin < whole; begin += size) {
      node.importer.spend(1);
      sizes.push_back(std::min<std::int64_t>(size, whole - begin));
    }
  }
  Sequence parts;
  std::uint32_t begin = 0;
  for (const auto size : sizes) {
    if (size < 0 || size > whole - begin) malformed("the parts do not add up");
    const auto end = begin + static_cast<std::uint32_t>(size);
    const bool keep = given || node.integer("keepdims", 1) != 0;
    parts.push_back(keep ? part_of(node, input, axis, begin, end)
                         : element_of(node, input, axis, begin));
    begin = end;
  }
  if (begin != whole) malformed("the parts do not add up to " + std::to_string(whole));
  set_sequence(node, std::move(parts));
}

// -- optionals ------------------------------------------------------------------------------------

/// A value, or none: a name without a value, as for an input that a function's caller left out.
void optional(Node& node) {
  if (node.has_input(0)) return node.forward(0);
  node.set(Tensor{}, 0);
}

void has_element(Node& node) {
  const std::vector<std::int64_t> answer{node.has_input(0)};
  node.set(make_literal(ElementType::boolean, {}, answer));
}

}  // namespace

std::span<const Row> sequence_rows() noexcept {
  static constexpr std::array rows{
      Row{"ConcatFromSequence", concat_from},
      Row{"Optional", optional},
      Row{"OptionalGetElement", [](Node& node) { node.forward(0); }},
      Row{"OptionalHasElement", has_element},
      Row{"SequenceAt", at},
      Row{"SequenceConstruct", construct},
      Row{"SequenceEmpty", empty},
      Row{"SequenceErase", erase},
      Row{"SequenceInsert", insert},
      Row{"SequenceLength", length},
      Row{"SplitToSequence", split_to},
  };
  return rows;
}

}  // namespace polychron::onnx::detail
