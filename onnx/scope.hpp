// The tensors that have a value so far, by name.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "onnx/constant.hpp"
#include "onnx/literal.hpp"
#include "polychron/operand.hpp"

namespace polychron::onnx::detail {

/// A tensor of the model during the import: known on the host, or an operand, or both; or a
/// sequence of tensors, which exists at import only.
struct Tensor {
  std::optional<Literal> literal;
  std::optional<Operand> operand;
  bool result = false;  ///< `operand` is the output of an operator, and goes by this name only
  ElementType type = ElementType::undefined;  ///< the model's, if `operand` has another
  std::shared_ptr<const std::vector<Tensor>> sequence;

  static Tensor of(Literal literal) { return {std::move(literal), {}, false, {}, {}}; }
  static Tensor of(Operand operand) { return {{}, std::move(operand), false, {}, {}}; }
  /// Another name for the same.
  Tensor renamed() const {
    auto copy = *this;
    copy.result = false;
    return copy;
  }
};

/// The names of one list of nodes. Branches and bodies also see the names around them; constants
/// become tensors, and are read if they are in files, when they are first asked for.
class Scope {
 public:
  /// Both outlive the scope.
  explicit Scope(const Constants& constants, Scope* outer = nullptr)
      : constants_(constants), outer_(outer) {}

  /// nullptr if nothing gave `name` a value. The address is good as long as the scope. Throws if
  /// the value cannot be read.
  Tensor* find(const std::string& name);
  /// Throws if nothing gave `name` a value.
  Tensor& at(const std::string& name);
  void put(const std::string& name, Tensor tensor) { tensors_[name] = std::move(tensor); }

 private:
  const Constants& constants_;
  Scope* outer_;
  std::unordered_map<std::string, Tensor> tensors_;
};

}  // namespace polychron::onnx::detail
