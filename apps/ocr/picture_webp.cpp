// WebP, by libwebp. Animations are refused: none of their pictures is the obvious one.
#include <webp/decode.h>

#include <memory>
#include <new>

#include "apps/ocr/picture_formats.hpp"
#include "polychron/error.hpp"

namespace ocr {

Decoded decode_webp(const File& file) {
  const auto* data = reinterpret_cast<const std::uint8_t*>(file.data());
  WebPBitstreamFeatures features;
  if (WebPGetFeatures(data, file.size(), &features) != VP8_STATUS_OK) return {};
  if (features.has_animation != 0)
    throw polychron::Error(polychron::ErrorKind::bad_data, "it is an animation");
  Decoded decoded;
  decoded.pixels =
      blank_picture(static_cast<std::uint64_t>(features.width),
                    static_cast<std::uint64_t>(features.height), CV_8UC4, file.max_pixels);
  // The incremental decoder: it keeps the part that it has if the rest never comes.
  auto& pixels = decoded.pixels;
  const std::unique_ptr<WebPIDecoder, void (*)(WebPIDecoder*)> decoder(
      WebPINewRGB(MODE_BGRA, pixels.data, pixels.total() * pixels.elemSize(),
                  static_cast<int>(pixels.step)),
      WebPIDelete);
  if (!decoder) throw std::bad_alloc();
  const auto status = WebPIUpdate(decoder.get(), data, file.size());
  if (status == VP8_STATUS_SUSPENDED) {
    decoded.damage = "its end is missing";
  } else if (status != VP8_STATUS_OK) {
    decoded.damage = "its data are wrong";
  }
  return decoded;
}

}  // namespace ocr
