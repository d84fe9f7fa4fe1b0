// Which implementations an operator has, best first. A new operator is an entry here, a kernel
// function, and a reference.
#include <algorithm>

#include "kernels/direct/direct.hpp"
#include "kernels/eigen/eigen.hpp"
#include "kernels/kernel.hpp"
#include "kernels/onednn/onednn.hpp"
#include "kernels/reference/reference.hpp"
#include "ops/table.hpp"

namespace polychron::kernels {
namespace {

using ops::op;

/// An implementation of an operator. Those of one operator stand together, best first; the
/// reference, which every operator has, is not listed.
struct Entry {
  ops::OpId op;
  KernelResult (*prepare)(const Problem&);
  std::string_view name = "onednn";
};

constexpr Entry entries[] = {
    {op("abs"), eigen::prepare_small_unary, "eigen"},
    {op("abs"), onednn::prepare_eltwise},
    {op("add"), eigen::prepare_small_binary, "eigen"},
    {op("add"), onednn::prepare_binary},
    {op("averagePool2d"), onednn::prepare_pool},
    {op("ceil"), eigen::prepare_unary, "eigen"},
    {op("clamp"), onednn::prepare_eltwise},
    {op("concat"), direct::prepare_concat, "direct"},
    {op("concat"), onednn::prepare_concat},
    {op("conv2d"), onednn::prepare_pixel},
    {op("conv2d"), onednn::prepare_convolution},
    {op("convTranspose2d"), onednn::prepare_convolution},
    {op("cos"), eigen::prepare_unary, "eigen"},
    {op("div"), eigen::prepare_small_binary, "eigen"},
    {op("div"), onednn::prepare_binary},
    {op("elu"), onednn::prepare_eltwise},
    {op("exp"), onednn::prepare_eltwise},
    {op("floor"), eigen::prepare_unary, "eigen"},
    {op("gelu"), onednn::prepare_eltwise},
    {op("gemm"), onednn::prepare_product},
    {op("hardSwish"), onednn::prepare_eltwise},
    {op("layerNormalization"), onednn::prepare_layer_normalization},
    {op("leakyRelu"), onednn::prepare_eltwise},
    {op("linear"), onednn::prepare_eltwise},
    {op("log"), onednn::prepare_eltwise},
    {op("matmul"), onednn::prepare_product},
    {op("max"), onednn::prepare_binary},
    {op("maxPool2d"), onednn::prepare_pool},
    {op("min"), onednn::prepare_binary},
    {op("mul"), eigen::prepare_small_binary, "eigen"},
    {op("mul"), onednn::prepare_binary},
    {op("neg"), eigen::prepare_small_unary, "eigen"},
    {op("neg"), onednn::prepare_eltwise},
    {op("reciprocal"), eigen::prepare_unary, "eigen"},
    {op("reduceMax"), onednn::prepare_reduction},
    {op("reduceMean"), onednn::prepare_reduction},
    {op("reduceMin"), onednn::prepare_reduction},
    {op("reduceSum"), onednn::prepare_reduction},
    {op("relu"), eigen::prepare_small_unary, "eigen"},
    {op("relu"), onednn::prepare_eltwise},
    {op("resample2d"), onednn::prepare_resample},
    {op("roundEven"), eigen::prepare_unary, "eigen"},
    {op("sigmoid"), onednn::prepare_eltwise},
    {op("sin"), eigen::prepare_unary, "eigen"},
    {op("softmax"), onednn::prepare_softmax},
    {op("softplus"), onednn::prepare_eltwise},
    {op("softsign"), eigen::prepare_unary, "eigen"},
    {op("sqrt"), eigen::prepare_small_unary, "eigen"},
    {op("sqrt"), onednn::prepare_eltwise},
    {op("sub"), eigen::prepare_small_binary, "eigen"},
    {op("sub"), onednn::prepare_binary},
    {op("tan"), eigen::prepare_unary, "eigen"},
    {op("tanh"), onednn::prepare_eltwise},
    {op("transpose"), onednn::prepare_reorder},
    {op_depth_to_space, direct::prepare_depth_to_space, "direct"},
    {op_reorder, onednn::prepare_reorder},
    {op_swish, onednn::prepare_eltwise},
};

}  // namespace

std::vector<Implementation> implementations(ops::OpId id) {
  std::vector<Implementation> list;
  for (const Entry& entry : entries)
    if (entry.op == id) list.push_back({entry.name, entry.prepare});
  if (reference::find(id) != nullptr) list.push_back({"reference", reference::prepare});
  return list;
}

}  // namespace polychron::kernels
