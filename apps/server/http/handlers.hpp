// What answers HTTP's requests: a row for each path.
#pragma once

#include <span>
#include <string_view>

#include "http/routes.hpp"

namespace polychron::server {

inline constexpr std::string_view infer_path = "/v2/models/*/infer";

std::span<const Route> routes();

}  // namespace polychron::server
