#include "tests/ops/random_calls.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "polychron/attribute_fields.hpp"
#include "tests/ops/random_recurrent.hpp"
#include "tests/ops/random_spatial.hpp"

namespace polychron::test {

namespace {

Case same(const ops::Row& row, Random& random) {
  const auto shape = random.shape(row.operands()[0].rank_min, 6);
  auto attributes = default_attributes(row.attributes);
  if (row.name == "cast") attributes = CastAttributes{random.type(ops::type_sets::any)};
  if (row.name == "triangular") attributes = TriangularAttributes{random.coin(), random.whole(-8)};
  const auto choose = [&](auto& fields) {
    if constexpr (requires { fields.alpha; })
      if (random.coin()) fields.alpha = random.quarter();
    if constexpr (requires { fields.beta; })
      if (random.coin()) fields.beta = random.quarter();
  };
  std::visit(choose, attributes);
  return {{shape}, attributes, {shape}};
}

Case clamp(const ops::Row&, Random& random) {
  const auto shape = random.shape(0, 6);
  ClampAttributes attributes;
  const bool below_zero = random.coin();
  if (random.coin()) attributes.min_value = below_zero ? -1.5 : double(random.number(0, 3));
  if (random.coin()) attributes.max_value = double(random.number(3, 6));
  return {{shape}, attributes, {shape}};
}

Case softmax(const ops::Row&, Random& random) {
  const auto shape = random.shape(1, 6);
  return {{shape}, SoftmaxAttributes{random.number(0, Size(shape.size()) - 1)}, {shape}};
}

Case broadcast(const ops::Row& row, Random& random) {
  const auto target = random.shape(0, 6);
  std::vector<Shape> operands;
  for (std::size_t i = 0; i < row.operands().size(); ++i)
    operands.push_back(random.narrower(target));
  return {operands, {}, {largest(operands)}};
}

Case batch_normalization(const ops::Row&, Random& random) {
  const auto shape = random.shape(1, 5);
  const auto axis = random.number(0, Size(shape.size()) - 1);
  const Shape channels{shape[axis]};
  return {{shape, channels, channels, channels, channels},
          BatchNormalizationAttributes{axis, 1e-5},
          {shape}};
}

Case instance_normalization(const ops::Row&, Random& random) {
  const auto shape = random.shape(4, 4);
  const auto layout = InputOperandLayout(random.number(0, 1));
  const Shape channels{shape[text(layout).find('c')]};
  const double epsilon = random.coin() ? 1e-5 : 0.25;
  return {{shape, channels, channels}, InstanceNormalizationAttributes{epsilon, layout}, {shape}};
}

Case layer_normalization(const ops::Row&, Random& random) {
  const auto shape = random.shape(0, 5);
  const auto axes = random.some(Size(shape.size()));
  Shape scale;
  for (const auto axis : axes) scale.push_back(shape[axis]);
  // Few numbers may be nearly equal: without an epsilon their difference would be all rounding.
  const double epsilon = *element_count(scale) >= 16 && random.coin() ? 1e-5 : 0.25;
  return {{shape, scale, scale}, LayerNormalizationAttributes{axes, epsilon}, {shape}};
}

Case reduce(const ops::Row&, Random& random) {
  const auto shape = random.shape(0, 6);
  const auto axes = random.some(Size(shape.size()));
  const bool keep = random.coin();
  Shape result = shape;
  for (const auto axis : axes) result[axis] = keep ? 1 : 0;  // 0: to be taken out
  std::erase(result, 0U);
  return {{shape}, ReduceAttributes{axes, keep}, {result}};
}

Case arg_min_max(const ops::Row&, Random& random) {
  const auto shape = random.shape(1, 6);
  const auto axis = random.number(0, Size(shape.size()) - 1);
  const bool keep = random.coin();
  Shape result = shape;
  result[axis] = keep ? 1 : 0;  // 0: to be taken out
  std::erase(result, 0U);
  const auto type = random.coin() ? DataType::int32 : DataType::int64;
  return {{shape}, ArgMinMaxAttributes{axis, keep, type}, {result}};
}

Case top_k(const ops::Row&, Random& random) {
  const auto shape = random.shape(1, 6);
  const auto axis = random.number(0, Size(shape.size()) - 1);
  Shape result = shape;
  result[axis] = random.number(1, shape[axis]);
  return {{shape}, TopKAttributes{result[axis], axis, random.coin()}, {result}};
}

Case cumulative_sum(const ops::Row&, Random& random) {
  const auto shape = random.shape(1, 6);
  const auto axis = random.number(0, Size(shape.size()) - 1);
  return {{shape}, CumulativeSumAttributes{axis, random.coin(), random.coin()}, {shape}};
}

Case reverse(const ops::Row&, Random& random) {
  const auto shape = random.shape(0, 6);
  ReverseAttributes attributes;
  if (random.coin()) attributes.axes = random.some(Size(shape.size()));
  return {{shape}, attributes, {shape}};
}

Case tile(const ops::Row&, Random& random) {
  const auto shape = random.shape(0, 6);
  const auto repetitions = random.list(shape.size(), 1, 3);
  Shape result;
  for (std::size_t i = 0; i < shape.size(); ++i) result.push_back(shape[i] * repetitions[i]);
  return {{shape}, TileAttributes{repetitions}, {result}};
}

Case concat(const ops::Row&, Random& random) {
  const auto shape = random.shape(1, 5);
  const auto axis = random.number(0, Size(shape.size()) - 1);
  std::vector<Shape> operands(random.number(1, 5), shape);
  auto result = shape;
  result[axis] = 0;
  for (auto& operand : operands) {
    operand[axis] = random.number(1, 7);
    result[axis] += operand[axis];
  }
  return {operands, ConcatAttributes{axis}, {result}};
}

Case expand(const ops::Row&, Random& random) {
  const auto target = random.shape(0, 6);
  return {{random.narrower(target)}, ExpandAttributes{target}, {target}};
}

Case gather(const ops::Row&, Random& random) {
  const auto before = random.shape(0, 2), indices = random.shape(0, 3), after = random.shape(0, 2);
  Shape input = before, result = before;
  input.push_back(random.number(1, 7));
  input.insert(input.end(), after.begin(), after.end());
  result.insert(result.end(), indices.begin(), indices.end());
  result.insert(result.end(), after.begin(), after.end());
  return {{input, indices}, GatherAttributes{Size(before.size())}, {result}};
}

/// An input, and indices that differ from it along `axis`.
std::pair<Shape, Shape> indexed_along(Size axis, const Shape& shape, Random& random) {
  Shape indices = shape;
  indices[axis] = random.number(1, 9);
  return {shape, indices};
}

Case gather_elements(const ops::Row&, Random& random) {
  const auto rank = random.number(1, 6), axis = random.number(0, rank - 1);
  const auto [input, indices] = indexed_along(axis, random.shape(rank, rank), random);
  return {{input, indices}, GatherAttributes{axis}, {indices}};
}

Case scatter_elements(const ops::Row&, Random& random) {
  const auto rank = random.number(1, 6), axis = random.number(0, rank - 1);
  const auto [input, indices] = indexed_along(axis, random.shape(rank, rank), random);
  return {{input, indices, indices}, ScatterAttributes{axis}, {input}};
}

/// An input, coordinates that go through its first dimensions, and the slices that they pick.
std::tuple<Shape, Shape, Shape> sliced(Random& random) {
  const auto lead = random.shape(1, 3), rest = random.shape(0, 3), batch = random.shape(0, 3);
  Shape input = lead, indices = batch, slices = batch;
  input.insert(input.end(), rest.begin(), rest.end());
  indices.push_back(Size(lead.size()));
  slices.insert(slices.end(), rest.begin(), rest.end());
  return {input, indices, slices};
}

Case gather_nd(const ops::Row&, Random& random) {
  const auto [input, indices, slices] = sliced(random);
  return {{input, indices}, {}, {slices}};
}

Case scatter_nd(const ops::Row& row, Random& random) {
  const auto [input, indices, slices] = sliced(random);
  Attributes attributes;
  if (row.is_extension())
    attributes = ScatterReduceAttributes{ScatterReduction(random.number(0, 3))};
  return {{input, indices, slices}, attributes, {input}};
}

Case pad(const ops::Row&, Random& random) {
  const auto shape = random.shape(0, 5);
  PadAttributes attributes{{}, {}, PaddingMode(random.number(0, 2)), random.quarter()};
  Shape result;
  for (const auto size : shape) {
    attributes.beginning_padding.push_back(random.number(0, size - 1));
    attributes.ending_padding.push_back(random.number(0, size - 1));
    result.push_back(attributes.beginning_padding.back() + size + attributes.ending_padding.back());
  }
  return {{shape}, attributes, {result}};
}

Case reshape(const ops::Row&, Random& random) {
  auto shape = random.shape(0, 5), result = shape;
  std::ranges::reverse(result);
  result.insert(result.begin() + random.number(0, Size(result.size())), 1);
  return {{shape}, ReshapeAttributes{result}, {result}};
}

Case slice(const ops::Row&, Random& random) {
  const auto shape = random.shape(0, 5);
  SliceAttributes attributes{{}, {}, Sizes{}};
  Shape result;
  for (const auto size : shape) {
    const auto start = random.number(0, size - 1), length = random.number(1, size - start);
    const auto stride = random.number(1, 4);
    attributes.starts.push_back(start);
    attributes.sizes.push_back(length);
    attributes.strides->push_back(stride);
    result.push_back(windows(length, 0, 1, stride));
  }
  return {{shape}, attributes, {result}};
}

Case split(const ops::Row&, Random& random) {
  auto shape = random.shape(1, 5);
  const auto axis = random.number(0, Size(shape.size()) - 1);
  SplitAttributes attributes{random.list(random.number(1, 5), 1, 4), random.coin(), axis};
  auto parts = attributes.splits;
  if (attributes.equal_parts) {
    parts.assign(parts.size(), parts[0]);
    attributes.splits = {Size(parts.size())};
  }
  shape[axis] = std::accumulate(parts.begin(), parts.end(), 0U);
  std::vector<Shape> results(parts.size(), shape);
  for (std::size_t i = 0; i < parts.size(); ++i) results[i][axis] = parts[i];
  return {{shape}, attributes, results};
}

Case transpose(const ops::Row&, Random& random) {
  const auto shape = random.shape(0, 6);
  auto permutation = random.some(Size(shape.size()));
  for (Size i = 0; i < shape.size(); ++i)
    if (std::ranges::find(permutation, i) == permutation.end()) permutation.push_back(i);
  Shape result(shape.size());
  for (std::size_t i = 0; i < shape.size(); ++i) result[i] = shape[permutation[i]];
  return {{shape}, TransposeAttributes{permutation}, {result}};
}

Case blockwise(const ops::Row&, Random& random) {
  const auto scale = random.shape(0, 6);
  Shape shape = scale;
  for (auto& size : shape) size *= random.number(1, 3);
  return {{shape, scale, scale}, {}, {shape}};
}

const std::map<ops::ShapeRule, Case (*)(const ops::Row&, Random&)> generators{
    {ops::same_shape, same},
    {ops::clamp_shape, clamp},
    {ops::softmax_shape, softmax},
    {ops::broadcast_shape, broadcast},
    {ops::matmul_shape, spatial::matmul},
    {ops::gemm_shape, spatial::gemm},
    {ops::conv2d_shape, spatial::conv2d},
    {ops::conv_transpose2d_shape, spatial::conv_transpose2d},
    {ops::pool2d_shape, spatial::pool2d},
    {ops::resample2d_shape, spatial::resample2d},
    {ops::batch_normalization_shape, batch_normalization},
    {ops::instance_normalization_shape, instance_normalization},
    {ops::layer_normalization_shape, layer_normalization},
    {ops::reduce_shape, reduce},
    {ops::arg_min_max_shape, arg_min_max},
    {ops::cumulative_sum_shape, cumulative_sum},
    {ops::top_k_shape, top_k},
    {ops::concat_shape, concat},
    {ops::expand_shape, expand},
    {ops::gather_shape, gather},
    {ops::gather_elements_shape, gather_elements},
    {ops::gather_nd_shape, gather_nd},
    {ops::scatter_elements_shape, scatter_elements},
    {ops::scatter_nd_shape, scatter_nd},
    {ops::reverse_shape, reverse},
    {ops::tile_shape, tile},
    {ops::pad_shape, pad},
    {ops::reshape_shape, reshape},
    {ops::slice_shape, slice},
    {ops::split_shape, split},
    {ops::transpose_shape, transpose},
    {ops::blockwise_shape, blockwise},
    {ops::gru_shape, recurrent::gru},
    {ops::gru_cell_shape, recurrent::gru_cell},
    {ops::lstm_shape, recurrent::lstm},
    {ops::lstm_cell_shape, recurrent::lstm_cell},
};

}  // namespace

Case random_call(const ops::Row& row, Random& random) {
  const auto generator = generators.find(row.shape);
  BOOST_REQUIRE_MESSAGE(generator != generators.end(), row.name << " has no generator");
  return generator->second(row, random);
}

Descriptors typed(const ops::Row& row, const Case& call, Random& random) {
  Descriptors operands;
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    const auto& rule = row.operands()[row.call.variadic() ? 0 : i];
    const std::size_t like = row.call.variadic() && i > 0 ? 0 : rule.same_as;
    const auto type =
        like == ops::OperandRule::independent ? random.type(rule.types) : operands[like].data_type;
    operands.push_back(rule.optional && random.coin() ? absent
                                                      : OperandDescriptor{type, call.operands[i]});
  }
  return operands;
}

}  // namespace polychron::test
