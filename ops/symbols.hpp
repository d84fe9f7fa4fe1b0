// The names of a graph's symbols, which stand for dynamic dimensions (ops/dimensions.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "polychron/dimension.hpp"

namespace polychron::ops {

/// A value; symbols are never removed.
class Symbols {
 public:
  bool empty() const noexcept { return symbols_.empty(); }
  /// The symbol of an input's dynamic dimension. Throws Error (type_error): the name is empty, the
  /// bound is 0, or the dimension is declared with another bound already. `place` is the name of an
  /// unnamed one.
  std::uint32_t of(const Dimension& dimension, std::string place);
  /// A symbol of its own for a size that an operator derives from others.
  std::uint32_t add(std::string name);

  const std::string& name(std::uint32_t symbol) const { return at(symbol).name; }
  std::optional<std::uint32_t> max(std::uint32_t symbol) const { return at(symbol).max; }
  std::vector<Dimension> dimensions(const Shape& shape) const;
  /// The text, which prints symbols as numbers, with their names.
  std::string with_names(const std::string& text) const;

 private:
  struct Symbol {
    std::string name;
    std::optional<std::uint32_t> max;
    bool declared = false;  ///< by the caller, under this name
  };
  const Symbol& at(std::uint32_t symbol) const;

  std::vector<Symbol> symbols_;
};

}  // namespace polychron::ops
