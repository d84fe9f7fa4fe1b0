#include "protocol/target.hpp"

#include <optional>
#include <utility>
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

/// Moves the name at `at` out of the path.
void take_model(Parts& parts, std::size_t at, Target& target) {
  target.model = std::exchange(parts[at], "*");
}

/// Behind "/v2/models/", which "stats" also follows.
void take_names(Parts& parts, Target& target) {
  if (parts.size() == 3 && parts[2] == "stats") return;
  take_model(parts, 2, target);
  if (parts.size() <= 4 || parts[3] != "versions") return;
  target.version = parts[4];
  parts.erase(parts.begin() + 3, parts.begin() + 5);
}

}  // namespace

Target parse_target(std::string_view target) {
  auto parts = segments(target);
  if (!parts) return {};
  Target parsed;
  if (parts->size() > 1 && parts->front() == "v2" &&
      ((*parts)[1] == "systemsharedmemory" || (*parts)[1] == "cudasharedmemory"))
    return {std::string(shared_memory_path), {}, {}};
  const bool has_models = parts->size() > 2 && parts->front() == "v2";
  if (parts->size() == 3 && parts->front() == "v1" && (*parts)[1] == "models")
    take_model(*parts, 2, parsed);
  else if (has_models && (*parts)[1] == "models")
    take_names(*parts, parsed);
  else if (has_models && parts->size() == 5 && (*parts)[1] == "repository")
    take_model(*parts, 3, parsed);
  for (const auto& part : *parts) {
    if (part.find('/') != part.npos) return {};  // quoted, and only a name may have one
    parsed.path += '/' + part;
  }
  if (parts->empty()) parsed.path = "/";
  return parsed;
}

}  // namespace polychron::server
