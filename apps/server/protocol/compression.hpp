// Compressed bodies: Content-Encoding gzip and deflate.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace polychron::server {

/// "gzip", "deflate" (zlib's form). Others: Refusal (bad_encoding).
bool is_compressed(std::string_view encoding);

/// Where decompressed bytes go: is told how many of the last space were used, and gives the next
/// one. It throws to end the work.
using NextSpace = std::function<std::span<std::byte>(std::size_t used)>;

/// Decompresses all of `body`, and tells how many bytes of the last space were used. Throws Refusal
/// (bad_request): damaged, or cut short.
std::size_t decompress(std::span<const std::byte> body, const NextSpace& next);

/// "gzip" or "deflate" if the client's Accept-Encoding names it, else "".
std::string_view chosen_encoding(std::string_view accepted);

/// Compressed in that form, at zlib's fastest level.
std::string compressed(std::string_view text, std::string_view encoding);

}  // namespace polychron::server
