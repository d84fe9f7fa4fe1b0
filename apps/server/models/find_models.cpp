#include <charconv>
#include <optional>
#include <set>
#include <system_error>

#include "models/repository.hpp"

namespace polychron::server {

namespace {

namespace fs = std::filesystem;

using Versions = std::map<std::uint64_t, ModelFiles>;

bool is_servable(const std::string& name) {
  return !name.empty() && name.front() != '.' && printable(name, 200) == name;
}

/// True if nothing has this name, not even a link.
bool is_absent(const fs::path& path) {
  std::error_code failed;
  return fs::symlink_status(path, failed).type() == fs::file_type::not_found;
}

/// Size and time of a file, or "" if nothing has this name. Throws fs::filesystem_error if what is
/// there is no file, or cannot be seen.
std::string stamp_of(const fs::path& file) {
  std::error_code failed;
  const auto status = fs::status(file, failed);
  if (status.type() == fs::file_type::not_found && is_absent(file)) return {};
  if (failed) throw fs::filesystem_error("", file, failed);
  const auto size = fs::file_size(file);  // throws where it is no file
  return std::to_string(size) + "@" +
         std::to_string(fs::last_write_time(file).time_since_epoch().count()) + ";";
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
  for (const auto& entry : fs::directory_iterator(folder))
    stamps.insert(entry.path().filename().string() + ":" +
                  (entry.is_regular_file() ? stamp_of(entry.path()) : ""));
  for (const auto& each : stamps) files.stamp += each;
  return files;
}

/// model.onnx, or else the first file of GGUF: these are published under names that say more.
std::optional<ModelFiles> files_in(const fs::path& folder, const fs::path& config) {
  if (auto files = files_of(folder / "model.onnx", config)) {
    // Files of sentence models and language models: when one changes, the model is loaded again.
    for (const auto* const other :
         {"tokenizer.json", "1_Pooling/config.json", "modules.json", "sentence_bert_config.json",
          "tokenizer_config.json", "chat_template.jinja", "generation_config.json",
          "genai_config.json", "config.json"})
      files->stamp += stamp_of(folder / other);
    return files;
  }
  std::set<fs::path> others;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".gguf") others.insert(entry.path());
  return others.empty() ? std::nullopt : files_of(*others.begin(), config);
}

Versions versions_in(const fs::path& folder) {
  Versions versions;
  const auto config = folder / "config.json";
  if (auto files = files_in(folder, config)) versions[1] = *std::move(files);
  for (const auto& entry : fs::directory_iterator(folder)) {
    const auto version = version_of(entry.path().filename().string());
    if (!version || !entry.is_directory()) continue;
    if (auto files = files_in(entry.path(), config)) versions[*version] = *std::move(files);
  }
  if (!versions.empty()) return versions;
  if (auto files = code_of(folder)) versions[1] = *std::move(files);
  return versions;
}

void add_entry(const fs::directory_entry& entry, FoundModels& found) {
  const auto& path = entry.path();
  std::error_code unknown;  // a link to nothing, for one
  const bool is_folder = entry.is_directory(unknown);
  const bool is_file = !is_folder && (path.extension() == ".onnx" || path.extension() == ".gguf");
  const auto name = (is_file ? path.stem() : path.filename()).string();
  if (!is_servable(name) || !(is_file || is_folder || unknown)) return;
  try {
    Versions versions;
    if (!is_file)
      versions = versions_in(path);
    else if (auto files = files_of(path, fs::path(path).replace_extension(".json")))
      versions[1] = *std::move(files);
    if (!versions.empty()) found.models[name].merge(versions);
  } catch (const fs::filesystem_error& error) {
    const auto& at = error.path1().empty() ? path : error.path1();
    const auto file = at.lexically_relative(path.parent_path()).string();
    if (!is_absent(path))
      found.unreadable[name] =
          "'" + printable(file) + "' cannot be read: " + error.code().message();
  }
}

}  // namespace

FoundModels find_models(const fs::path& folder) try {
  FoundModels found;
  for (const auto& entry : fs::directory_iterator(folder)) add_entry(entry, found);
  return found;
} catch (const fs::filesystem_error& error) {
  throw Error(ErrorKind::bad_data, "the folder '" + printable(folder.string()) +
                                       "' cannot be read: " + error.code().message());
}

}  // namespace polychron::server
