#include "kernels/epilogue.hpp"

#include <span>

#include "ops/table.hpp"

namespace polychron::kernels {

float bound_of(const std::optional<Number>& number, float otherwise) {
  if (!number) return otherwise;
  return std::visit([](auto value) { return static_cast<float>(value); }, *number);
}

namespace {

using Posts = std::span<const PostOp>;

bool adds(const Posts& posts) {
  return !posts.empty() && posts[0].op == ops::op("add") && posts[0].operands.size() == 1;
}

/// True if the input has the result's shape and lies in memory as the result does.
bool is_alike(const Problem& problem, std::size_t input) {
  const Slot &slot = problem.inputs[input], &result = problem.outputs[0];
  return slot.descriptor == result.descriptor && slot.layout == result.layout &&
         slot.order.empty() && slot.strides.empty();
}

/// True if the input has one number for each column.
bool is_vector(const Problem& problem, std::size_t input) {
  const Slot& slot = problem.inputs[input];
  const Shape& shape = slot.descriptor.shape;
  const std::uint32_t columns = problem.outputs[0].descriptor.shape.back();
  return !shape.empty() && shape.back() == columns && *element_count(shape) == columns &&
         slot.lies_plain();
}

/// Takes the bounds from the front of `posts`, if it begins with a relu or a clamp.
void take_bounds(Posts& posts, Epilogue& epilogue) {
  if (posts.empty()) return;
  if (posts[0].op == ops::op("relu")) {
    epilogue.lowest = 0;
  } else if (posts[0].op == ops::op("clamp")) {
    const auto& a = std::get<ClampAttributes>(posts[0].attributes);
    epilogue.lowest = bound_of(a.min_value, epilogue.lowest);
    epilogue.highest = bound_of(a.max_value, epilogue.highest);
  } else {
    return;
  }
  posts = posts.subspan(1);
}

/// Takes a vector or a matrix to add; false if the epilogue has no place for it.
bool take_summand(const Problem& problem, std::size_t input, Epilogue& epilogue) {
  const bool vector = is_vector(problem, input);
  if (!vector && !is_alike(problem, input)) return false;
  // A vector that follows a matrix would have to be added after the matrix; the epilogue adds it
  // before.
  if (epilogue.added != 0 || (vector && epilogue.bias != 0)) return false;
  (vector ? epilogue.bias : epilogue.added) = input;
  return true;
}

}  // namespace

std::optional<Epilogue> epilogue_of(const Problem& problem) {
  Epilogue epilogue;
  if (problem.own_inputs > 2 && problem.inputs[2].present) epilogue.bias = 2;
  Posts posts = problem.post_ops;
  if (adds(posts) &&
      problem.inputs[posts[0].operands[0]].descriptor == problem.outputs[0].descriptor) {
    epilogue.added = posts[0].operands[0];
    if (problem.inputs[epilogue.added].layout != problem.outputs[0].layout) return std::nullopt;
    posts = posts.subspan(1);
  }
  take_bounds(posts, epilogue);
  return posts.empty() ? std::optional(epilogue) : std::nullopt;
}

std::optional<Epilogue> product_epilogue_of(const Problem& problem) {
  Epilogue epilogue;
  if (problem.own_inputs > 2 && problem.inputs[2].present && !take_summand(problem, 2, epilogue))
    return std::nullopt;
  Posts posts = problem.post_ops;
  for (; adds(posts); posts = posts.subspan(1))
    if (!take_summand(problem, posts[0].operands[0], epilogue)) return std::nullopt;
  if (!posts.empty() && posts[0].op == ops::op("gelu")) {
    epilogue.gelu = true;
    posts = posts.subspan(1);
  } else {
    take_bounds(posts, epilogue);
  }
  return posts.empty() ? std::optional(epilogue) : std::nullopt;
}

}  // namespace polychron::kernels
