// Small ONNX files for the tests of the tool.
#pragma once

#include <onnx/onnx_pb.h>

#include <fstream>
#include <functional>
#include <string>

namespace test_tool {

/// y = x OP b, where x is float [batch, 4] with a free dimension and b is 1, 2, 3, 4. `edit` may
/// change it before it is written.
inline void write_model(const std::string& path, const std::string& operator_name = "Add",
                        const std::function<void(onnx::ModelProto&)>& edit = {}) {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(13);
  auto& graph = *model.mutable_graph();
  graph.set_name("small");
  for (auto* value : {graph.add_input(), graph.add_output()}) {
    auto& type = *value->mutable_type()->mutable_tensor_type();
    type.set_elem_type(onnx::TensorProto::FLOAT);
    type.mutable_shape()->add_dim()->set_dim_param("batch");
    type.mutable_shape()->add_dim()->set_dim_value(4);
  }
  graph.mutable_input(0)->set_name("x");
  graph.mutable_output(0)->set_name("y/sum");
  auto& constant = *graph.add_initializer();
  constant.set_name("b");
  constant.set_data_type(onnx::TensorProto::FLOAT);
  constant.add_dims(4);
  for (const float value : {1.0f, 2.0f, 3.0f, 4.0f}) constant.add_float_data(value);
  auto& node = *graph.add_node();
  node.set_op_type(operator_name);
  node.set_name("sum_node");
  node.add_input("x");
  node.add_input("b");
  node.add_output("y/sum");
  if (edit) edit(model);
  std::ofstream file(path, std::ios::binary);
  model.SerializeToOstream(&file);
}

}  // namespace test_tool
