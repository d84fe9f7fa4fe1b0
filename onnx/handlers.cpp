#include "onnx/handlers.hpp"

#include <map>

#include "onnx/model.hpp"

namespace polychron::onnx::detail {

namespace {

/// Sorted by name.
const std::map<std::string_view, Handler>& handlers() {
  // Never destroyed: a runtime that is a static variable may load models until later.
  static const auto& table = *[] {
    auto* const made = new std::map<std::string_view, Handler>;
    for (const auto rows :
         {activation_rows(),  attention_rows(),     control_rows(),       conversion_rows(),
          convolution_rows(), dot_attention_rows(), einsum_rows(),        elementwise_rows(),
          function_rows(),    indexing_rows(),      integer_rows(),       loss_rows(),
          matrix_rows(),      movement_rows(),      normalization_rows(), order_rows(),
          pooling_rows(),     quantization_rows(),  quantized_rows(),     recurrent_rows(),
          reduction_rows(),   resampling_rows(),    sampling_rows(),      scatter_rows(),
          selection_rows(),   sequence_rows(),      shape_rows(),         signal_rows(),
          stateful_rows(),    text_rows(),          value_rows()})
      for (const auto& row : rows) made->emplace(row.name, row.handle);
    return made;
  }();
  return table;
}

}  // namespace

Handler find_handler(const std::string& domain, const std::string& name) {
  const auto found = handlers().find(own_domain(domain) ? name : domain + ":" + name);
  return found == handlers().end() ? nullptr : found->second;
}

std::vector<std::string_view> operators_of(const std::string& domain) {
  std::vector<std::string_view> names;
  for (const auto& [name, handle] : handlers())
    if (name.starts_with(domain + ":")) names.push_back(name.substr(domain.size() + 1));
  return names;
}

}  // namespace polychron::onnx::detail
