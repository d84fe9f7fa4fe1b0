// Gather and scatter by tensors of positions: GatherElements, GatherND, ScatterElements, ScatterND,
// and Scatter, its predecessor.
//
// WebNN has these operators, except batches of positions, shapes that differ from the input's
// beside the axis, and updates that are added or compared. The importer expresses those by rows: it
// flattens positions to one dimension, gathers rows, and scatters by comparing each row's position
// with the positions of all updates, any number of which may coincide.
#include <array>

#include "onnx/handlers.hpp"
#include "onnx/operators/iota.hpp"

namespace polychron::onnx::detail {

namespace {

/// Negative positions count from the end.
Term from_front(const Term& at, std::uint32_t length) {
  return (at < 0).choose(at + static_cast<double>(length), at);
}

/// The flat positions in `shape` of elements at `indices` along `axis`.
Term flat_elements(const Term& indices, const Shape& shape, std::uint32_t axis) {
  if (indices.rank() != shape.size())
    malformed("indices of shape " + to_string(indices.shape()) + " for " + to_string(shape));
  const auto strides = strides_of(shape);
  const auto stride = [&](std::uint32_t d) { return static_cast<double>(strides[d]); };
  auto flat = from_front(indices, shape[axis]) * stride(axis);
  for (std::uint32_t d = 0; d < shape.size(); ++d) {
    if (d == axis || indices.shape()[d] == 1) continue;
    flat = flat + iota(indices.node(), indices.data_type(), shape.size(), d, indices.shape()[d]) *
                      stride(d);
  }
  return flat;
}

/// The flat positions of rows: the last dimension of `indices` has one position for each of the
/// first dimensions of `shape` after the `batch` dimensions that both share.
Term flat_rows(const Term& indices, const Shape& shape, std::uint32_t batch) {
  const auto last = static_cast<std::uint32_t>(indices.rank() - 1);
  const auto depth = indices.shape()[last];
  if (batch + depth > shape.size() || depth == 0)
    malformed("indices of shape " + to_string(indices.shape()) + " for " + to_string(shape));
  // Strides in rows.
  const auto strides = strides_of({shape.begin(), shape.begin() + batch + depth});
  std::optional<Term> flat;
  for (std::uint32_t k = 0; k < depth; ++k) {
    const auto part =
        from_front(indices.at(last, k), shape[batch + k]) * static_cast<double>(strides[batch + k]);
    flat = flat ? *flat + part : part;
  }
  for (std::uint32_t d = 0; d < batch; ++d)
    flat = *flat + iota(indices.node(), indices.data_type(), last, d, indices.shape()[d]) *
                       static_cast<double>(strides[d]);
  return *flat;
}

std::uint32_t elements(const Shape& shape) { return static_cast<std::uint32_t>(count(shape)); }

/// True if all dimensions except the axis are equal, as WebNN requires.
bool same_beside(const Shape& a, const Shape& b, std::uint32_t axis) {
  if (a.size() != b.size()) return false;
  for (std::size_t d = 0; d < a.size(); ++d)
    if (d != axis && a[d] != b[d]) return false;
  return true;
}

void gather_elements(Node& node) {
  const auto x = term(node, 0);
  const auto axis = node.axis(node.integer("axis", 0), x.rank());
  if (same_beside(x.shape(), node.shape(1), axis)) {
    return node.set(
        node.builder.gather_elements(x.operand(), node.operand(1), {.axis = axis}, node.label()));
  }
  const auto flat = flat_elements(term(node, 1), x.shape(), axis);
  node.set(x.reshape({elements(x.shape())}).gather(flat, 0).operand());
}

void gather_nd(Node& node) {
  const auto x = term(node, 0);
  const auto indices = term(node, 1);
  if (indices.rank() == 0) malformed("indices without a dimension");
  const auto batch = unsigned_list({node.integer("batch_dims", 0)}, "batch_dims").front();
  if (batch >= indices.rank() || batch >= x.rank())
    malformed("batch_dims " + std::to_string(batch));
  if (batch == 0)
    return node.set(node.builder.gather_nd(x.operand(), indices.operand(), node.label()));
  const auto flat = flat_rows(indices, x.shape(), batch);
  const auto depth = indices.shape().back();
  const Shape rest(x.shape().begin() + batch + depth, x.shape().end());
  auto shape = rest;
  shape.insert(shape.begin(), elements({x.shape().begin(), x.shape().begin() + batch + depth}));
  node.set(x.reshape(shape).gather(flat, 0).operand());
}

/// Writes `updates` [updates, rest] to the rows `at` [updates] of `rows` [rows, rest].
Term scatter_rows(const Term& rows, const Term& at, const Term& updates,
                  const std::string& reduction) {
  const auto n = rows.shape()[0];
  const auto u = at.shape()[0];
  const auto rest = rows.shape()[1];
  if (std::uint64_t{n} * u * rest > (1U << 24) && reduction != "none")
    unsupported(std::to_string(u) + " updates of " + std::to_string(n) + " places are too many");
  if (std::uint64_t{n} * u > (1U << 26))
    unsupported(std::to_string(u) + " updates of " + std::to_string(n) + " places are too many");
  auto& node = rows.node();
  // [rows, updates]
  const auto hit = at.unsqueeze(0) == iota(node, at.data_type(), 2, 0, n);
  if (reduction == "none") {
    // The last of several wins.
    const auto order = iota(node, DataType::int32, 2, 1, u);
    const auto last =
        hit.choose(order, order.number(-1)).reduce(&GraphBuilder::reduce_max, {1}, false);
    const auto taken = updates.gather(last.max(0), 0);
    return (last >= 0).unsqueeze(1).choose(taken, rows);
  }
  const auto each = updates.unsqueeze(0);  // [1, updates, rest]
  const auto met = [&](double otherwise, Term::Reduction method) {
    return hit.unsqueeze(2).choose(each, each.number(otherwise)).reduce(method, {1}, false);
  };
  if (reduction == "add") return rows + met(0, &GraphBuilder::reduce_sum);
  if (reduction == "mul") return rows * met(1, &GraphBuilder::reduce_product);
  const bool real = rows.data_type() == DataType::float32 || rows.data_type() == DataType::float16;
  if (!real) unsupported("reduction " + quote(reduction) + " of integers");
  if (reduction == "max") return rows.max(met(-INFINITY, &GraphBuilder::reduce_max));
  if (reduction == "min") return rows.min(met(INFINITY, &GraphBuilder::reduce_min));
  malformed("attribute 'reduction' is " + quote(reduction));
}

void scatter_elements(Node& node) {
  const auto x = term(node, 0);
  const auto axis = node.axis(node.integer("axis", 0), x.rank());
  const auto indices = term(node, 1);
  if (node.text("reduction", "none") == "none" && same_beside(x.shape(), indices.shape(), axis)) {
    return node.set(node.builder.scatter_elements(x.operand(), indices.operand(), node.operand(2),
                                                  {.axis = axis}, node.label()));
  }
  const auto flat = flat_elements(indices, x.shape(), axis);
  const auto updates = elements(indices.shape());
  const auto result =
      scatter_rows(x.reshape({elements(x.shape()), 1}), flat.reshape({updates}),
                   term(node, 2).reshape({updates, 1}), node.text("reduction", "none"));
  node.set(result.reshape(x.shape()).operand());
}

void scatter_nd(Node& node) {
  const auto x = term(node, 0);
  const auto indices = term(node, 1);
  if (indices.rank() == 0) malformed("indices without a dimension");
  if (node.text("reduction", "none") == "none")
    return node.set(
        node.builder.scatter_nd(x.operand(), indices.operand(), node.operand(2), node.label()));
  const auto flat = flat_rows(indices, x.shape(), 0);
  const auto middle = x.shape().begin() + indices.shape().back();
  const auto rest = elements({middle, x.shape().end()});
  const auto updates = elements(flat.shape());
  const auto result = scatter_rows(x.reshape({elements({x.shape().begin(), middle}), rest}),
                                   flat.reshape({updates}), term(node, 2).reshape({updates, rest}),
                                   node.text("reduction", "none"));
  node.set(result.reshape(x.shape()).operand());
}

/// The inverse of a MaxPool: each element goes where its index says, among zeros.
void max_unpool(Node& node) {
  const auto x = term(node, 0);
  const auto& from = x.shape();
  Shape to(from.begin(), from.end());
  if (node.has_input(2)) {
    to = unsigned_list(node.integers(2), "a dimension");
    if (to.size() != from.size()) malformed("a shape of other rank");
  }
  if (from.size() < 3) malformed("the attributes do not fit shape " + to_string(from));
  const auto spatial = from.size() - 2;
  // Numbers below 2^32, so that 64-bit results do not overflow.
  const auto list = [&](const char* name, std::size_t length, std::int64_t otherwise) {
    return unsigned_list(
        node.integer_list(name).value_or(std::vector<std::int64_t>(length, otherwise)), name);
  };
  const auto kernel = list("kernel_shape", 0, 0);
  const auto strides = list("strides", spatial, 1), pads = list("pads", 2 * spatial, 0);
  if (kernel.size() != spatial || strides.size() != spatial || pads.size() != 2 * spatial)
    malformed("the attributes do not fit shape " + to_string(from));
  // The indices refer to the pool's own input, whatever output shape is requested.
  Shape pooled(from.begin(), from.end());
  for (std::size_t d = 0; d < spatial; ++d)
    pooled[2 + d] = unsigned_list({(from[2 + d] - std::int64_t{1}) * strides[d] + kernel[d] -
                                   pads[d] - pads[spatial + d]},
                                  "a size")
                        .front();
  if (!node.has_input(2)) to = pooled;
  const auto zeros = x.number(0).expand({elements(pooled), 1});
  const auto updates = elements(from);
  const auto flat = term(node, 1).reshape({updates});
  auto result = scatter_rows(zeros, flat, x.reshape({updates, 1}), "none").reshape(pooled);
  for (std::uint32_t d = 0; d < to.size(); ++d) {
    if (to[d] < pooled[d]) unsupported("a smaller output than the pool's input");
    result = result.pad(d, 0, to[d] - pooled[d]);
  }
  node.set(result.operand());
}

}  // namespace

std::span<const Row> scatter_rows() noexcept {
  static constexpr std::array rows{
      Row{"GatherElements", gather_elements},
      Row{"GatherND", gather_nd},
      Row{"MaxUnpool", max_unpool},
      Row{"Scatter", scatter_elements},
      Row{"ScatterElements", scatter_elements},
      Row{"ScatterND", scatter_nd},
  };
  return rows;
}

}  // namespace polychron::onnx::detail
