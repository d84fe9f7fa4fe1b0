// The implementations of an operator, best first: the entries of the folders' tables, folder by
// folder.
#include "kernels/direct/direct.hpp"
#include "kernels/eigen/eigen.hpp"
#include "kernels/kernel.hpp"
#include "kernels/onednn/onednn.hpp"
#include "kernels/reference/reference.hpp"

namespace polychron::kernels {
namespace {

/// A folder and its tables, one for each family. Eigen's kernels and our own come first: they take
/// only the problems that they compute faster than oneDNN. The second entry of our own folder comes
/// last and takes problems that oneDNN refuses.
struct Folder {
  std::string_view name;
  std::vector<std::span<const Entry>> families;
};

const std::vector<Folder>& folders() {
  // Never destroyed: a runtime that is a static variable may build graphs until later.
  static const auto& list = *new std::vector<Folder>{
      {"eigen", {eigen::elementwise_entries()}},
      {"direct",
       {direct::elementwise_entries(), direct::function_entries(), direct::pooling_entries(),
        direct::reduction_entries(), direct::exponential_entries(), direct::normalization_entries(),
        direct::resampling_entries(), direct::movement_entries(), direct::indexing_entries(),
        direct::quantization_entries(), direct::matrix_entries(), direct::convolution_entries()}},
      {"onednn",
       {onednn::elementwise_entries(), onednn::activation_entries(), onednn::matrix_entries(),
        onednn::convolution_entries(), onednn::pooling_entries(), onednn::normalization_entries(),
        onednn::movement_entries(), onednn::recurrent_entries()}},
      {"direct",
       {direct::activation_entries(), direct::broadcast_entries(), direct::cast_entries(),
        direct::copy_entries()}},
  };
  return list;
}

}  // namespace

std::vector<Implementation> implementations(ops::OpId id) {
  std::vector<Implementation> list;
  for (const Folder& folder : folders())
    for (const auto entries : folder.families)
      for (const Entry& entry : entries)
        if (entry.op == id) list.push_back({entry, folder.name});
  if (reference::find(id) != nullptr) list.push_back({{id, reference::prepare}, "reference"});
  return list;
}

std::string_view way_of(const Problem& problem) {
  for (const Implementation& row : implementations(problem.op))
    if (row.refusal != nullptr && !row.refusal(problem)) return row.way;
  return {};
}

}  // namespace polychron::kernels
