// Dynamic dimensions: sizes that a dispatch decides. They follow an open proposal, the dynamic
// shape explainer (webmachinelearning/webnn #945): docs/specification.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "polychron/descriptor.hpp"

namespace polychron {

/// A dimension of an input: a size, or a dynamic dimension (WebNN: MLDimension). All dynamic
/// dimensions of one name have the same size in a dispatch. Written as `2`, `"sequence"` or
/// `{"sequence", 512}`.
struct Dimension {
  /// A fixed size, 1 or more.
  Dimension(std::uint32_t fixed) : size(fixed) {}  // NOLINT(google-explicit-constructor)
  /// A dynamic dimension of that name, at most `largest`. An empty name is a type_error where the
  /// dimension is used.
  Dimension(std::string name_of_all, std::optional<std::uint32_t> largest = {})
      : name(std::move(name_of_all)), max(largest) {}
  /// The same, for a literal.
  Dimension(const char* name_of_all, std::optional<std::uint32_t> largest = {})
      : Dimension(std::string(name_of_all), largest) {}
  /// A dynamic dimension that need not equal any other. It gets a name of its own, which only
  /// messages use.
  static Dimension unnamed(std::optional<std::uint32_t> largest = {}) {
    Dimension dimension{std::string(), largest};
    dimension.is_unnamed = true;
    return dimension;
  }

  bool is_dynamic() const noexcept { return size == 0; }  ///< false: it has a size
  std::uint32_t size = 0;                                 ///< of a fixed dimension, else 0
  std::string name{};                                     ///< of a dynamic dimension
  std::optional<std::uint32_t> max{};                     ///< the largest size; absent: any
  bool is_unnamed = false;                                ///< the library finds a name
  /// The same size, or the same name and bound.
  friend bool operator==(const Dimension&, const Dimension&) = default;
};

/// "[2, sequence]".
std::string to_string(const std::vector<Dimension>& dimensions);

/// WebNN's MLInputOperandDescriptor, of the proposal.
struct InputDescriptor {
  DataType data_type = DataType::float32;  ///< of every element
  std::vector<Dimension> shape{};          ///< outermost first; empty: a scalar
};

/// The inputs or outputs of a graph with dynamic dimensions, in order of declaration.
using NamedInputDescriptors = std::vector<std::pair<std::string, InputDescriptor>>;

/// Shapes of inputs or outputs by name (the proposal's MLNamedShapes).
using NamedShapes = std::vector<std::pair<std::string, Shape>>;

}  // namespace polychron
