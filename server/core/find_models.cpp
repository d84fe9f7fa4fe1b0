#include <charconv>
#include <optional>
#include <set>
#include <system_error>

#include "core/repository.hpp"

namespace polychron::server {

namespace {

namespace fs = std::filesystem;

bool is_servable(const std::string& name) {
  return !name.empty() && name.front() != '.' && printable(name, 200) == name;
}

/// Size and time of a file, or "" if there is none.
std::string stamp_of(const fs::path& file) {
  std::error_code failed;
  const auto size = fs::file_size(file, failed);
  if (failed) return {};
  const auto time = fs::last_write_time(file, failed);
  if (failed) return {};
  return std::to_string(size) + "@" + std::to_string(time.time_since_epoch().count()) + ";";
}

std::optional<ModelFiles> files_of(const fs::path& model, const fs::path& config) {
  ModelFiles files{model, config, stamp_of(model)};
  if (files.stamp.empty()) return std::nullopt;
  const auto stamp = stamp_of(config);
  if (stamp.empty()) files.config.clear();
  files.stamp += stamp;
  return files;
}

std::optional<std::uint64_t> version_of(const std::string& name) {
  std::uint64_t version = 0;
  const auto* end = name.data() + name.size();
  const auto [at, failed] = std::from_chars(name.data(), end, version);
  if (failed != std::errc() || at != end || version == 0 || name.front() == '0') return {};
  return version;
}

/// A model made of code has no model.onnx. Its code may read any file of the folder.
std::optional<ModelFiles> code_of(const fs::path& folder) {
  ModelFiles files{folder, folder / "config.json", stamp_of(folder / "config.json")};
  if (files.stamp.empty()) return std::nullopt;
  std::set<std::string> stamps;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(folder, failed))
    stamps.insert(entry.path().filename().string() + ":" + stamp_of(entry.path()));
  for (const auto& each : stamps) files.stamp += each;
  return files;
}

void find_versions(const fs::path& folder, std::map<std::uint64_t, ModelFiles>& versions) {
  const auto config = folder / "config.json";
  if (auto files = files_of(folder / "model.onnx", config)) versions[1] = *std::move(files);
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(folder, failed)) {
    const auto version = version_of(entry.path().filename().string());
    if (!version) continue;
    if (auto files = files_of(entry.path() / "model.onnx", config))
      versions[*version] = *std::move(files);
  }
  if (!versions.empty()) return;
  if (auto files = code_of(folder)) versions[1] = *std::move(files);
}

}  // namespace

FoundModels find_models(const fs::path& folder) {
  FoundModels found;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(folder, failed)) {
    const auto& path = entry.path();
    if (entry.is_directory(failed)) {
      if (!is_servable(path.filename().string())) continue;
      std::map<std::uint64_t, ModelFiles> versions;
      find_versions(path, versions);
      if (!versions.empty()) found[path.filename().string()].merge(versions);
    } else if (path.extension() == ".onnx" && is_servable(path.stem().string())) {
      auto config = path;
      config.replace_extension(".json");
      if (auto files = files_of(path, config))
        found[path.stem().string()].insert_or_assign(1, *std::move(files));
    }
  }
  if (failed)
    throw Error(ErrorKind::bad_data,
                "the folder '" + printable(folder.string()) + "': " + failed.message());
  return found;
}

}  // namespace polychron::server
