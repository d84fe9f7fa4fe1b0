"""Shared by the generated models: a graph that is written layer by layer, as exporters do.

Weights are random, from a seed, and scaled so that activations neither grow nor vanish with depth.
"""
import math

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Graph:
    """Nodes and weights of one model; methods add a layer and return the name of its output."""

    def __init__(self, name, opset, seed):
        self.name, self.opset = name, opset
        self.random = np.random.default_rng(seed)
        self.nodes, self.weights, self.inputs = [], [], []

    def input(self, name, shape, data_type=TensorProto.FLOAT):
        self.inputs.append(helper.make_tensor_value_info(name, data_type, shape))
        return name

    def add(self, operator, *operands, **attributes):
        output = f"{operator}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(operands), [output], output, **attributes))
        return output

    def weight(self, array):
        name = f"weight_{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(array, name))
        return name

    def normal(self, shape, deviation):
        return self.weight(self.random.standard_normal(shape, np.float32) * np.float32(deviation))

    def scalar(self, value):
        tensor = numpy_helper.from_array(np.array(value, np.float32))
        return self.add("Constant", value=tensor)

    def shape(self, *dimensions):
        return self.add("Constant", value=numpy_helper.from_array(np.array(dimensions, np.int64)))

    def conv(self, x, channels, filters, kernel, stride=1, groups=1, gain=math.sqrt(2)):
        """A convolution with its batch normalization folded into weights and bias."""
        per_group = channels // groups
        deviation = gain / math.sqrt(per_group * kernel * kernel)
        weights = self.normal((filters, per_group, kernel, kernel), deviation)
        return self.add("Conv", x, weights, self.normal(filters, 0.1), kernel_shape=[kernel, kernel],
                        strides=[stride, stride], pads=[kernel // 2] * 4, group=groups, dilations=[1, 1])

    def gemm(self, x, inputs, outputs, gain=1.0):
        weights = self.normal((outputs, inputs), gain / math.sqrt(inputs))
        return self.add("Gemm", x, weights, self.normal(outputs, 0.1), transB=1)

    def model(self, output, name, shape):
        """The whole model, with `output` under the name that callers see."""
        for node in self.nodes:
            node.output[:] = [name if o == output else o for o in node.output]
            node.input[:] = [name if i == output else i for i in node.input]
        result = helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        graph = helper.make_graph(self.nodes, self.name, self.inputs, [result], self.weights)
        return helper.make_model(graph, producer_name="polychron-bench", ir_version=8,
                                 opset_imports=[helper.make_opsetid("", self.opset)])
