// The vectors that this process computes in: the processor's, or narrower ones if the user asks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace polychron::kernels {

/// Kinds of vectors, the narrowest first. `sse41` stands for every processor below AVX2.
enum class Vectors : std::uint8_t { sse41, avx2, avx512 };

/// The environment variable that limits them, for the libraries and for our own loops: "sse41",
/// "avx2" or "avx512". It is read once, before the first plan. oneDNN's own variable limits our
/// loops, too: both always compute as one and the same processor would.
inline constexpr const char* vectors_variable = "POLYCHRON_MAX_VECTORS";

/// The widest vectors that loops may use. Thread-safe. The first call may throw std::bad_alloc,
/// from oneDNN.
Vectors vectors();

/// True if an instruction on such vectors multiplies bytes and adds four products: AVX-512 VNNI,
/// AVX-VNNI, or Arm's dot product. Thread-safe, as vectors() is.
bool has_four_products();

/// Why the variable's value means nothing; nullopt if it is one of the above, or not set.
std::optional<std::string> wrong_vectors();

}  // namespace polychron::kernels
