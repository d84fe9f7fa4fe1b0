// Gather and scatter: elements and slices picked or replaced by index.
#include "ops/call.hpp"
#include "ops/dimensions.hpp"
#include "ops/shape_rules.hpp"

namespace polychron::ops {

std::vector<Shape> gather_shape(const Call& call) {
  const auto axis = call.attributes<GatherAttributes>().axis;
  const Shape& input = call.shape(0);
  const Shape& indices = call.shape(1);
  call.expect_axis(axis, input.size());
  Shape result(input.begin(), input.begin() + axis);
  result.insert(result.end(), indices.begin(), indices.end());
  result.insert(result.end(), input.begin() + axis + 1, input.end());
  return {result};
}

namespace {

/// Operand 1, the indices, must have the input's shape except along the axis.
void expect_indices_along(const Call& call, std::uint32_t axis) {
  Shape expected = call.shape(0);
  const Shape& indices = call.shape(1);
  call.expect_axis(axis, expected.size());
  if (indices.size() != expected.size())
    call.fail(call.name(1) + " has rank " + std::to_string(indices.size()) + ", expected " +
              std::to_string(expected.size()) + " as " + call.name(0));
  expected[axis] = indices[axis];
  call.expect_shape(1, expected);
}

/// The result's shape for indices whose last dimension holds coordinates: each picks a slice of the
/// input.
Shape slices_shape(const Call& call) {
  const Shape& input = call.shape(0);
  const Shape& indices = call.shape(1);
  const auto coordinates = indices.back();
  if (is_symbol(coordinates))
    call.fail("the last dimension of " + call.name(1) +
              " is dynamic, expected a number, as the result's rank depends on it");
  if (coordinates > input.size())
    call.fail("the last dimension of " + call.name(1) + " is " + std::to_string(coordinates) +
              ", expected at most the rank of " + call.name(0) + ", " +
              std::to_string(input.size()));
  Shape result(indices.begin(), indices.end() - 1);
  result.insert(result.end(), input.begin() + coordinates, input.end());
  return result;
}

}  // namespace

// The specification's text gives the result the input's shape. Its description and its examples use
// the indices' shape, and so does this.
std::vector<Shape> gather_elements_shape(const Call& call) {
  expect_indices_along(call, call.attributes<GatherAttributes>().axis);
  return {call.shape(1)};
}

std::vector<Shape> gather_nd_shape(const Call& call) { return {slices_shape(call)}; }

std::vector<Shape> scatter_elements_shape(const Call& call) {
  expect_indices_along(call, call.attributes<ScatterAttributes>().axis);
  call.expect_shape(2, call.shape(1));
  return {call.shape(0)};
}

std::vector<Shape> scatter_nd_shape(const Call& call) {
  call.expect_shape(2, slices_shape(call));
  return {call.shape(0)};
}

}  // namespace polychron::ops
