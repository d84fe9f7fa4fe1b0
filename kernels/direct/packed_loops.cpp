// The loops of products with a constant matrix of 4-bit or 8-bit integers, which stay packed.
// Written with Highway, which compiles this file once for each instruction set. A block's elements
// become floats in registers. Their products with a float32 row are summed, and the sum gets the
// block's scale. So each result is the same sum in the same order, whatever rows are computed
// beside it.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/direct/packed_loops.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "kernels/direct/packed_panels.hpp"
#include "kernels/vectors.hpp"

HWY_BEFORE_NAMESPACE();
namespace polychron::kernels::direct::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Real = hn::ScalableTag<float>;
using Whole = hn::RebindToSigned<Real>;
using Reals = hn::Vec<Real>;

constexpr std::size_t vectors_of_panel = 4;
constexpr std::size_t most_columns = vectors_of_panel * hn::MaxLanes(Real());
/// The elements that are summed before they get their scale.
constexpr std::size_t most_summed = 64;
/// The most rows for which elements become floats in registers, not in memory.
constexpr std::size_t most_packed_tile = 16;

HWY_INLINE std::size_t panel_width() { return vectors_of_panel * hn::Lanes(Real()); }
std::size_t packed_columns() { return panel_width(); }

/// Reads elements of `Vectors` vectors of columns, one after the other, as floats. Each source
/// reads `unit()` times the element.
template <std::size_t Vectors>
class Nibbles {
 public:
  /// 4 bits at the top of a word: as signed integers they are 2^28 times as large.
  static constexpr float unit() { return 0x1p28F; }
  Nibbles(const std::byte* block, std::size_t first) : at_(block + first * hn::Lanes(Real()) * 4) {}
  HWY_INLINE void load() {
    const Whole d;
    POLYCHRON_UNROLLED_LOOP
    for (std::size_t v = 0; v < Vectors; ++v)
      words_[v] = hn::LoadU(d, reinterpret_cast<const std::int32_t*>(at_ + v * hn::Lanes(d) * 4));
    at_ += panel_width() * 4;
  }
  HWY_INLINE Reals next(std::size_t v) {
    const auto top = hn::And(words_[v], hn::Set(Whole(), static_cast<std::int32_t>(0xf0000000U)));
    words_[v] = hn::ShiftLeft<4>(words_[v]);
    return hn::ConvertTo(Real(), top);
  }

 private:
  const std::byte* at_;
  hn::Vec<Whole> words_[Vectors];
};

template <std::size_t Vectors>
class Bytes {
 public:
  static constexpr float unit() { return 1; }
  Bytes(const std::byte* block, std::size_t first) : at_(block + first * hn::Lanes(Real())) {}
  HWY_INLINE void load() {}
  HWY_INLINE Reals next(std::size_t v) {
    const hn::Rebind<std::int8_t, Whole> bytes;
    const auto* const from = reinterpret_cast<const std::int8_t*>(at_) + v * hn::Lanes(Real());
    const auto whole = hn::PromoteTo(Whole(), hn::LoadU(bytes, from));
    if (v + 1 == Vectors) at_ += panel_width();
    return hn::ConvertTo(Real(), whole);
  }

 private:
  const std::byte* at_;
};

/// Elements minus their zero points.
template <class Elements, std::size_t Vectors>
class Shifted {
 public:
  static constexpr float unit() { return Elements::unit(); }
  Shifted(const std::byte* block, std::size_t first, const float* zeros) : elements_(block, first) {
    const Real d;
    for (std::size_t v = 0; v < Vectors; ++v)
      zeros_[v] = hn::Mul(hn::LoadU(d, zeros + (first + v) * hn::Lanes(d)), hn::Set(d, unit()));
  }
  HWY_INLINE void load() { elements_.load(); }
  HWY_INLINE Reals next(std::size_t v) { return hn::Sub(elements_.next(v), zeros_[v]); }

 private:
  Elements elements_;
  Reals zeros_[Vectors];
};

/// Elements that are floats already.
template <std::size_t Vectors>
class Unpacked {
 public:
  Unpacked(const float* panel, std::size_t first) : at_(panel + first * hn::Lanes(Real())) {}
  HWY_INLINE void load() {}
  HWY_INLINE Reals next(std::size_t v) {
    const auto element = hn::LoadU(Real(), at_ + v * hn::Lanes(Real()));
    if (v + 1 == Vectors) at_ += panel_width();
    return element;
  }

 private:
  const float* at_;
};

/// Calls f(i) for `count` elements, in groups for which `elements` loads.
template <class Elements, class F>
HWY_INLINE void each_element(Elements& elements, std::size_t count, const F& f) {
  std::size_t i = 0;
  for (; i + nibbles_of_word <= count; i += nibbles_of_word) {
    elements.load();
    POLYCHRON_UNROLLED_LOOP
    for (std::size_t j = 0; j < nibbles_of_word; ++j) f(i + j);
  }
  if (i < count) elements.load();
  for (; i < count; ++i) f(i);
}

/// What a block's minima add: those of its columns times the sum of each row's elements.
struct Minima {
  const float* of = nullptr;  ///< null: nothing
  const float* sums = nullptr;
  std::size_t step = 0;  ///< between the sums of neighbouring rows

  HWY_INLINE Minima at(std::size_t row, std::size_t column) const {
    return of == nullptr ? *this : Minima{of + column, sums + row * step, step};
  }
};

/// Adds the products of `Rows` rows with `count` elements of `Vectors` vectors of columns, times
/// scale / unit, to `totals`.
template <std::size_t Rows, std::size_t Vectors, class Elements>
HWY_INLINE void add_products(Elements elements, const float* x, std::size_t step, std::size_t count,
                             const float* scales, float unit, const Minima& minima, float* totals) {
  const Real d;
  const std::size_t lanes = hn::Lanes(d), width = panel_width();
  Reals sums[Rows][Vectors];
  POLYCHRON_UNROLLED_LOOP
  for (std::size_t r = 0; r < Rows; ++r) {
    POLYCHRON_UNROLLED_LOOP
    for (std::size_t v = 0; v < Vectors; ++v) sums[r][v] = hn::Zero(d);
  }
  each_element(elements, count, [&](std::size_t i) HWY_ATTR {
    if constexpr (Rows > 1 && Rows < Vectors) {
      Reals own[Rows];
      POLYCHRON_UNROLLED_LOOP
      for (std::size_t r = 0; r < Rows; ++r) own[r] = hn::Set(d, x[r * step + i]);
      POLYCHRON_UNROLLED_LOOP
      for (std::size_t v = 0; v < Vectors; ++v) {
        const auto weight = elements.next(v);
        POLYCHRON_UNROLLED_LOOP
        for (std::size_t r = 0; r < Rows; ++r) sums[r][v] = hn::MulAdd(own[r], weight, sums[r][v]);
      }
    } else {
      Reals weights[Vectors];
      POLYCHRON_UNROLLED_LOOP
      for (std::size_t v = 0; v < Vectors; ++v) weights[v] = elements.next(v);
      POLYCHRON_UNROLLED_LOOP
      for (std::size_t r = 0; r < Rows; ++r) {
        const auto own = hn::Set(d, x[r * step + i]);
        POLYCHRON_UNROLLED_LOOP
        for (std::size_t v = 0; v < Vectors; ++v)
          sums[r][v] = hn::MulAdd(own, weights[v], sums[r][v]);
      }
    }
  });
  const auto part = hn::Set(d, 1 / unit);
  POLYCHRON_UNROLLED_LOOP
  for (std::size_t r = 0; r < Rows; ++r) {
    POLYCHRON_UNROLLED_LOOP
    for (std::size_t v = 0; v < Vectors; ++v) {
      float* const total = totals + r * width + v * lanes;
      const auto scale = hn::LoadU(d, scales + v * lanes);
      auto sum = hn::MulAdd(hn::Mul(sums[r][v], part), scale, hn::LoadU(d, total));
      if (minima.of)
        sum = hn::MulAdd(hn::Set(d, minima.sums[r * minima.step]),
                         hn::LoadU(d, minima.of + v * lanes), sum);
      hn::StoreU(sum, d, total);
    }
  }
}

/// A block of a panel.
struct Block {
  const float *scales, *zeros, *minima;
  const std::byte* elements;

  Block(const PackedLayout& layout, const std::byte* at)
      : scales(reinterpret_cast<const float*>(at)),
        zeros(scales + layout.width),
        minima(layout.zeros ? zeros + layout.width : zeros),
        elements(at + layout.numbers_bytes()) {}
};

/// What reads the elements of some vectors of columns from number `first` of a block on.
template <bool FourBits, bool Zeros, std::size_t Vectors>
HWY_INLINE auto elements_of(const PackedLayout& layout, const Block& block, std::size_t first,
                            std::size_t vector) {
  using Elements = std::conditional_t<FourBits, Nibbles<Vectors>, Bytes<Vectors>>;
  const std::byte* const at = block.elements + first * layout.width / (FourBits ? 2 : 1);
  if constexpr (Zeros)
    return Shifted<Elements, Vectors>(at, vector, block.zeros);
  else
    return Elements(at, vector);
}

/// Calls f with std::bool_constant for 4-bit elements and for zero points.
template <class F>
HWY_INLINE void with_kind(const PackedLayout& layout, const F& f) {
  const auto with_zeros = [&](auto four_bits) HWY_ATTR {
    layout.zeros ? f(four_bits, std::true_type{}) : f(four_bits, std::false_type{});
  };
  layout.four_bits ? with_zeros(std::true_type{}) : with_zeros(std::false_type{});
}

/// Stores `count` elements as floats. Returns what they are multiplied with.
float unpack_block(const PackedLayout& layout, const Block& block, std::size_t first,
                   std::size_t count, float* to) {
  const Real d;
  float unit = 1;
  with_kind(layout, [&](auto four_bits, auto zeros) HWY_ATTR {
    auto elements = elements_of<four_bits, zeros, vectors_of_panel>(layout, block, first, 0);
    unit = elements.unit();
    each_element(elements, count, [&](std::size_t i) HWY_ATTR {
      POLYCHRON_UNROLLED_LOOP
      for (std::size_t v = 0; v < vectors_of_panel; ++v)
        hn::StoreU(elements.next(v), d, to + i * panel_width() + v * hn::Lanes(d));
    });
  });
  return unit;
}

template <std::size_t Rows>
HWY_NOINLINE void add_unpacked_tile(const float* panel, const float* x, std::size_t step,
                                    std::size_t count, const float* scales, float unit,
                                    const Minima& minima, float* totals) {
  add_products<Rows, vectors_of_panel>(Unpacked<vectors_of_panel>(panel, 0), x, step, count, scales,
                                       unit, minima, totals);
}

/// Multiplies rows with unpacked elements. The sums of three rows stay in registers.
void add_unpacked(const float* panel, const float* x, std::size_t step, std::size_t rows,
                  std::size_t count, const float* scales, float unit, const Minima& minima,
                  float* totals) {
  std::size_t row = 0;
  const auto tiles = [&]<std::size_t Rows>(std::integral_constant<std::size_t, Rows>) HWY_ATTR {
    for (; row + Rows <= rows; row += Rows)
      add_unpacked_tile<Rows>(panel, x + row * step, step, count, scales, unit, minima.at(row, 0),
                              totals + row * panel_width());
  };
  tiles(std::integral_constant<std::size_t, 3>{});
  tiles(std::integral_constant<std::size_t, 2>{});
  tiles(std::integral_constant<std::size_t, 1>{});
}

/// Calls f(block, its number, its first element, number of elements) for stretches of a panel that
/// are summed before they get their scale.
template <class F>
HWY_INLINE void each_stretch(const PackedLayout& layout, const std::byte* panel, const F& f) {
  for (std::size_t b = 0; b < layout.blocks(); ++b, panel += layout.block_bytes())
    for (std::size_t first = 0; first < layout.block; first += most_summed)
      f(Block(layout, panel), b, first, std::min(most_summed, layout.block - first));
}

/// Nothing after the first stretch of a block.
HWY_INLINE Minima minima_of(const PackedLayout& layout, const PackedTiles& tiles,
                            const Block& block, std::size_t b, std::size_t first) {
  if (!layout.minima || first > 0) return {};
  return {block.minima, tiles.block_sums + b, layout.blocks()};
}

/// Adds the products of `Rows` rows with a panel. Elements become floats in registers. Inlined into
/// its caller, each copy of the loop would be slower.
template <std::size_t Rows, bool FourBits, bool Zeros>
HWY_NOINLINE void multiply_rows(const PackedLayout& layout, const PackedTiles& tiles,
                                std::size_t row, float* totals) {
  constexpr std::size_t vectors = std::min(vectors_of_panel, 8 / Rows);
  const std::size_t lanes = hn::Lanes(Real());
  const float* const x = tiles.rows + row * layout.elements;
  each_stretch(
      layout, tiles.panel,
      [&](const Block& block, std::size_t b, std::size_t first, std::size_t count) HWY_ATTR {
        const auto minima = minima_of(layout, tiles, block, b, first);
        for (std::size_t v = 0; v < vectors_of_panel; v += vectors) {
          const auto elements = elements_of<FourBits, Zeros, vectors>(layout, block, first, v);
          add_products<Rows, vectors>(elements, x + b * layout.block + first, layout.elements,
                                      count, block.scales + v * lanes, elements.unit(),
                                      minima.at(row, v * lanes),
                                      totals + row * layout.width + v * lanes);
        }
      });
}

void multiply_few(const PackedLayout& layout, const PackedTiles& tiles, float* totals) {
  std::size_t row = 0;
  const auto by = [&]<std::size_t Rows>(std::integral_constant<std::size_t, Rows>) HWY_ATTR {
    for (; row + Rows <= tiles.count; row += Rows)
      with_kind(layout, [&](auto four_bits, auto zeros) HWY_ATTR {
        multiply_rows<Rows, four_bits, zeros>(layout, tiles, row, totals);
      });
  };
  by(std::integral_constant<std::size_t, 4>{});
  by(std::integral_constant<std::size_t, 2>{});
  by(std::integral_constant<std::size_t, 1>{});
}

/// The product of a row whose sums have left the range of float32 before they got their scales:
/// elements get their scales first.
void multiply_scaled(const PackedLayout& layout, const std::byte* panel, const float* x,
                     float* totals) {
  const Real d;
  HWY_ALIGN float weights[most_summed * most_columns];
  HWY_ALIGN float ones[most_columns];
  const std::size_t width = layout.width;
  std::fill_n(ones, width, 1.0F);
  std::fill_n(totals, width, 0.0F);
  each_stretch(
      layout, panel,
      [&](const Block& block, std::size_t b, std::size_t first, std::size_t count) HWY_ATTR {
        const float unit = unpack_block(layout, block, first, count, weights);
        for (std::size_t i = 0; i < count * width; i += hn::Lanes(d)) {
          const auto scale = hn::LoadU(d, block.scales + i % width);
          auto weight = hn::Mul(hn::Mul(hn::LoadU(d, weights + i), hn::Set(d, 1 / unit)), scale);
          if (layout.minima) weight = hn::Add(weight, hn::LoadU(d, block.minima + i % width));
          hn::StoreU(weight, d, weights + i);
        }
        add_unpacked(weights, x + b * layout.block + first, 0, 1, count, ones, 1, {}, totals);
      });
}

/// Elements of a block become floats in memory, for all rows.
void multiply_many(const PackedLayout& layout, const PackedTiles& tiles, float* totals) {
  HWY_ALIGN float unpacked[most_summed * most_columns];
  each_stretch(
      layout, tiles.panel,
      [&](const Block& block, std::size_t b, std::size_t first, std::size_t count) HWY_ATTR {
        const float unit = unpack_block(layout, block, first, count, unpacked);
        add_unpacked(unpacked, tiles.rows + b * layout.block + first, layout.elements, tiles.count,
                     count, block.scales, unit, minima_of(layout, tiles, block, b, first), totals);
      });
}

void multiply_packed(const PackedLayout& layout, const PackedTiles& tiles) {
  const Real d;
  const std::size_t width = layout.width, lanes = hn::Lanes(d);
  HWY_ALIGN float totals[most_packed_rows * most_columns];
  std::fill_n(totals, tiles.count * width, 0.0F);
  if (tiles.count <= most_packed_tile)
    multiply_few(layout, tiles, totals);
  else
    multiply_many(layout, tiles, totals);
  for (std::size_t r = 0; r < tiles.count; ++r) {
    float* const total = totals + r * width;
    bool finite = true;
    for (std::size_t i = 0; i < width; i += lanes)
      finite = finite && hn::AllTrue(d, hn::IsFinite(hn::LoadU(d, total + i)));
    if (!finite) multiply_scaled(layout, tiles.panel, tiles.rows + r * layout.elements, total);
    std::memcpy(tiles.results + r * tiles.step, total, tiles.columns * sizeof(float));
  }
}

float sum_of(const float* x, std::size_t count) {
  const Real d;
  auto sums = hn::Zero(d);
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) sums = hn::Add(sums, hn::LoadU(d, x + i));
  float sum = hn::GetLane(hn::SumOfLanes(d, sums));
  for (; i < count; ++i) sum += x[i];
  return sum;
}

}  // namespace polychron::kernels::direct::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace polychron::kernels::direct {
HWY_EXPORT(packed_columns);
HWY_EXPORT(multiply_packed);
HWY_EXPORT(sum_of);
std::size_t columns_of_panel() {
  kernels::vectors();  // limits Highway's choice
  return HWY_DYNAMIC_DISPATCH(packed_columns)();
}
void multiply_panel(const PackedLayout& layout, const PackedTiles& tiles) {
  HWY_DYNAMIC_DISPATCH(multiply_packed)(layout, tiles);
}
float sum_of_floats(const float* x, std::size_t count) {
  return HWY_DYNAMIC_DISPATCH(sum_of)(x, count);
}
}  // namespace polychron::kernels::direct
#endif
