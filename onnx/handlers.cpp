#include "onnx/handlers.hpp"

#include <unordered_map>

namespace polychron::onnx::detail {

Handler find_handler(std::string_view name) noexcept {
  static const auto table = [] {
    std::unordered_map<std::string_view, Handler> handlers;
    for (const auto rows : {activation_rows(), convolution_rows(), elementwise_rows(),
                            indexing_rows(), matrix_rows(), movement_rows(), normalization_rows(),
                            pooling_rows(), reduction_rows(), resampling_rows(), shape_rows()})
      for (const auto& row : rows) handlers.emplace(row.name, row.handle);
    return handlers;
  }();
  const auto found = table.find(name);
  return found == table.end() ? nullptr : found->second;
}

}  // namespace polychron::onnx::detail
