#include "protocol/compression.hpp"

#include <zlib.h>

#include <algorithm>
#include <memory>
#include <string>

#include "protocol/refusal.hpp"

namespace polychron::server {

namespace {

constexpr int automatic = 15 + 32;  // zlib's largest window; gzip's or zlib's header

struct End {
  void operator()(z_stream* stream) const { inflateEnd(stream); }
};

Bytef* bytes_of(const std::byte* data) {
  return reinterpret_cast<Bytef*>(const_cast<std::byte*>(data));
}

}  // namespace

bool is_compressed(std::string_view encoding) {
  if (encoding.empty() || encoding == "identity") return false;
  if (encoding == "gzip" || encoding == "x-gzip" || encoding == "deflate") return true;
  throw Refusal(Status::bad_encoding, "Content-Encoding '" + printable(encoding, 40) +
                                          "': expected gzip, deflate or identity");
}

std::size_t decompress(std::span<const std::byte> body, const NextSpace& next) {
  z_stream stream{};
  if (inflateInit2(&stream, automatic) != Z_OK) throw std::bad_alloc();
  const std::unique_ptr<z_stream, End> end(&stream);
  stream.next_in = bytes_of(body.data());
  stream.avail_in = static_cast<uInt>(body.size());
  for (std::size_t used = 0;;) {
    const auto space = next(used);
    stream.next_out = bytes_of(space.data());
    stream.avail_out = static_cast<uInt>(space.size());
    const int state = inflate(&stream, Z_NO_FLUSH);
    used = space.size() - stream.avail_out;
    if (state == Z_STREAM_END) return used;
    if (state != Z_OK || stream.avail_out != 0)
      throw Refusal(Status::bad_request, "the compressed body is damaged or cut short");
  }
}

std::string_view chosen_encoding(std::string_view accepted) {
  // Qualities other than "q=0" are not compared: either form will do.
  for (const std::string_view name : {"gzip", "deflate"}) {
    const auto at = accepted.find(name);
    if (at == std::string_view::npos) continue;
    const auto rest = accepted.substr(at, accepted.find(',', at) - at);
    if (!rest.ends_with("q=0") && !rest.ends_with("q=0.0")) return name;
  }
  return {};
}

std::string compressed(std::string_view text, std::string_view encoding) {
  z_stream stream{};
  const int window = encoding == "gzip" ? 15 + 16 : 15;
  if (deflateInit2(&stream, 1, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
  std::string packed(deflateBound(&stream, static_cast<uLong>(text.size())), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

}  // namespace polychron::server
