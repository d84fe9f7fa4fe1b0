#include "apps/tool/free_dimensions.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

namespace tool {
namespace {

using polychron::onnx::Dimension;
using polychron::onnx::ImportOptions;
using polychron::onnx::Summary;
using polychron::onnx::ValueInfo;

/// Quotes `text` for a shell, as one word.
std::string word(const std::string& text) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+.,:/=";
  if (text.find_first_not_of(plain) == std::string::npos) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

bool has_shape(const ImportOptions& options, const std::string& input) {
  return options.bindings.contains(input) || options.constants.contains(input);
}

/// Symbols that are bound, by themselves or with the shape of an input.
std::set<std::string> bound_symbols(const Summary& model, const ImportOptions& options) {
  std::set<std::string> symbols;
  for (const auto& [name, shape] : options.bindings) symbols.insert(name);
  for (const auto& input : model.inputs) {
    symbols.erase(input.name);  // a name that is both means the input
    if (!input.dimensions || !has_shape(options, input.name)) continue;
    for (const auto& dimension : *input.dimensions) symbols.insert(dimension.symbol);
  }
  symbols.erase("");
  return symbols;
}

/// "1x4", with what is already bound.
std::string example_shape(const std::vector<Dimension>& dimensions, const ImportOptions& options) {
  std::string text;
  for (const auto& dimension : dimensions) {
    const auto bound = options.bindings.find(dimension.symbol);
    const bool known = bound != options.bindings.end() && bound->second.size() == 1;
    text += (text.empty() ? "" : "x") +
            std::to_string(dimension.value.value_or(known ? bound->second.front() : 1));
  }
  return text.empty() ? "SHAPE" : text;
}

}  // namespace

std::string missing_bindings(const Summary& model, const ImportOptions& options) {
  auto bound = bound_symbols(model, options);
  std::string missing;
  const auto add = [&](const std::string& binding) {
    missing += (missing.empty() ? "--bind " : " --bind ") + word(binding);
  };
  const auto can_be_named = [&](const std::string& symbol) {
    return !symbol.empty() && symbol.find('=') == std::string::npos &&
           std::ranges::none_of(model.inputs,
                                [&](const auto& input) { return input.name == symbol; });
  };
  for (const auto& input : model.inputs) {
    if (has_shape(options, input.name)) continue;
    if (!input.dimensions) {
      add(input.name + "=SHAPE");
      continue;
    }
    std::vector<std::string> symbols;
    bool by_name = false;
    for (const auto& dimension : *input.dimensions) {
      if (dimension.value || bound.contains(dimension.symbol)) continue;
      symbols.push_back(dimension.symbol);
      by_name = by_name || !can_be_named(dimension.symbol);
    }
    if (by_name) add(input.name + "=" + example_shape(*input.dimensions, options));
    for (const auto& symbol : symbols)
      if (!symbol.empty() && bound.insert(symbol).second && !by_name) add(symbol + "=1");
  }
  return missing;
}

}  // namespace tool
