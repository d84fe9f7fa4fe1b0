// Gather and scatter by tensors of positions: GatherElements, GatherND, ScatterElements, ScatterND,
// Scatter, its predecessor, TensorScatter, MaxUnpool and Col2Im.
//
// WebNN has these operators, except batches of positions, shapes that differ from the input's
// beside the axis, and updates that are added or compared. The importer flattens positions to one
// dimension, and gathers and scatters rows.
#include <array>

#include "onnx/handlers.hpp"
#include "onnx/operators/carried.hpp"
#include "onnx/operators/iota.hpp"
#include "polychron/context.hpp"

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

std::optional<ScatterReduction> reduction_of(const Node& node) {
  const auto name = node.text("reduction", "none");
  if (name == "none") return std::nullopt;
  if (name == "add") return ScatterReduction::add;
  if (name == "mul") return ScatterReduction::multiply;
  if (name == "max") return ScatterReduction::max;
  if (name == "min") return ScatterReduction::min;
  malformed("attribute 'reduction' is " + quote(name));
}

/// WebNN's operators only: each place is compared with those of all updates.
Term by_comparison(const Term& rows, const Term& at, const Term& updates,
                   ScatterReduction reduction) {
  constexpr std::uint64_t most = 1U << 24;
  const auto n = rows.shape()[0], u = at.shape()[0], rest = rows.shape()[1];
  if (std::uint64_t{n} * u > most || std::uint64_t{n} * u * rest > most)
    unsupported("a strict context compares " + std::to_string(n) + " places with " +
                std::to_string(u) + " updates of " + std::to_string(rest) +
                " elements: the product may be " + std::to_string(most));
  // [rows, updates, rest]
  const auto hit = (at.unsqueeze(0) == iota(rows.node(), at.data_type(), 2, 0, n)).unsqueeze(2);
  const auto each = updates.unsqueeze(0);
  const auto met = [&](double otherwise, Term::Reduction method) {
    return hit.choose(each, each.number(otherwise)).reduce(method, {1}, false);
  };
  if (reduction == ScatterReduction::add) return rows + met(0, &GraphBuilder::reduce_sum);
  if (reduction == ScatterReduction::multiply) return rows * met(1, &GraphBuilder::reduce_product);
  if (rows.data_type() != DataType::float32 && rows.data_type() != DataType::float16)
    unsupported("a strict context has no reductions 'max' and 'min' of integers");
  if (reduction == ScatterReduction::max)
    return rows.max(met(-INFINITY, &GraphBuilder::reduce_max));
  return rows.min(met(INFINITY, &GraphBuilder::reduce_min));
}

/// Writes `updates` [updates, rest] to the rows `at` [updates] of `rows` [rows, rest], or lets them
/// change these. Of several for one row the last one stays.
Term scatter_rows(const Term& rows, const Term& at, const Term& updates,
                  std::optional<ScatterReduction> reduction) {
  auto& builder = rows.node().builder;
  const auto& label = rows.node().label();
  const auto places = at.unsqueeze(1);
  if (!reduction)
    return rows.with(
        builder.scatter_nd(rows.operand(), places.operand(), updates.operand(), label));
  if (!builder.context().op_support_limits().find("scatterReduce"))
    return by_comparison(rows, at, updates, *reduction);
  return rows.with(builder.scatter_reduce(rows.operand(), places.operand(), updates.operand(),
                                          {*reduction}, label));
}

void scatter_elements(Node& node) {
  const auto x = term(node, 0);
  const auto axis = node.axis(node.integer("axis", 0), x.rank());
  const auto indices = term(node, 1);
  const auto reduction = reduction_of(node);
  if (!reduction && same_beside(x.shape(), indices.shape(), axis)) {
    return node.set(node.builder.scatter_elements(x.operand(), indices.operand(), node.operand(2),
                                                  {.axis = axis}, node.label()));
  }
  const auto flat = flat_elements(indices, x.shape(), axis);
  const auto updates = elements(indices.shape());
  const auto result = scatter_rows(x.reshape({elements(x.shape()), 1}), flat.reshape({updates}),
                                   term(node, 2).reshape({updates, 1}), reduction);
  node.set(wrapped(result.reshape(x.shape()), node.type(0)).operand());
}

void scatter_nd(Node& node) {
  const auto x = term(node, 0);
  const auto indices = term(node, 1);
  if (indices.rank() == 0) malformed("indices without a dimension");
  const auto reduction = reduction_of(node);
  if (!reduction)
    return node.set(
        node.builder.scatter_nd(x.operand(), indices.operand(), node.operand(2), node.label()));
  const auto flat = flat_rows(indices, x.shape(), 0);
  const auto middle = x.shape().begin() + indices.shape().back();
  const auto rest = elements({middle, x.shape().end()});
  const auto updates = elements(flat.shape());
  const auto result =
      scatter_rows(x.reshape({elements({x.shape().begin(), middle}), rest}),
                   flat.reshape({updates}), term(node, 2).reshape({updates, rest}), reduction);
  node.set(wrapped(result.reshape(x.shape()), node.type(0)).operand());
}

/// past_cache, update, write_indices?: writes the update's steps from a place of each batch entry
/// on.
void tensor_scatter(Node& node) {
  const auto mode = node.text("mode", "linear");
  if (mode != "linear" && mode != "circular") malformed("attribute 'mode' is " + quote(mode));
  const auto cache = term(node, 0), update = term(node, 1);
  const auto axis = node.axis(node.integer("axis", -2), cache.rank());
  const auto steps = update.shape()[axis], room = cache.shape()[axis];
  if (axis == 0 || !same_beside(cache.shape(), update.shape(), axis) || steps > room)
    malformed("an update of shape " + to_string(update.shape()) + " along axis " +
              std::to_string(axis) + " of " + to_string(cache.shape()));
  auto place = iota(node, DataType::int32, cache.rank(), axis, steps);
  if (node.has_input(2)) {
    Shape shape(cache.rank(), 1);
    shape[0] = cache.shape()[0];
    place = place + term(node, 2).cast(DataType::int32).reshape(shape);
  }
  if (mode == "circular") place = place - place / room * room;
  node.set(node.builder.scatter_elements(cache.operand(), place.expand(update.shape()).operand(),
                                         update.operand(), {.axis = axis}, node.label()));
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
  auto result = scatter_rows(zeros, flat, x.reshape({updates, 1}), {}).reshape(pooled);
  for (std::uint32_t d = 0; d < to.size(); ++d) {
    if (to[d] < pooled[d]) unsupported("a smaller output than the pool's input");
    result = result.pad(d, 0, to[d] - pooled[d]);
  }
  node.set(result.operand());
}

// -- Col2Im ---------------------------------------------------------------------------------------

/// The windows of an image, by dimension.
struct Windows {
  std::vector<std::uint32_t> image, block, dilations, pads, strides;
  std::vector<std::uint32_t> counts;  ///< of windows
};

Windows read_windows(const Node& node) {
  Windows w;
  w.image = unsigned_list(node.integers(1), "a size");
  w.block = unsigned_list(node.integers(2), "a block");
  const auto rank = w.image.size();
  const auto list = [&](const char* name, std::size_t size, std::int64_t otherwise) {
    auto values = unsigned_list(
        node.integer_list(name).value_or(std::vector<std::int64_t>(size, otherwise)), name);
    if (values.size() != size) malformed("attribute '" + std::string(name) + "'");
    return values;
  };
  w.dilations = list("dilations", rank, 1);
  w.pads = list("pads", 2 * rank, 0);
  w.strides = list("strides", rank, 1);
  if (w.block.size() != rank) malformed("a block of " + to_string(w.block));
  for (std::size_t d = 0; d < rank; ++d) {
    const auto padded = std::uint64_t{w.image[d]} + w.pads[d] + w.pads[rank + d];
    if (w.block[d] == 0 || w.strides[d] == 0 || w.image[d] == 0)
      malformed("sizes, blocks and strides must be above 0");
    // At most (2^32 - 1)^2.
    const auto extent = (w.block[d] - std::uint64_t{1}) * w.dilations[d];
    if (extent >= padded) malformed("the block is larger than the padded image");
    const auto count = (padded - extent - 1) / w.strides[d] + 1;
    w.counts.push_back(unsigned_list({static_cast<std::int64_t>(count)}, "windows").front());
  }
  return w;
}

/// The place in the image of each element of each window; one beyond the last if it is in the
/// padding.
std::vector<std::int64_t> places_of(const Windows& w, std::size_t elements, std::size_t windows) {
  const auto beyond = static_cast<std::int64_t>(count(w.image));
  std::vector<std::int64_t> places;
  for (std::size_t e = 0; e < elements; ++e)
    for (std::size_t n = 0; n < windows; ++n) {
      std::int64_t place = 0, step = 1;
      auto element = e, window = n;
      for (std::size_t d = w.image.size(); d-- > 0;) {
        const auto at = static_cast<std::int64_t>(window % w.counts[d] * w.strides[d] +
                                                  element % w.block[d] * w.dilations[d]) -
                        w.pads[d];
        if (at < 0 || at >= w.image[d]) place = beyond;
        if (place != beyond) place += at * step;
        step *= w.image[d];
        window /= w.counts[d];
        element /= w.block[d];
      }
      places.push_back(place);
    }
  return places;
}

/// Adds up the elements of windows [N, C x elements, windows] where they were in the image.
void col2im(Node& node) {
  const auto w = read_windows(node);
  const auto x = term(node, 0);
  const auto elements = count(w.block), windows = count(w.counts), pixels = count(w.image);
  if (x.rank() != 3 || x.shape()[2] != windows || x.shape()[1] % elements != 0)
    malformed("windows of shape " + to_string(x.shape()) + " for " + std::to_string(windows) +
              " blocks of " + to_string(w.block));
  if (elements * windows > max_calculated * 256 || pixels > max_calculated * 256)
    unsupported(std::to_string(windows) + " windows of " + std::to_string(elements) +
                " elements: their product may be " + std::to_string(max_calculated * 256));
  const auto n = x.shape()[0], channels = x.shape()[1] / static_cast<std::uint32_t>(elements);
  const auto updates = static_cast<std::uint32_t>(elements * windows);
  const auto rows = static_cast<std::uint32_t>(pixels);
  const auto at = constant(node, ElementType::int32, {updates}, places_of(w, elements, windows));
  const auto each = x.reshape({n * channels, updates}).transpose({1, 0});
  const auto sums =
      scatter_rows(x.number(0).expand({rows + 1, n * channels}), at, each, ScatterReduction::add);
  Shape shape{n, channels};
  shape.insert(shape.end(), w.image.begin(), w.image.end());
  node.set(sums.slice(0, 0, rows).transpose({1, 0}).reshape(shape).operand());
}

}  // namespace

std::span<const Row> scatter_rows() noexcept {
  static constexpr std::array rows{
      Row{"Col2Im", col2im},
      Row{"GatherElements", gather_elements},
      Row{"GatherND", gather_nd},
      Row{"MaxUnpool", max_unpool},
      Row{"Scatter", scatter_elements},
      Row{"ScatterElements", scatter_elements},
      Row{"ScatterND", scatter_nd},
      Row{"TensorScatter", tensor_scatter},
  };
  return rows;
}

}  // namespace polychron::onnx::detail
