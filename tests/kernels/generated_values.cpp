#include "tests/kernels/generated_values.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "ops/number.hpp"

namespace polychron::tests {

namespace {

using test::Random;

template <class T>
T float_of(double value) {
  if constexpr (std::is_same_v<T, float16>)
    return float16(value);
  else
    return static_cast<float>(value);
}

/// A number of one of the kinds in `specials`; `otherwise` if there is none of the type.
template <class T>
T special(unsigned specials, T otherwise, Random& random) {
  if constexpr (std::is_integral_v<T>) {
    using Limits = std::numeric_limits<T>;
    if ((specials & extreme) == 0) return otherwise;
    const T list[] = {Limits::min(), Limits::max(), static_cast<T>(Limits::max() - 1),
                      static_cast<T>(Limits::min() + 1)};
    return list[random.number(0, 3)];
  } else {
    constexpr bool half = std::is_same_v<T, float16>;
    const double smallest = half ? 0x1p-24 : 0x1p-149;
    const double most = half ? 65504 : static_cast<double>(std::numeric_limits<float>::max());
    const double endless = std::numeric_limits<double>::infinity();
    struct {
      unsigned kind;
      double value;
    } const list[] = {{nan, std::numeric_limits<double>::quiet_NaN()},
                      {infinity, endless},
                      {minus_infinity, -endless},
                      {zero, 0},
                      {subnormal, smallest * random.number(1, 1000)},
                      {huge, most}};
    const auto& chosen = list[random.number(0, std::size(list) - 1)];
    if ((specials & chosen.kind) == 0) return otherwise;
    const bool negate = (chosen.kind & infinities) == 0 && random.coin();
    return float_of<T>(negate ? -chosen.value : chosen.value);
  }
}

/// Any number in the range; now and then a whole one, or half of one: there results jump, and ties
/// come about.
double ordinary(const Range& range, Random& random) {
  const double number = random.real(range.low, range.high);
  if (random.number(0, 7) != 0) return number;
  return std::clamp(std::round(2 * number) / 2, range.low, range.high);
}

/// The special property of a number.
template <class T>
unsigned kind_of(T value) {
  if constexpr (std::is_integral_v<T>) {
    using Limits = std::numeric_limits<T>;
    return value <= static_cast<T>(Limits::min() + (std::is_signed_v<T> ? 1 : 0)) ||
                   value >= static_cast<T>(Limits::max() - 1)
               ? extreme
               : no_special;
  } else {
    constexpr bool half = std::is_same_v<T, float16>;
    const auto number = static_cast<double>(value);
    const double size = std::fabs(number);
    if (std::isnan(number)) return nan;
    if (std::isinf(number)) return number > 0 ? infinity : minus_infinity;
    if (size == 0) return zero;
    if (size < (half ? 0x1p-14 : 0x1p-126)) return subnormal;
    return size > (half ? 0x1p14 : 0x1p126) ? huge : no_special;
  }
}

template <class T>
void store(std::vector<std::byte>& bytes, std::size_t index, T value) {
  std::memcpy(bytes.data() + index * sizeof(T), &value, sizeof(T));
}

}  // namespace

const std::vector<Exemption>& exemptions() {
  // The specification says nothing of NaN, or of overflow on the way to a result; the reference
  // does what the formula does in double precision.
  constexpr auto comparisons = "oneDNN compares with processor instructions that drop a NaN";
  constexpr auto overflow = "sums and products in float32 overflow where those in double do not";
  constexpr auto padding = "oneDNN multiplies the padding's zeros, too: 0 x infinity is NaN";
  constexpr auto exponentials = "oneDNN brings the exponent into range first, which drops a NaN";
  constexpr auto gates = "relu among the gates drops a NaN, and products overflow";
  constexpr auto order = "numbers that cancel leave a rest that depends on the order of additions";
  static const std::vector<Exemption> list{
      {"max", "onednn", nan, comparisons},
      {"min", "onednn", nan, comparisons},
      {"averagePool2d", "direct", huge, order},
      {"reduceLogSum", "direct", huge, order},
      {"reduceMean", "direct", huge, order},
      {"reduceSum", "direct", huge, order},
      {"softmax", "onednn", nan | infinity, exponentials},
      {"averagePool2d", "onednn", huge, overflow},
      {"conv2d", "onednn", huge, overflow},
      {"conv2d", "onednn", nan | infinities, padding},
      {"convTranspose2d", "direct", huge, overflow},
      {"convTranspose2d", "onednn", huge, overflow},
      {"convTranspose2d", "onednn", nan | infinities, padding},
      {"gemm", "direct", huge, overflow},
      {"gemm", "onednn", huge, overflow},
      {"matmul", "direct", huge, overflow},
      {"matmul", "onednn", huge, overflow},
      {"layerNormalization", "onednn", huge, overflow},
      {"instanceNormalization", "onednn", huge, overflow},
      {"batchNormalization", "onednn", huge, overflow},
      {"resample2d", "direct", huge, "large numbers that cancel out leave what rounding them does"},
      {"gru", "onednn", nan | infinities | huge, gates},
      {"gruCell", "onednn", nan | infinities | huge, gates},
      {"lstm", "onednn", nan | infinities | huge, gates},
      {"lstmCell", "onednn", nan | infinities | huge, gates},
  };
  return list;
}

std::string names_of(unsigned specials) {
  std::string list;
  const auto add = [&](Special kind, const char* name) {
    if ((specials & kind) != 0) list.append(list.empty() ? "" : ", ").append(name);
  };
  add(nan, "NaN");
  add(infinity, "infinity");
  add(minus_infinity, "-infinity");
  add(zero, "0");
  add(subnormal, "subnormal numbers");
  add(huge, "the largest float");
  add(extreme, "an integer's ends");
  return list.empty() ? "ordinary numbers" : list;
}

unsigned exempt(const ops::Row& row, std::string_view implementation) {
  unsigned specials = no_special;
  for (const Exemption& line : exemptions())
    if (line.row == row.name && (implementation.empty() || implementation == line.implementation))
      specials |= line.specials;
  return specials;
}

unsigned specials_in(const OperandDescriptor& descriptor, const std::vector<std::byte>& bytes) {
  return ops::with_element(descriptor.data_type, [&]<class T>(T) {
    unsigned found = no_special;
    for (std::size_t i = 0; i < bytes.size() / sizeof(T); ++i) {
      T value;
      std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
      found |= kind_of(value);
    }
    return found;
  });
}

Range range_of(const ops::Row& row, std::size_t index) {
  // Variances; results that are undefined below 0, or jump at it.
  if (row.name == "batchNormalization" && index == 2) return {0.25, 2};
  if (row.name == "pow" && index == 0) return {0.25, 2};
  for (const auto name : {"log", "sqrt", "reciprocal", "reduceLogSum"})
    if (row.name == name) return {0.25, 2};
  if (row.name == "tan") return {-1, 1};  // near its poles results jump
  // With relu among its gates a network makes large numbers of small ones, and of roundings, too.
  if (row.family == ops::Family::recurrent) return {-0.5, 0.5};
  return {};
}

std::vector<std::byte> number_bytes(const OperandDescriptor& descriptor, const Range& range,
                                    unsigned specials, Random& random) {
  std::vector<std::byte> bytes(*byte_length(descriptor));
  ops::with_element(descriptor.data_type, [&]<class T>(T) {
    constexpr std::int32_t low = std::is_signed_v<T> ? -7 : 0;
    constexpr std::uint32_t most = 7 - low;
    for (std::size_t i = 0; i < bytes.size() / sizeof(T); ++i) {
      T value{};
      if constexpr (std::is_integral_v<T>)  // packed types: any two
        value = is_packed(descriptor.data_type)
                    ? static_cast<T>(random.number(0, 255))
                    : static_cast<T>(low + static_cast<std::int32_t>(random.number(0, most)));
      else
        value = float_of<T>(ordinary(range, random));
      if (specials != no_special && random.number(0, 5) == 0)
        value = special<T>(specials, value, random);
      store(bytes, i, value);
    }
    // With an odd number of nibbles, the last one is 0.
    if (is_packed(descriptor.data_type) && *element_count(descriptor.shape) % 2 != 0)
      bytes.back() &= std::byte{0x0f};
  });
  return bytes;
}

std::vector<std::byte> index_bytes(const OperandDescriptor& descriptor, std::uint32_t extent,
                                   Random& random) {
  std::vector<std::byte> bytes(*byte_length(descriptor));
  ops::with_element(descriptor.data_type, [&]<class T>(T) {
    if constexpr (std::is_integral_v<T>) {
      const std::int64_t reach = std::int64_t{extent} + 2, low = std::is_signed_v<T> ? -reach : 0;
      for (std::size_t i = 0; i < bytes.size() / sizeof(T); ++i) {
        const auto place = random.number(0, static_cast<std::uint32_t>(reach - low));
        const auto value = static_cast<T>(low + place);
        store(bytes, i, random.number(0, 15) == 0 ? special<T>(extreme, value, random) : value);
      }
    }
  });
  return bytes;
}

}  // namespace polychron::tests
