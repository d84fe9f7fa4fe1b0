// Compressed bodies: Content-Encoding gzip and deflate.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace polychron::server {

/// "gzip", "deflate" (zlib's form). Others: Refusal (bad_encoding).
bool is_compressed(std::string_view encoding);

/// The body, of at most `most` bytes. Throws Refusal: too_large, bad_request (damaged or cut).
std::vector<std::byte> decompressed(std::span<const std::byte> body, std::size_t most);

/// For clients that accept gzip.
std::vector<std::byte> gzipped(std::span<const std::byte> body);

}  // namespace polychron::server
