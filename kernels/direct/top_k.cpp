// topK walks through a line once and keeps the best candidates. When it has twice as many as
// wanted, selection (std::nth_element) keeps the better half. The last of these is the bar for the
// elements that follow.
#include <algorithm>

#include "kernels/direct/direct.hpp"
#include "kernels/direct/order_keys.hpp"
#include "kernels/elements.hpp"
#include "kernels/function_kernel.hpp"
#include "kernels/vectors.hpp"
#include "ops/number.hpp"

namespace polychron::kernels::direct {
namespace {

template <class Key>
struct Candidate {
  Key key;
  std::uint32_t place;
};

/// Of equal keys the first is better. The total order makes results independent of the library.
template <class Key>
bool is_better(const Candidate<Key>& a, const Candidate<Key>& b) {
  return a.key != b.key ? a.key > b.key : a.place < b.place;
}

/// The selection along an axis. Elements of a line lie `step` apart.
struct Selection {
  Around seen;
  std::size_t k, room;  ///< `room` candidates fit into memory
};

/// Neighbours that are compared with the bar in one step.
constexpr std::size_t at_once = 64;

template <bool largest, class T, class Key>
bool any_above(const T* in, Key bar) {
  bool any = false;
  with_vectors([&, bar] {
    unsigned above = 0;
    for (std::size_t i = 0; i < at_once; ++i) above |= key<largest>(in[i]) > bar ? 1U : 0U;
    any = above != 0;
  });
  return any;
}

template <bool largest, class T, class Key>
void select(const Selection& s, const T* in, Candidate<Key>* kept, std::int64_t* out) {
  const std::size_t step = s.seen.inner;
  std::size_t count = 0;
  Key bar{};
  bool has_bar = false;
  const auto look_at = [&](std::size_t i) {
    const Key next = key<largest>(in[i * step]);
    if (has_bar && next <= bar) return;  // among equals the earlier ones stay
    kept[count++] = {next, static_cast<std::uint32_t>(i)};
    if (count < s.room) return;
    std::nth_element(kept, kept + s.k - 1, kept + count, is_better<Key>);
    count = s.k;
    bar = kept[count - 1].key;
    has_bar = true;
  };
  for (std::size_t begin = 0; begin < s.seen.extent; begin += at_once) {
    const std::size_t end = std::min(begin + at_once, s.seen.extent);
    // Most later elements are below the bar, so that whole steps are skipped.
    if (has_bar && step == 1 && end - begin == at_once && !any_above<largest>(in + begin, bar))
      continue;
    for (std::size_t i = begin; i < end; ++i) look_at(i);
  }
  std::nth_element(kept, kept + s.k - 1, kept + count, is_better<Key>);
  std::sort(kept, kept + s.k, is_better<Key>);
  for (std::size_t rank = 0; rank < s.k; ++rank) out[rank * step] = kept[rank].place;
}

template <bool largest, class T>
KernelResult prepare_of(const Selection& s) {
  using Key = decltype(key<largest>(T{}));
  return make_kernel(
      [s](const Arguments& arguments) {
        const auto* in = reinterpret_cast<const T*>(arguments.inputs[0]);
        auto* out = reinterpret_cast<std::int64_t*>(arguments.outputs[0]);
        auto* kept = reinterpret_cast<Candidate<Key>*>(arguments.scratch);
        for (std::size_t i = 0; i < s.seen.outer; ++i)
          for (std::size_t k = 0; k < s.seen.inner; ++k)
            select<largest>(s, in + i * s.seen.extent * s.seen.inner + k, kept,
                            out + i * s.k * s.seen.inner + k);
      },
      no_input, s.room * sizeof(Candidate<Key>));
}

}  // namespace

KernelResult prepare_top_k(const Problem& problem) {
  if (const auto reason = not_plain(problem)) return refuse(*reason);
  const auto& a = std::get<TopKAttributes>(problem.attributes);
  if (a.k == 1) {
    Problem first = problem;
    first.op = a.largest ? ops::op("argMax") : ops::op("argMin");
    first.attributes = ArgMinMaxAttributes{a.axis, true};
    return prepare_arg_min_max(first);
  }
  const Around seen = around(problem.inputs[0].descriptor.shape, a.axis);
  constexpr std::size_t least_room = 64;  // for small k: the bar still rises fast enough
  const std::size_t room = std::min(seen.extent, std::max(2 * std::size_t{a.k}, least_room));
  const Selection s{seen, a.k, room};
  return ops::with_element(problem.inputs[0].descriptor.data_type, [&]<class T>(T) {
    return a.largest ? prepare_of<true, T>(s) : prepare_of<false, T>(s);
  });
}

}  // namespace polychron::kernels::direct
