// conv2d and convTranspose2d. The filter is reordered once, into the order that the library chooses
// for the layouts of input and result. Bias and post-operations are part of the primitive.
#include "kernels/onednn/guarded.hpp"
#include "kernels/onednn/onednn.hpp"
#include "kernels/onednn/post_ops.hpp"
#include "kernels/window_range.hpp"
#include "ops/layouts.hpp"

namespace polychron::kernels::onednn {
namespace {

/// In a transposed convolution the result has the padding.
template <class A>
bool near(const A& a, const Slot& picture) {
  const auto [n, c, h, w] = ops::picture_axes(a.input_layout);
  return windows_stay_near(a, picture.descriptor.shape[h], picture.descriptor.shape[w]);
}

/// The attributes that both operators share.
struct Geometry {
  memory::dims strides, dilations, padding_begin, padding_end;
  memory::dim groups = 1;
  ops::Axes filter_order{};  ///< positions of outputs, inputs, height and width
  InputOperandLayout layout = InputOperandLayout::nchw;
};

/// The library's dilation is WebNN's minus 1.
template <class A>
Geometry geometry_of(const A& a) {
  return {{a.strides[0], a.strides[1]},
          {memory::dim{a.dilations[0]} - 1, memory::dim{a.dilations[1]} - 1},
          {a.padding[0], a.padding[2]},
          {a.padding[1], a.padding[3]},
          a.groups,
          ops::filter_axes(a.filter_layout),
          a.input_layout};
}

/// The filter in memory, as [groups,] outputs, inputs, height, width. In a transposed convolution
/// the inputs' dimension holds all groups; in a convolution the outputs' dimension does.
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

/// The operands as the primitive sees them.
struct Operands {
  memory::desc source, target, filter, wanted, bias;

  Operands(const Problem& problem, const Geometry& g, bool transposed)
      : source(picture(problem.inputs[0], g.layout)),
        target(picture(problem.outputs[0], g.layout)),
        filter(filter_desc(problem.inputs[1], g, transposed)),
        wanted(problem.inputs[1].constant
                   ? memory::desc(dims_of(filter), memory::data_type::f32, memory::format_tag::any)
                   : filter) {
    if (problem.own_inputs > 2 && problem.inputs[2].present) bias = plain({dims_of(target)[1]});
  }
};

template <class Primitive>
auto described_convolution(const Operands& operands, const Geometry& g, dnnl::algorithm algorithm,
                           const dnnl::primitive_attr& attributes) {
  return describe_primitive<Primitive>(attributes, inference, algorithm, operands.source,
                                       operands.wanted, operands.bias, operands.target, g.strides,
                                       g.dilations, g.padding_begin, g.padding_end);
}

template <class Primitive>
KernelResult prepare(const Problem& problem, const Geometry& g, dnnl::algorithm algorithm,
                     bool transposed) {
  if (g.layout != InputOperandLayout::nchw && problem.post_ops.size() != 0)
    return refuse("post-operations need layout nchw");
  const Operands operands(problem, g, transposed);
  const auto post_ops = translate(problem, operands.target);
  if (!post_ops) return refuse("a post-operation that oneDNN does not have");
  const auto pd = described_convolution<Primitive>(operands, g, algorithm, post_ops->attributes);
  auto kernel = std::make_unique<PrimitiveKernel>(Primitive(pd), pd.scratchpad_desc());
  kernel->add_input(DNNL_ARG_SRC, operands.source, 0);
  kernel->add_operand(DNNL_ARG_WEIGHTS, pd.weights_desc(), operands.filter, problem.inputs[1], 1);
  if (!operands.bias.is_zero()) kernel->add_input(DNNL_ARG_BIAS, operands.bias, 2);
  kernel->add_output(DNNL_ARG_DST, operands.target);
  post_ops->add_to(*kernel);
  return KernelResult(std::move(kernel));
}

KernelResult prepare_convolution(const Problem& whole) {
  const Problem problem = as_row(whole);
  for (std::size_t i = 0; i < problem.own_inputs; ++i)
    if (problem.inputs[i].present && !is_float32(problem.inputs[i])) return refuse("float32 only");
  return guarded([&]() -> KernelResult {
    if (const auto* a = std::get_if<Conv2dAttributes>(&problem.attributes)) {
      if (!near(*a, problem.inputs[0])) return refuse("windows far beyond the picture");
      return prepare<dnnl::convolution_forward>(problem, geometry_of(*a),
                                                dnnl::algorithm::convolution_direct, false);
    }
    const auto& a = std::get<ConvTranspose2dAttributes>(problem.attributes);
    if (!near(a, problem.outputs[0])) return refuse("windows far beyond the picture");
    return prepare<dnnl::deconvolution_forward>(problem, geometry_of(a),
                                                dnnl::algorithm::deconvolution_direct, true);
  });
}

/// A picture of one pixel is a vector, so its convolution is a product.
KernelResult prepare_pixel(const Problem& problem) {
  const auto& a = std::get<Conv2dAttributes>(problem.attributes);
  const Shape& in = problem.inputs[0].descriptor.shape;
  const Shape& filter = problem.inputs[1].descriptor.shape;
  const Shape& out = problem.outputs[0].descriptor.shape;
  if (a.input_layout != InputOperandLayout::nchw ||
      a.filter_layout != Conv2dFilterOperandLayout::oihw || a.groups != 1)
    return refuse("nchw and oihw without groups only");
  if (in[2] != 1 || in[3] != 1 || filter[2] != 1 || filter[3] != 1 || out[2] != 1 || out[3] != 1)
    return refuse("one pixel only");
  Problem product = problem;
  product.op = ops::op("gemm");
  product.attributes = GemmAttributes{1, 1, false, true};
  product.inputs[0].descriptor.shape = {in[0], in[1]};
  product.inputs[1].descriptor.shape = {filter[0], filter[1]};
  product.outputs[0].descriptor.shape = {out[0], out[1]};
  for (std::size_t i = problem.own_inputs; i < problem.inputs.size(); ++i) {
    Shape& operand = product.inputs[i].descriptor.shape;
    if (operand.size() != 4) return refuse("post-operations with operands of rank 4 only");
    operand = {operand[0], operand[1]};
  }
  return prepare_product(product);
}

template <class Primitive>
bool is_real(const Problem& problem, const Geometry& g, dnnl::algorithm algorithm,
             bool transposed) {
  try {
    const auto pd = described_convolution<Primitive>(Operands(problem, g, transposed), g, algorithm,
                                                     caller_scratch());
    return !is_reference(pd.impl_info_str());
  } catch (const dnnl::error&) {
    return false;
  }
}

/// Refuses problems for which the library has only its reference implementation in these layouts.
/// Ignores post-operations.
Refusal refuse_reference(const Problem& whole) {
  const Problem problem = as_row(whole);
  const auto* const a = std::get_if<Conv2dAttributes>(&problem.attributes);
  const bool real =
      a != nullptr
          ? is_real<dnnl::convolution_forward>(problem, geometry_of(*a),
                                               dnnl::algorithm::convolution_direct, false)
          : is_real<dnnl::deconvolution_forward>(
                problem, geometry_of(std::get<ConvTranspose2dAttributes>(problem.attributes)),
                dnnl::algorithm::deconvolution_direct, true);
  return real ? std::nullopt : Refusal("a reference implementation only");
}

}  // namespace

std::span<const Entry> convolution_entries() noexcept {
  static constexpr Entry entries[] = {
      {ops::op("conv2d"), prepare_pixel},
      {ops::op("conv2d"), prepare_convolution, "library", refuse_reference},
      {ops::op("convTranspose2d"), prepare_convolution, "library", refuse_reference}};
  return entries;
}

}  // namespace polychron::kernels::onednn
