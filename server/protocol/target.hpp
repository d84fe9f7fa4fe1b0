// What a request's path asks for.
#pragma once

#include <string>
#include <string_view>

namespace polychron::server {

enum class Action {
  unknown,
  page,     ///< /
  metrics,  ///< /metrics
  state,    ///< /state.json, which the page shows
  recording,
  recording_view,
  server_live,
  server_ready,
  server_metadata,
  model_metadata,
  model_ready,
  model_config,
  model_stats,
  infer,
  repository_index,
  repository_load,
  repository_unload,
  shared_memory  ///< not served
};

struct Target {
  Action action = Action::unknown;
  std::string model;
  std::string version;  ///< empty: the default one
};

/// Parses a path with its query, which is ignored. Names may be quoted (%2F); they are looked up in
/// a table and never become a path. Damaged quoting gives Action::unknown.
Target parse_target(std::string_view target);

/// True for actions that GET asks for; the others want POST.
bool is_get(Action action);

/// True for actions that show or change the server itself: the page, its data, metrics, recordings
/// and the repository.
bool is_for_operators(Action action);

}  // namespace polychron::server
