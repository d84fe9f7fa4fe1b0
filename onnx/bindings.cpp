#include "onnx/bindings.hpp"

#include <algorithm>

#include "onnx/element_type.hpp"
#include "onnx/problem.hpp"

namespace polychron::onnx::detail {

namespace {

[[noreturn]] void wrong(const std::string& why) { throw Error(ErrorKind::type_error, why); }

}  // namespace

Bindings::Bindings(const Summary& summary, const Shapes& given) {
  std::set<std::string> symbols;
  for (const auto& input : summary.inputs) {
    names_.insert(input.name);
    if (!input.dimensions) continue;
    for (const auto& dimension : *input.dimensions)
      if (!dimension.symbol.empty()) symbols.insert(dimension.symbol);
  }
  for (const auto& [name, shape] : given) {
    if (names_.contains(name)) {
      shapes_.emplace(name, shape);
    } else if (symbols.contains(name)) {
      if (shape.size() != 1) wrong("symbol " + quote(name) + " takes one number");
      bind(name, shape.front(), "its binding");
    } else {
      wrong("there is no input and no free dimension " + quote(name) + " to bind");
    }
  }
  for (const auto& input : summary.inputs) take_symbols(input);
}

Shape Bindings::resolve(const ValueInfo& input) const {
  const auto bound = shapes_.find(input.name);
  if (bound != shapes_.end()) return bound->second;
  const auto where = "input " + quote(input.name);
  if (!input.dimensions) wrong(where + " has no shape in the model: bind it by its name");
  Shape shape;
  for (const auto& dimension : *input.dimensions) {
    const auto symbol = values_.find(dimension.symbol);
    if (!dimension.value && symbol == values_.end())
      wrong(where + " is " + to_string(input) + ": dimension " + std::to_string(shape.size()) +
            " is free, bind the input" + (dimension.symbol.empty() ? "" : " or the symbol"));
    shape.push_back(dimension.value ? *dimension.value : symbol->second);
  }
  return shape;
}

Shapes Bindings::by_symbol(const Summary& summary) const {
  Shapes bindings;
  for (const auto& [symbol, value] : values_)
    if (!names_.contains(symbol)) bindings[symbol] = {value};
  for (const auto& input : summary.inputs) {
    const auto bound = shapes_.find(input.name);
    const auto needs_name = [&](const Dimension& dimension) {
      return !dimension.value && (dimension.symbol.empty() || names_.contains(dimension.symbol));
    };
    if (bound != shapes_.end() &&
        (!input.dimensions || std::ranges::any_of(*input.dimensions, needs_name)))
      bindings.insert(*bound);
  }
  return bindings;
}

bool Bindings::is_free(const ValueInfo& input) const {
  if (shapes_.contains(input.name)) return false;
  return !input.dimensions || std::ranges::any_of(*input.dimensions, [&](const auto& dimension) {
    return !dimension.value && !values_.contains(dimension.symbol);
  });
}

void Bindings::bind(const std::string& symbol, std::uint32_t value, const std::string& by) {
  const auto [known, is_new] = values_.emplace(symbol, value);
  if (!is_new && known->second != value)
    wrong("dimension " + quote(symbol) + " would be both " + std::to_string(known->second) +
          " and, by " + by + ", " + std::to_string(value));
}

void Bindings::take_symbols(const ValueInfo& input) {
  const auto bound = shapes_.find(input.name);
  if (bound == shapes_.end() || !input.dimensions) return;
  const auto& shape = bound->second;
  const auto where = "input " + quote(input.name);
  const auto mismatch = where + " is " + to_string(input) + ", not " + to_string(shape);
  if (shape.size() != input.dimensions->size()) wrong(mismatch);
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const auto& dimension = (*input.dimensions)[i];
    if (dimension.value && *dimension.value != shape[i]) wrong(mismatch);
    if (!dimension.symbol.empty()) bind(dimension.symbol, shape[i], "the shape of " + where);
  }
}

void wrong_constant(const std::string& name, const std::string& why) {
  wrong("constant " + quote(name) + ": " + why);
}

void wrong_operand(const std::string& name, const std::string& why) {
  wrong("operand for input " + quote(name) + ": " + why);
}

Shapes with_given(const Summary& summary, const ImportOptions& options) {
  auto bindings = options.bindings;
  const auto add = [&](const std::string& name, const Shape& shape, const auto& refuse) {
    if (std::ranges::find(summary.inputs, name, &ValueInfo::name) == summary.inputs.end())
      refuse(name, "there is no such input");
    if (const auto [bound, is_new] = bindings.emplace(name, shape);
        !is_new && bound->second != shape)
      refuse(name,
             "it has shape " + to_string(shape) + " and is bound to " + to_string(bound->second));
  };
  for (const auto& [name, value] : options.constants) add(name, value.shape, wrong_constant);
  for (const auto& [name, operand] : options.operands) {
    if (options.constants.contains(name)) wrong_operand(name, "it is a constant, too");
    add(name, operand.shape(), wrong_operand);
  }
  return bindings;
}

}  // namespace polychron::onnx::detail
