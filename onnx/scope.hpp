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
  bool result = false;  ///< `operand` is the output of an operator, with this name only
  ElementType type = ElementType::undefined;  ///< the model's type, if `operand` has another
  std::shared_ptr<const std::vector<Tensor>> sequence;

  static Tensor of(Literal literal) { return {std::move(literal), {}, false, {}, {}}; }
  static Tensor of(Operand operand) { return {{}, std::move(operand), false, {}, {}}; }
  /// A copy for another name of the same tensor.
  Tensor renamed() const {
    auto copy = *this;
    copy.result = false;
    return copy;
  }
};

/// The names of one list of nodes. Branches and bodies also see the names around them; the first
/// use turns a constant into a tensor, and reads it if it is in a file.
class Scope {
 public:
  /// Both outlive the scope.
  explicit Scope(const Constants& constants, Scope* outer = nullptr)
      : constants_(constants), outer_(outer) {}

  /// nullptr if `name` has no value. The address is valid as long as the scope. Throws if the value
  /// cannot be read.
  Tensor* find(const std::string& name);
  /// Throws if `name` has no value.
  Tensor& at(const std::string& name);
  void put(const std::string& name, Tensor tensor) { tensors_[name] = std::move(tensor); }

 private:
  const Constants& constants_;
  Scope* outer_;
  std::unordered_map<std::string, Tensor> tensors_;
};

}  // namespace polychron::onnx::detail
