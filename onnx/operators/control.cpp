// If, Loop, Scan: WebNN has no control flow. The importer follows known conditions, and unrolls
// loops.
#include <algorithm>
#include <array>
#include <limits>

#include "onnx/handlers.hpp"
#include "onnx/operators/assemble.hpp"
#include "polychron/onnx.hpp"

namespace polychron::onnx::detail {

namespace {

/// A condition or count in the one element of a literal.
std::optional<std::int64_t> known_number(const Tensor& tensor) {
  if (!tensor.literal || count(*tensor.literal) != 1) return std::nullopt;
  return integers(*tensor.literal).front();
}

/// Calculates both branches and selects one result. Branches have no side effects; their results
/// must have the same shape.
void choose(Node& node, const std::vector<Tensor>& yes, const std::vector<Tensor>& no) {
  const auto condition = term(node, 0).reshape({});
  for (std::size_t i = 0; i < node.output_count(); ++i) {
    if (!node.wants_output(i)) continue;
    if (i >= yes.size() || i >= no.size()) malformed("a branch has too few outputs");
    const bool tensors = !yes[i].sequence && !no[i].sequence;
    if (!tensors || shape_of(yes[i]) != shape_of(no[i]))
      unknown_value("the condition " + node.name_and_origin(0) + ", for output " +
                    std::to_string(i) + " has another shape in each branch,");
    auto result = yes[i].renamed();
    result.literal.reset();
    result.operand = condition.choose(term_of(node, yes[i]), term_of(node, no[i])).operand();
    result.type = yes[i].literal ? yes[i].literal->type : yes[i].type;
    node.set(std::move(result), i);
  }
}

/// A branch that may not be taken, and so may not fit these inputs at all.
std::vector<Tensor> possible_branch(Node& node, const char* name) {
  try {
    return node.add_graph(node.graph(name));
  } catch (const Error& error) {
    const Error told(error.kind(), "attribute " + quote(name) + ", which may not be chosen: " +
                                       error.message() + "; else the condition " +
                                       node.name_and_origin(0) + " " + std::string(needs_value));
    throw error.cause() ? told.caused_by(*error.cause()) : told;
  }
}

void branch(Node& node) {
  if (const auto condition = known_number(node.input_tensor(0)))
    return node.set_all(node.add_graph(node.graph(*condition ? "then_branch" : "else_branch")));
  const auto yes = possible_branch(node, "then_branch");
  choose(node, yes, possible_branch(node, "else_branch"));
}

void loop(Node& node) {
  auto trips = std::numeric_limits<std::int64_t>::max();
  if (node.has_input(0)) {
    const auto known = known_number(node.input_tensor(0));
    if (!known) node.want_value(0);
    trips = *known;
  }
  auto condition = Tensor::of(make_literal(ElementType::boolean, {}, std::vector<std::int64_t>{1}));
  if (node.has_input(1)) condition = node.input_tensor(1).renamed();
  const auto inputs = node.tensors();
  std::vector<Tensor> carried;
  if (inputs.size() > 2) carried.assign(inputs.begin() + 2, inputs.end());
  std::vector<std::vector<Tensor>> collected;
  const auto& body = node.graph("body");
  for (std::int64_t i = 0; i < trips; ++i) {
    const auto goes_on = known_number(condition);
    if (!goes_on) unknown_value("how often the loop runs");
    if (!*goes_on) break;
    std::vector<Tensor> values{Tensor::of(make_literal(ElementType::int64, {}, std::vector{i})),
                               condition};
    values.insert(values.end(), carried.begin(), carried.end());
    auto results = node.add_graph(body, std::move(values));
    if (results.size() < carried.size() + 1) malformed("the body has too few outputs");
    condition = results.front();
    const auto middle = results.begin() + 1 + static_cast<std::ptrdiff_t>(carried.size());
    collected.resize(static_cast<std::size_t>(results.end() - middle));
    std::copy(results.begin() + 1, middle, carried.begin());
    node.importer.spend(collected.size() + carried.size() / 16);
    for (std::size_t o = 0; o < collected.size(); ++o)
      collected[o].push_back(*(middle + static_cast<std::ptrdiff_t>(o)));
  }
  auto outputs = carried;
  for (const auto& parts : collected) outputs.push_back(stacked(node, parts, 0));
  for (auto i = outputs.size(); i < node.output_count(); ++i)
    if (node.wants_output(i)) unsupported("a loop that never runs: its scan outputs are empty");
  node.set_all(std::move(outputs));
}

/// The attributes of a Scan.
struct Walk {
  std::vector<std::int64_t> input_axes, output_axes, input_directions, output_directions;
};

std::int64_t entry(const std::vector<std::int64_t>& list, std::size_t i) {
  return i < list.size() ? list[i] : 0;
}

std::vector<Tensor> scan_along(Node& node, const Walk& walk, std::vector<Tensor> states,
                               const std::vector<Tensor>& inputs) {
  const auto& body = node.graph("body");
  std::vector<std::uint32_t> axes;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    axes.push_back(node.axis(entry(walk.input_axes, i), shape_of(inputs[i]).size()));
  if (inputs.empty()) malformed("there are no scan inputs");
  const auto length = shape_of(inputs.front())[axes.front()];
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (shape_of(inputs[i])[axes[i]] != length) malformed("the scan inputs have different lengths");
  std::vector<std::vector<Tensor>> collected;
  for (std::uint32_t step = 0; step < length; ++step) {
    auto values = states;
    node.importer.spend(inputs.size() + collected.size() + states.size() / 16);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const auto at = entry(walk.input_directions, i) ? length - 1 - step : step;
      values.push_back(element_of(node, inputs[i], axes[i], at));
    }
    auto results = node.add_graph(body, std::move(values));
    if (results.size() < states.size()) malformed("the body has too few outputs");
    const auto middle = results.begin() + static_cast<std::ptrdiff_t>(states.size());
    std::copy(results.begin(), middle, states.begin());
    collected.resize(static_cast<std::size_t>(results.end() - middle));
    for (std::size_t o = 0; o < collected.size(); ++o)
      collected[o].push_back(*(middle + static_cast<std::ptrdiff_t>(o)));
  }
  for (std::size_t o = 0; o < collected.size(); ++o) {
    auto& parts = collected[o];
    if (entry(walk.output_directions, o)) std::reverse(parts.begin(), parts.end());
    const auto rank = shape_of(parts.front()).size() + 1;
    states.push_back(stacked(node, parts, node.axis(entry(walk.output_axes, o), rank)));
  }
  return states;
}

/// Opset 8 has a batch as the first dimension of everything, and lengths as input 0.
std::vector<Tensor> scan_batches(Node& node, const std::vector<Tensor>& states,
                                 const std::vector<Tensor>& inputs) {
  if (node.has_input(0)) unsupported("sequences of different lengths");
  Walk walk;
  walk.input_directions = node.integer_list("directions").value_or(std::vector<std::int64_t>{});
  std::vector<std::vector<Tensor>> outputs;
  if (inputs.empty() || shape_of(inputs.front()).empty()) malformed("there is no batch to scan");
  for (std::uint32_t b = 0; b < shape_of(inputs.front()).front(); ++b) {
    std::vector<Tensor> own_states, own_inputs;
    node.importer.spend(states.size() + inputs.size());
    for (const auto& state : states) own_states.push_back(element_of(node, state, 0, b));
    for (const auto& input : inputs) own_inputs.push_back(element_of(node, input, 0, b));
    const auto results = scan_along(node, walk, own_states, own_inputs);
    outputs.resize(results.size());
    for (std::size_t o = 0; o < results.size(); ++o) outputs[o].push_back(results[o]);
  }
  std::vector<Tensor> whole;
  for (const auto& parts : outputs) whole.push_back(stacked(node, parts, 0));
  return whole;
}

void scan(Node& node) {
  auto tensors = node.tensors();
  if (node.opset < 9 && !tensors.empty()) tensors.erase(tensors.begin());
  const auto scanned = node.integer("num_scan_inputs", 0);
  if (scanned < 1 || scanned > static_cast<std::int64_t>(tensors.size()))
    malformed("attribute 'num_scan_inputs' is " + std::to_string(scanned));
  const auto middle = tensors.end() - scanned;
  const std::vector<Tensor> states(tensors.begin(), middle), inputs(middle, tensors.end());
  if (node.opset < 9) return node.set_all(scan_batches(node, states, inputs));
  const auto list = [&](const char* name) {
    return node.integer_list(name).value_or(std::vector<std::int64_t>{});
  };
  const Walk walk{list("scan_input_axes"), list("scan_output_axes"), list("scan_input_directions"),
                  list("scan_output_directions")};
  node.set_all(scan_along(node, walk, states, inputs));
}

}  // namespace

std::span<const Row> control_rows() noexcept {
  static constexpr std::array rows{
      Row{"If", branch},
      Row{"Loop", loop},
      Row{"Scan", scan},
  };
  return rows;
}

}  // namespace polychron::onnx::detail
