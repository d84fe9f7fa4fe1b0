#include "kernels/cpu/bands.hpp"

#include <algorithm>

#include "kernels/cpu/cut.hpp"
#include "ops/layouts.hpp"

namespace polychron::kernels {
namespace {

constexpr std::size_t height = 2;  // the dimension, with the channels in front

const Conv2dAttributes& attributes(const Problem& problem) {
  return std::get<Conv2dAttributes>(problem.attributes);
}

std::uint32_t rows_of(const Slot& slot) { return slot.descriptor.shape[height]; }

std::int64_t window(const Problem& problem) {
  const auto& a = attributes(problem);
  const std::size_t axis = ops::filter_axes(a.filter_layout)[2];
  return (std::int64_t{problem.inputs[1].descriptor.shape[axis]} - 1) * a.dilations[0] + 1;
}

/// The problem that computes rows `out` of the result; nullopt if it reads no row of the picture.
std::optional<BandLink> link_of(const Problem& whole, Rows out) {
  const auto& a = attributes(whole);
  const std::int64_t first = std::int64_t{out.begin} * a.strides[0] - a.padding[0];
  const std::int64_t last =
      (std::int64_t{out.end} - 1) * a.strides[0] - a.padding[0] + window(whole);
  const std::int64_t begin = std::max<std::int64_t>(first, 0);
  const std::int64_t end = std::min<std::int64_t>(last, rows_of(whole.inputs[0]));
  if (begin >= end) return std::nullopt;
  BandLink link{{static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)}, out, whole};
  auto& own = std::get<Conv2dAttributes>(link.problem.attributes);
  own.padding[0] = static_cast<std::uint32_t>(begin - first);
  own.padding[1] = static_cast<std::uint32_t>(last - end);
  link.problem.inputs[0].descriptor.shape[height] = link.in.count();
  link.problem.outputs[0].descriptor.shape[height] = out.count();
  for (std::size_t i = whole.own_inputs; i < whole.inputs.size(); ++i)
    if (follows_rows(whole, i)) link.problem.inputs[i].descriptor.shape[height] = out.count();
  return link;
}

double operations(const Problem& problem) {
  const Shape& filter = problem.inputs[1].descriptor.shape;
  const auto order = ops::filter_axes(attributes(problem).filter_layout);
  return static_cast<double>(*element_count(problem.outputs[0].descriptor.shape)) *
         filter[order[1]] * filter[order[2]] * filter[order[3]];
}

std::size_t bytes(const Slot& slot) { return storage_bytes(slot.descriptor, slot.layout); }

/// The bytes of the pictures that bands have to copy, because their rows cannot be used in place.
double copied_bytes(std::span<const Problem> links) {
  std::size_t sum = 0;
  const auto add = [&](const Slot& slot) {
    if (!has_dense_rows(slot)) sum += bytes(slot);
  };
  add(links.front().inputs[0]);
  add(links.back().outputs[0]);
  for (const Problem& link : links)
    for (std::size_t i = link.own_inputs; i < link.inputs.size(); ++i)
      if (follows_rows(link, i)) add(link.inputs[i]);
  return static_cast<double>(sum);
}

}  // namespace

bool follows_rows(const Problem& problem, std::size_t input) {
  return problem.inputs[input].descriptor.shape == problem.outputs[0].descriptor.shape;
}

bool has_dense_rows(const Slot& slot) {
  return slot.descriptor.shape[1] == channel_block(slot.layout);
}

bool has_rows(const Problem& problem) {
  const auto* const a = std::get_if<Conv2dAttributes>(&problem.attributes);
  if (a == nullptr || a->input_layout != InputOperandLayout::nchw) return false;
  if (problem.outputs[0].descriptor.shape[0] != 1 || !problem.inputs[1].constant) return false;
  for (std::size_t i = problem.own_inputs; i < problem.inputs.size(); ++i) {
    const Slot& slot = problem.inputs[i];
    const Shape& shape = slot.descriptor.shape;
    if (!slot.present) return false;
    const bool same_for_all = shape.size() < 2 || shape[shape.size() - 2] == 1;
    if (!same_for_all && !(follows_rows(problem, i) && !slot.constant)) return false;
  }
  return true;
}

std::vector<Band> bands_of(std::span<const Problem> links, std::size_t count) {
  const std::size_t rows = rows_of(links.back().outputs[0]);
  std::vector<Band> bands;
  for (std::size_t i = 0; i < count; ++i) {
    Rows out{static_cast<std::uint32_t>(i * rows / count),
             static_cast<std::uint32_t>((i + 1) * rows / count)};
    Band band(links.size());
    for (std::size_t k = links.size(); k-- > 0;) {
      auto link = link_of(links[k], out);
      if (!link) return {};
      band[k] = std::move(*link);
      out = band[k].in;
    }
    bands.push_back(std::move(band));
  }
  return bands;
}

std::size_t best_count(std::span<const Problem> links) {
  constexpr std::size_t least_between = 1024 * 1024;  // about a core's own cache
  constexpr std::size_t enough = 512 * 1024;
  constexpr double most_repeated = 0.08;  // share of the operations
  // Bytes that move in the time of one multiplication and addition.
  constexpr double bytes_an_operation = 1;
  constexpr std::size_t most = 32;
  std::size_t between = 0;
  double total = 0;
  for (const Problem& link : links) {
    if (&link != &links.back()) between += bytes(link.outputs[0]);
    total += operations(link);
  }
  if (between < least_between) return 0;
  const double copied = copied_bytes(links);
  std::size_t best = 0;
  for (std::size_t count = 2; count <= most; count *= 2) {
    if (count * 4 > rows_of(links.back().outputs[0])) break;
    const auto bands = bands_of(links, count);
    if (bands.empty()) break;
    double computed = 0;
    std::size_t held = 0;
    for (const Band& band : bands) {
      std::size_t own = 0;
      for (const BandLink& link : band) {
        computed += operations(link.problem);
        own += bytes(link.problem.outputs[0]);
      }
      held = std::max(held, own);
    }
    const double repeated = computed - total;
    if (repeated > total * most_repeated) break;
    // In bands the pictures between are neither written to memory nor read from it.
    if (2 * copied + repeated * bytes_an_operation >= 2 * static_cast<double>(between)) break;
    best = count;
    if (held <= enough && count >= usual_parts) break;
  }
  return best;
}

}  // namespace polychron::kernels
