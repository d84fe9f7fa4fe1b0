// The graph under construction, which a GraphBuilder and its Operands share.
#pragma once

#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/graph.hpp"
#include "ops/infer.hpp"
#include "ops/symbols.hpp"
#include "polychron/context.hpp"
#include "polychron/graph_builder.hpp"

namespace polychron::detail {

/// Collects inputs, constants and operators until build() or destroy(). The builder and its
/// operands own it jointly; one thread at a time. Values are never removed, so that descriptors of
/// operands stay valid; the bytes of constants are freed when the builder is built or destroyed.
class BuilderState : public std::enable_shared_from_this<BuilderState> {
 public:
  /// Throws invalid_state if the context is not alive.
  explicit BuilderState(const Context& context);

  /// Throws if a constant of this many bytes is refused, before the caller copies them.
  void check_constant(const OperandDescriptor& descriptor, std::size_t bytes) const;

  Operand add_input(std::string name, const OperandDescriptor& descriptor);
  Operand add_dynamic_input(std::string name, const InputDescriptor& descriptor);
  Operand add_constant(const OperandDescriptor& descriptor, ops::ConstantBytes bytes);
  Operand add_constant(const Tensor& constant_tensor);
  /// Adds the operator that the specification calls `name`; see GraphBuilder::apply(). Throws
  /// type_error, invalid_state, and then adds nothing.
  std::vector<Operand> add_operator(std::string_view name, std::span<const Operand* const> operands,
                                    Attributes attributes, std::string_view label);

  /// The sizes, and the symbols of `x` that have these names. Throws type_error for another name.
  Shape symbols_of(const Operand& x, const std::vector<Dimension>& dimensions,
                   std::string_view label) const;

  Future<Graph> build(const NamedOperands& outputs, const BuildOptions& options);
  void destroy();

  const Context& context() const noexcept { return context_; }
  std::size_t operator_count() const noexcept { return nodes_.size(); }
  /// May have symbols.
  const OperandDescriptor& descriptor(ops::ValueId value) const {
    return values_[value].descriptor;
  }
  const ops::Symbols& symbols() const noexcept { return symbols_; }

 private:
  enum class Stage : std::uint8_t { open, built, destroyed };

  /// Throws invalid_state unless inputs, constants and operators may be added.
  void check_open() const;
  /// Throws type_error if no operand can have `descriptor`.
  void check_descriptor(const std::string& what, const OperandDescriptor& descriptor) const;
  /// Throws type_error for a name that no input can have.
  void check_input(const std::string& name) const;
  Operand declare_input(std::string name, OperandDescriptor descriptor);
  /// The results of an operator; each derived dimension gets a symbol.
  std::vector<OperandDescriptor> infer(const ops::Row& row, ops::Operands operands,
                                       const ops::Node& node);
  bool owns(const Operand& operand) const { return operand.owner_.get() == this; }
  ops::ValueId add_value(ops::Value value);
  Operand operand(ops::ValueId value) { return {shared_from_this(), value}; }
  void check_outputs(const NamedOperands& outputs) const;
  std::shared_ptr<const ops::Graph> describe(const NamedOperands& outputs,
                                             const std::string& label) const;
  void close(Stage stage);

  Context context_;
  Stage stage_ = Stage::open;
  std::deque<ops::Value> values_;  // a deque, as operands refer to its descriptors
  std::vector<ops::Node> nodes_;   // in call order: a node follows its inputs
  std::vector<std::pair<std::string, ops::ValueId>> inputs_;
  ops::Symbols symbols_;
};

}  // namespace polychron::detail
