#include "onnx/scope.hpp"

#include "onnx/problem.hpp"

namespace polychron::onnx::detail {

Tensor* Scope::find(const std::string& name) {
  const auto known = tensors_.find(name);
  if (known != tensors_.end()) return &known->second;
  const auto constant = constants_.find(name);
  if (constant != constants_.end()) {
    auto literal =
        located("initializer " + quote(name), [&] { return constant->second.literal(); });
    return &(tensors_[name] = Tensor::of(std::move(literal)));
  }
  return outer_ ? outer_->find(name) : nullptr;
}

Tensor& Scope::at(const std::string& name) {
  auto* tensor = find(name);
  if (!tensor) malformed("nothing gives " + quote(name) + " a value");
  return *tensor;
}

}  // namespace polychron::onnx::detail
