#include "ops/symbols.hpp"

#include <algorithm>

#include "base/invariant.hpp"
#include "ops/dimensions.hpp"
#include "polychron/error.hpp"

namespace polychron {

std::string to_string(const std::vector<Dimension>& dimensions) {
  std::string text = "[";
  for (const auto& dimension : dimensions) {
    if (text.size() > 1) text += ", ";
    text += dimension.is_dynamic() ? dimension.name : std::to_string(dimension.size);
  }
  return text + "]";
}

namespace ops {

namespace {

constexpr std::uint32_t first_symbol = 0x8000'0000U;

std::string bound(const std::optional<std::uint32_t>& max) {
  return max ? "a max of " + std::to_string(*max) : "no max";
}

}  // namespace

std::uint32_t Symbols::of(const Dimension& dimension, std::string place) {
  const auto refuse = [](const std::string& why) { throw Error(ErrorKind::type_error, why); };
  if (dimension.name.empty() && !dimension.is_unnamed)
    refuse("a dynamic dimension has an empty name, expected a name, or an unnamed dimension");
  const auto& name = dimension.is_unnamed ? place : dimension.name;
  if (dimension.max && !valid_dimension(*dimension.max))
    refuse("dimension '" + name + "' has " + bound(dimension.max) + ", expected 1 to 2147483647");
  if (!dimension.is_unnamed) {
    const auto known = std::ranges::find_if(
        symbols_, [&](const Symbol& symbol) { return symbol.declared && symbol.name == name; });
    if (known != symbols_.end()) {
      if (known->max != dimension.max)
        refuse("dimension '" + name + "' has " + bound(dimension.max) + ", expected " +
               bound(known->max) + " as where it was declared first");
      return first_symbol + static_cast<std::uint32_t>(known - symbols_.begin());
    }
  }
  const auto symbol = add(name);
  symbols_.back().max = dimension.max;
  symbols_.back().declared = !dimension.is_unnamed;
  return symbol;
}

std::uint32_t Symbols::add(std::string name) {
  ensure(symbols_.size() < derived - first_symbol, "a graph has fewer symbols than numbers");
  symbols_.push_back({std::move(name), {}, false});
  return first_symbol + static_cast<std::uint32_t>(symbols_.size() - 1);
}

const Symbols::Symbol& Symbols::at(std::uint32_t symbol) const {
  const auto index = symbol - first_symbol;
  ensure(is_symbol(symbol) && index < symbols_.size(), "a symbol has a name");
  return symbols_[index];
}

std::vector<Dimension> Symbols::dimensions(const Shape& shape) const {
  std::vector<Dimension> dimensions;
  for (const auto dimension : shape) {
    if (is_symbol(dimension))
      dimensions.emplace_back(name(dimension), max(dimension));
    else
      dimensions.emplace_back(dimension);
  }
  return dimensions;
}

std::string Symbols::with_names(const std::string& text) const {
  std::string named;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find_first_not_of("0123456789", at), text.size());
    const auto digits = text.substr(at, end - at);
    const auto number = digits.size() == 10 ? std::stoull(digits) : 0;
    const bool known = number >= first_symbol && number - first_symbol < symbols_.size();
    if (known)
      named += symbols_[number - first_symbol].name;
    else
      named += !empty() && number == derived ? "?" : digits;
    if (end < text.size()) named += text[end];
    at = end + 1;
  }
  return named;
}

}  // namespace ops
}  // namespace polychron
