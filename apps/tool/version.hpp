// The versions in this program.
#pragma once

namespace tool {

/// "0.1.0 (oneDNN 2.6.3, CAF 0.17.6)": its version and those of its libraries.
const char* version() noexcept;

}  // namespace tool
