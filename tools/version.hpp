// What this program is made of.
#pragma once

namespace tool {

/// "0.1.0 (oneDNN 2.6.3, CAF 0.17.6)": what it was built with.
const char* version() noexcept;

}  // namespace tool
