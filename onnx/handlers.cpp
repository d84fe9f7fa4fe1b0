#include "onnx/handlers.hpp"

#include <unordered_map>

#include "onnx/model.hpp"

namespace polychron::onnx::detail {

Handler find_handler(const std::string& domain, const std::string& name) {
  // Never destroyed: a runtime that is a static variable may load models until later.
  static const auto& table = *[] {
    auto* const handlers = new std::unordered_map<std::string_view, Handler>;
    for (const auto rows :
         {activation_rows(),  attention_rows(),     control_rows(),       conversion_rows(),
          convolution_rows(), dot_attention_rows(), einsum_rows(),        elementwise_rows(),
          function_rows(),    indexing_rows(),      integer_rows(),       loss_rows(),
          matrix_rows(),      movement_rows(),      normalization_rows(), order_rows(),
          pooling_rows(),     quantization_rows(),  quantized_rows(),     recurrent_rows(),
          reduction_rows(),   resampling_rows(),    sampling_rows(),      scatter_rows(),
          selection_rows(),   sequence_rows(),      shape_rows(),         signal_rows(),
          stateful_rows(),    text_rows(),          value_rows()})
      for (const auto& row : rows) handlers->emplace(row.name, row.handle);
    return handlers;
  }();
  const auto found = table.find(own_domain(domain) ? name : domain + ":" + name);
  return found == table.end() ? nullptr : found->second;
}

}  // namespace polychron::onnx::detail
