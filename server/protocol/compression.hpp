// Compressed bodies: Content-Encoding gzip and deflate.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace polychron::server {

/// "gzip", "deflate" (zlib's form). Others: Refusal (bad_encoding).
bool is_compressed(std::string_view encoding);

/// The body, of at most `most` bytes. Throws Refusal: too_large, bad_request (damaged or cut).
std::vector<std::byte> decompressed(std::span<const std::byte> body, std::size_t most);

/// "gzip" or "deflate" if the client's Accept-Encoding names it, else "".
std::string_view chosen_encoding(std::string_view accepted);

/// Compressed in that form, at zlib's fastest level.
std::string compressed(std::string_view text, std::string_view encoding);

}  // namespace polychron::server
