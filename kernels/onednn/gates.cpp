#include "kernels/onednn/gates.hpp"

#include <bit>
#include <cstdint>

namespace polychron::kernels::onednn {

namespace {

/// e to the x, for |x| up to 88: 2^n times a polynomial of the rest (Cephes, expf).
inline float exponential(float x) {
  constexpr float rounder = 0x1.8p23F;  // the sum's last bits are the nearest integer
  const float shifted = x * 1.44269504F + rounder;
  const float n = shifted - rounder;
  const float r = (x - n * 0.693359375F) + n * 2.12194440e-4F;
  float p = 1.9875691500e-4F;
  p = p * r + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  const float power =
      std::bit_cast<float>((std::bit_cast<std::uint32_t>(shifted) << 23) + 0x3f80'0000U);
  return (p * r * r + r + 1.0F) * power;
}

constexpr float farthest = 87.0F;

inline float bounded(float x) {
  const float above = x > -farthest ? x : -farthest;
  return above < farthest ? above : farthest;
}

inline float sigmoid(float x) {
  const float y = 1.0F / (1.0F + exponential(bounded(-x)));
  const float known = x < -farthest ? 0.0F : y;
  return x == x ? known : x;
}

/// Uses a polynomial near zero, where the formula with the exponential cancels (Cephes, tanhf).
inline float tangent(float x) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  const float magnitude = std::bit_cast<float>(bits & 0x7fff'ffffU);
  const float large = 1.0F - 2.0F / (exponential(bounded(2.0F * magnitude)) + 1.0F);
  const float z = x * x;
  float p = -5.70498872745e-3F;
  p = p * z + 2.06390887954e-2F;
  p = p * z - 5.37397155531e-2F;
  p = p * z + 1.33314422036e-1F;
  p = p * z - 3.33332819422e-1F;
  const float small = magnitude * z * p + magnitude;
  const float y = magnitude < 0.625F ? small : large;
  const float with_sign =
      std::bit_cast<float>(std::bit_cast<std::uint32_t>(y) | (bits & 0x8000'0000U));
  return x == x ? with_sign : x;
}

}  // namespace

void activate(RecurrentNetworkActivation activation, float* values, std::size_t count) noexcept {
  switch (activation) {
    case RecurrentNetworkActivation::relu:
      for (std::size_t i = 0; i < count; ++i) values[i] = values[i] < 0.0F ? 0.0F : values[i];
      return;
    case RecurrentNetworkActivation::sigmoid:
      for (std::size_t i = 0; i < count; ++i) values[i] = sigmoid(values[i]);
      return;
    case RecurrentNetworkActivation::tanh:
      for (std::size_t i = 0; i < count; ++i) values[i] = tangent(values[i]);
      return;
  }
}

void add(float* a, const float* b, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) a[i] += b[i];
}

void add_both(float* a, const float* b, const float* c, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) a[i] += b[i] + c[i];
}

void add_product(float* a, const float* b, const float* c, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) a[i] += b[i] * c[i];
}

void multiply(float* a, const float* b, const float* c, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) a[i] = b[i] * c[i];
}

void blend(float* state, const float* share, const float* fresh, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i)
    state[i] = share[i] * state[i] + (1.0F - share[i]) * fresh[i];
}

void update(float* state, const float* keep, const float* take, const float* fresh,
            std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) state[i] = keep[i] * state[i] + take[i] * fresh[i];
}

}  // namespace polychron::kernels::onednn
