// GraphBuilder: each call forwards to the state that it shares with its operands.
#include "polychron/graph_builder.hpp"

#include "base/aligned.hpp"
#include "base/kept_once.hpp"
#include "ops/number.hpp"
#include "ops/table.hpp"
#include "polychron/attribute_fields.hpp"
#include "runtime/builder_state.hpp"

namespace polychron {

using detail::rejected;
using detail::with_errors;

namespace {

/// Throws invalid_state for a moved-from builder.
detail::BuilderState& state_of(const std::shared_ptr<detail::BuilderState>& state) {
  if (!state) detail::refuse(ErrorKind::invalid_state, "this graph builder has been moved away");
  return *state;
}

}  // namespace

Attributes default_attributes(std::string_view operation) {
  const ops::Row* row = ops::find(operation);
  return row == nullptr ? Attributes{} : default_attributes(row->attributes);
}

GraphBuilder::GraphBuilder(const Context& context)
    : state_(with_errors([&] { return std::make_shared<detail::BuilderState>(context); })) {}

Context GraphBuilder::context() const { return state_of(state_).context(); }

std::size_t GraphBuilder::operator_count() const noexcept {
  return state_ ? state_->operator_count() : 0;
}

Operand GraphBuilder::input(std::string name, const OperandDescriptor& descriptor) {
  return with_errors([&] { return state_of(state_).add_input(std::move(name), descriptor); });
}

Operand GraphBuilder::dynamic_input(std::string name, const InputDescriptor& descriptor) {
  return with_errors(
      [&] { return state_of(state_).add_dynamic_input(std::move(name), descriptor); });
}

Operand GraphBuilder::constant(const OperandDescriptor& descriptor,
                               std::span<const std::byte> bytes) {
  return with_errors([&] {
    auto& state = state_of(state_);
    state.check_constant(descriptor, bytes.size());
    // Only copies are shared between graphs: a given Buffer may have a deleter, whose time matters
    // to its owner.
    return state.add_constant(descriptor,
                              kept_once(std::make_shared<const Buffer>(Buffer::copy_of(bytes))));
  });
}

Operand GraphBuilder::constant(const OperandDescriptor& descriptor, Buffer&& bytes) {
  return with_errors([&] {
    auto& state = state_of(state_);
    state.check_constant(descriptor, bytes.bytes().size());
    if (!aligned_for(descriptor.data_type, std::as_const(bytes).bytes())) {
      const auto copy = std::make_shared<const Buffer>(Buffer::copy_of(bytes.bytes()));
      const Operand constant = state.add_constant(descriptor, copy);
      Buffer(std::move(bytes));
      return constant;
    }
    const auto kept = std::make_shared<Buffer>(std::move(bytes));
    try {
      return state.add_constant(descriptor, kept);
    } catch (...) {
      bytes = std::move(*kept);
      throw;
    }
  });
}

Operand GraphBuilder::constant(DataType type, Number value) {
  return with_errors([&] {
    return constant({type, {}}, std::span<const std::byte>(ops::element_bytes(value, type)));
  });
}

Operand GraphBuilder::constant(const Tensor& constant_tensor) {
  return with_errors([&] { return state_of(state_).add_constant(constant_tensor); });
}

std::vector<Operand> GraphBuilder::apply(std::string_view name,
                                         std::span<const Operand* const> operands,
                                         Attributes attributes, Label label) {
  return with_errors(
      [&] { return state_of(state_).add_operator(name, operands, std::move(attributes), label); });
}

Operand GraphBuilder::dynamic_reshape(const Operand& x, const std::vector<Dimension>& new_shape,
                                      Label label) {
  return with_errors([&] {
    const auto symbols = state_of(state_).symbols_of(x, new_shape, label);
    return one("reshape", {&x}, ReshapeAttributes{symbols}, label);
  });
}

void GraphBuilder::check_view(const OperandDescriptor& descriptor, DataType view) {
  if (view == descriptor.data_type || view == DataType::uint8) return;
  with_errors([&] {
    throw Error(ErrorKind::type_error, "constant " + to_string(descriptor) + ": got values of " +
                                           std::string(to_string(view)) + ", expected " +
                                           std::string(to_string(descriptor.data_type)) +
                                           " or uint8");
  });
}

Future<Graph> GraphBuilder::build(const NamedOperands& outputs) {
  const BuildOptions options;
  return build_with(outputs, options);
}

Future<Graph> GraphBuilder::build_with(const NamedOperands& outputs, const BuildOptions& options) {
  return with_errors([&] {
    if (state_) return state_->build(outputs, options);
    return rejected<Future<Graph>>(
        Error(ErrorKind::invalid_state, "this graph builder has been moved away"));
  });
}

void GraphBuilder::destroy() {
  if (state_) state_->destroy();
}

std::vector<const Operand*> GraphBuilder::addresses(std::span<const Operand> operands) {
  std::vector<const Operand*> addresses;
  for (const Operand& operand : operands) addresses.push_back(&operand);
  return addresses;
}

}  // namespace polychron
