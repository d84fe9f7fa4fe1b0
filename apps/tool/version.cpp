#include "apps/tool/version.hpp"

namespace tool {

const char* version() noexcept {
  return POLYCHRON_VERSION " (oneDNN " ONEDNN_VERSION ", CAF " CAF_VERSION_TEXT ")";
}

}  // namespace tool
