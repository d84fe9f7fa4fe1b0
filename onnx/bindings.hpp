// The sizes of the free dimensions of a model's inputs.
#pragma once

#include <map>
#include <set>
#include <string>

#include "polychron/onnx.hpp"

namespace polychron::onnx::detail {

/// By symbol, or by the name of an input: ImportOptions::bindings.
using Shapes = std::map<std::string, Shape>;

/// A symbol is bound by name, or follows from an input's bound shape.
class Bindings {
 public:
  /// Throws Error (type_error) if a binding names nothing or contradicts the model.
  Bindings(const Summary& summary, const Shapes& given);

  /// The shape of `input`. Throws if a dimension is still free.
  Shape resolve(const ValueInfo& input) const;
  /// The same bindings by symbol, as far as a dimension has one: equal for equal shapes.
  Shapes by_symbol(const Summary& summary) const;
  /// True if resolve() would throw.
  bool is_free(const ValueInfo& input) const;

 private:
  void bind(const std::string& symbol, std::uint32_t value, const std::string& by);
  void take_symbols(const ValueInfo& input);

  std::set<std::string> names_;
  Shapes shapes_;
  std::map<std::string, std::uint32_t> values_;
};

/// Throws type_error about ImportOptions::constants.
[[noreturn]] void wrong_constant(const std::string& name, const std::string& why);
/// Throws type_error about ImportOptions::operands.
[[noreturn]] void wrong_operand(const std::string& name, const std::string& why);

/// The bindings, and the shapes of constants and operands among them. Throws type_error.
Shapes with_given(const Summary& summary, const ImportOptions& options);

}  // namespace polychron::onnx::detail
