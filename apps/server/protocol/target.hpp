// What a request's path names.
#pragma once

#include <string>
#include <string_view>

namespace polychron::server {

/// A path apart from its names: "/v2/models/*/infer", and the model that stands for the '*'.
struct Target {
  std::string path;  ///< without versions, query and a '/' at the end; empty: damaged quoting
  std::string model;
  std::string version;  ///< empty: the default one
};

/// Stands for all paths of Triton's that begin with "/v2/systemsharedmemory" or the like.
inline constexpr std::string_view shared_memory_path = "/v2/sharedmemory";

/// Parses a path with its query, which is ignored. Names may be quoted (%2F); they are looked up in
/// a table and never become a path.
Target parse_target(std::string_view target);

}  // namespace polychron::server
