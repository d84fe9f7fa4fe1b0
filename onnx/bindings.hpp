// The sizes of the free dimensions of a model's inputs.
#pragma once

#include <map>
#include <set>
#include <string>

#include "polychron/onnx.hpp"

namespace polychron::onnx::detail {

/// A symbol is bound by name, or follows from an input's bound shape.
class Bindings {
 public:
  /// Throws Error (type_error) if a binding names nothing or contradicts the model.
  Bindings(const Summary& summary, const std::map<std::string, Shape>& given);

  /// The shape of `input`. Throws if a dimension is still free.
  Shape resolve(const ValueInfo& input) const;
  /// The same bindings by symbol, as far as a dimension has one: equal for equal shapes.
  std::map<std::string, Shape> by_symbol(const Summary& summary) const;
  /// True if resolve() would throw.
  bool is_free(const ValueInfo& input) const;

 private:
  void bind(const std::string& symbol, std::uint32_t value, const std::string& by);
  void take_symbols(const ValueInfo& input);

  std::set<std::string> names_;
  std::map<std::string, Shape> shapes_;
  std::map<std::string, std::uint32_t> values_;
};

/// The bindings, and the shapes of constants among them.
std::map<std::string, Shape> with_constants(const Summary& summary, const ImportOptions& options);

}  // namespace polychron::onnx::detail
