// The models made of code that the server brings.
#pragma once

#include "models/engine.hpp"

namespace polychron::server {

/// "ocr": reads the text of pictures. A server that was built without OpenCV refuses to load it,
/// and says so.
EngineMakers built_in_engines();

}  // namespace polychron::server
