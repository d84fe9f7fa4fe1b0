#include "protocol/target.hpp"

#include <optional>
#include <vector>

namespace polychron::server {

namespace {

int hex(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return -1;
}

std::optional<std::string> unquoted(std::string_view part) {
  std::string text;
  for (std::size_t i = 0; i < part.size(); ++i) {
    if (part[i] != '%') {
      text += part[i];
      continue;
    }
    if (i + 2 >= part.size() || hex(part[i + 1]) < 0 || hex(part[i + 2]) < 0) return std::nullopt;
    text += static_cast<char>(hex(part[i + 1]) * 16 + hex(part[i + 2]));
    i += 2;
  }
  return text;
}

using Parts = std::vector<std::string>;

/// The segments of "/v2/models/m"; an empty last one is left out. Nullopt if the quoting is wrong.
std::optional<Parts> segments(std::string_view target) {
  target = target.substr(0, target.find_first_of("?#"));
  if (!target.starts_with('/')) return std::nullopt;
  Parts parts;
  while (target.size() > 1) {
    target.remove_prefix(1);
    const auto end = std::min(target.find('/'), target.size());
    auto part = unquoted(target.substr(0, end));
    if (!part) return std::nullopt;
    parts.push_back(*std::move(part));
    target.remove_prefix(end);
  }
  return parts;
}

Action model_action(std::string_view verb) {
  if (verb == "ready") return Action::model_ready;
  if (verb == "config") return Action::model_config;
  if (verb == "stats") return Action::model_stats;
  if (verb == "infer") return Action::infer;
  return Action::unknown;
}

/// Behind "/v2/models".
Target of_model(const Parts& parts) {
  if (parts.size() == 3 && parts[2] == "stats") return {Action::model_stats, {}, {}};
  Target target{Action::model_metadata, parts[2], {}};
  std::size_t at = 3;
  if (parts.size() > 4 && parts[3] == "versions") {
    target.version = parts[4];
    at = 5;
  }
  if (parts.size() > at + 1) return {};
  if (parts.size() == at + 1) target.action = model_action(parts[at]);
  return target;
}

/// Behind "/v2/repository".
Target of_repository(const Parts& parts) {
  if (parts.size() == 3 && parts[2] == "index") return {Action::repository_index, {}, {}};
  if (parts.size() != 5 || parts[2] != "models") return {};
  if (parts[4] == "load") return {Action::repository_load, parts[3], {}};
  if (parts[4] == "unload") return {Action::repository_unload, parts[3], {}};
  return {};
}

Target of_health(const Parts& parts) {
  if (parts.size() != 3) return {};
  if (parts[2] == "live") return {Action::server_live, {}, {}};
  if (parts[2] == "ready") return {Action::server_ready, {}, {}};
  return {};
}

Action top_action(std::string_view name) {
  if (name == "metrics") return Action::metrics;
  if (name == "state.json") return Action::state;
  if (name == "recording") return Action::recording;
  if (name == "v2") return Action::server_metadata;
  return Action::unknown;
}

}  // namespace

Target parse_target(std::string_view target) {
  const auto parts = segments(target);
  if (!parts) return {};
  if (parts->empty()) return {Action::page, {}, {}};
  if (parts->size() == 1) return {top_action(parts->front()), {}, {}};
  if (*parts == Parts{"recording", "view"}) return {Action::recording_view, {}, {}};
  if (parts->front() != "v2" || parts->size() < 3) return {};
  if ((*parts)[1] == "health") return of_health(*parts);
  if ((*parts)[1] == "models") return of_model(*parts);
  if ((*parts)[1] == "repository") return of_repository(*parts);
  if ((*parts)[1] == "systemsharedmemory" || (*parts)[1] == "cudasharedmemory")
    return {Action::shared_memory, {}, {}};
  return {};
}

bool is_for_operators(Action action) {
  switch (action) {
    case Action::page:
    case Action::metrics:
    case Action::state:
    case Action::recording:
    case Action::recording_view:
    case Action::repository_index:
    case Action::repository_load:
    case Action::repository_unload:
      return true;
    default:
      return false;
  }
}

bool is_get(Action action) {
  switch (action) {
    case Action::infer:
    case Action::repository_index:
    case Action::repository_load:
    case Action::repository_unload:
      return false;
    default:
      return true;
  }
}

}  // namespace polychron::server
