// conv2d and convTranspose2d. The filter is reordered once, to whatever order the library likes
// best for the layouts of input and result; bias and post-operations are part of the primitive.
#include "kernels/onednn/guarded.hpp"
#include "kernels/onednn/onednn.hpp"
#include "kernels/onednn/post_ops.hpp"
#include "ops/table.hpp"

namespace polychron::kernels::onednn {
namespace {

/// What both operators' attributes come down to.
struct Geometry {
  memory::dims strides, dilations, padding_begin, padding_end;
  memory::dim groups = 1;
  std::array<std::size_t, 4> filter_order{};  ///< where outputs, inputs, height and width are
  InputOperandLayout layout = InputOperandLayout::nchw;
};

std::array<std::size_t, 4> order_of(Conv2dFilterOperandLayout layout) {
  switch (layout) {
    case Conv2dFilterOperandLayout::oihw:
      return {0, 1, 2, 3};
    case Conv2dFilterOperandLayout::hwio:
      return {3, 2, 0, 1};
    case Conv2dFilterOperandLayout::ohwi:
      return {0, 3, 1, 2};
    case Conv2dFilterOperandLayout::ihwo:
      return {3, 0, 1, 2};
  }
  return {};
}
std::array<std::size_t, 4> order_of(ConvTranspose2dFilterOperandLayout layout) {
  switch (layout) {
    case ConvTranspose2dFilterOperandLayout::iohw:
      return {1, 0, 2, 3};
    case ConvTranspose2dFilterOperandLayout::hwoi:
      return {2, 3, 0, 1};
    case ConvTranspose2dFilterOperandLayout::ohwi:
      return {0, 3, 1, 2};
  }
  return {};
}

/// The library counts dilation 0 where WebNN counts 1.
template <class A>
Geometry geometry_of(const A& a) {
  return {{a.strides[0], a.strides[1]},
          {memory::dim{a.dilations[0]} - 1, memory::dim{a.dilations[1]} - 1},
          {a.padding[0], a.padding[2]},
          {a.padding[1], a.padding[3]},
          a.groups,
          order_of(a.filter_layout),
          a.input_layout};
}

/// A picture by its attribute's layout: an nhwc one is the same dimensions with other strides.
memory::desc picture(const Slot& slot, InputOperandLayout layout) {
  if (layout == InputOperandLayout::nchw) return describe(slot);
  const Shape& s = slot.descriptor.shape;
  return {{s[0], s[3], s[1], s[2]}, memory::data_type::f32, memory::format_tag::nhwc};
}

/// The filter as it lies in memory, as [groups,] outputs, inputs, height, width. For a transposed
/// convolution the inputs' dimension holds all groups, for a convolution the outputs' does.
memory::desc filter_desc(const Slot& slot, const Geometry& g, bool transposed) {
  const memory::dims shape = to_dims(slot.descriptor.shape);
  const memory::dims steps = row_major(shape);
  memory::dims dims, strides;
  for (const std::size_t axis : g.filter_order) {
    dims.push_back(shape[axis]);
    strides.push_back(steps[axis]);
  }
  if (g.groups == 1) return {dims, memory::data_type::f32, strides};
  const std::size_t grouped = transposed ? 1 : 0;
  dims[grouped] /= g.groups;
  dims.insert(dims.begin(), g.groups);
  strides.insert(strides.begin(), strides[grouped] * dims[grouped + 1]);
  return {dims, memory::data_type::f32, strides};
}

template <class Primitive>
KernelResult prepare(const Problem& problem, const Geometry& g, dnnl::algorithm algorithm,
                     bool transposed) {
  const Slot& filter_slot = problem.inputs[1];
  const bool biased = problem.own_inputs > 2 && problem.inputs[2].present;
  if (g.layout != InputOperandLayout::nchw && problem.post_ops.size() != 0)
    return refuse("post-operations need layout nchw");
  const memory::desc source = picture(problem.inputs[0], g.layout);
  const memory::desc target = picture(problem.outputs[0], g.layout);
  const memory::desc filter = filter_desc(filter_slot, g, transposed);
  const memory::desc wanted =
      filter_slot.constant
          ? memory::desc(filter.dims(), memory::data_type::f32, memory::format_tag::any)
          : filter;
  const memory::desc bias = biased ? plain({target.dims()[1]}) : memory::desc();
  const auto post_ops = translate(problem, target);
  if (!post_ops) return refuse("a post-operation that oneDNN does not have");
  const auto pd = describe_primitive<Primitive>(post_ops->attributes, inference, algorithm, source,
                                                wanted, bias, target, g.strides, g.dilations,
                                                g.padding_begin, g.padding_end);
  auto kernel = std::make_unique<PrimitiveKernel>(Primitive(pd), pd.scratchpad_desc());
  kernel->add_input(DNNL_ARG_SRC, source, 0);
  kernel->add_operand(DNNL_ARG_WEIGHTS, pd.weights_desc(), filter, filter_slot, 1);
  if (biased) kernel->add_input(DNNL_ARG_BIAS, bias, 2);
  kernel->add_output(DNNL_ARG_DST, target);
  post_ops->add_to(*kernel);
  return KernelResult(std::move(kernel));
}

}  // namespace

KernelResult prepare_convolution(const Problem& problem) {
  for (std::size_t i = 0; i < problem.own_inputs; ++i)
    if (problem.inputs[i].present && !is_float32(problem.inputs[i])) return refuse("float32 only");
  return guarded([&]() -> KernelResult {
    if (const auto* a = std::get_if<Conv2dAttributes>(&problem.attributes))
      return prepare<dnnl::convolution_forward>(problem, geometry_of(*a),
                                                dnnl::algorithm::convolution_direct, false);
    return prepare<dnnl::deconvolution_forward>(
        problem, geometry_of(std::get<ConvTranspose2dAttributes>(problem.attributes)),
        dnnl::algorithm::deconvolution_direct, true);
  });
}

}  // namespace polychron::kernels::onednn
