// The folder of models, and what of it serves now.
//
// Owns: the table of models and the thread that changes it.
// Invariants: a name always has the model that was loaded last and could be; a new model is built
// before the traffic turns to it; requests of the old one finish.
// Never: builds a model on a caller's thread.
#pragma once

#include <condition_variable>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "models/model.hpp"

namespace polychron::server {

/// Where a model's files were found, and how they looked.
struct ModelFiles {
  std::filesystem::path model;   ///< model.onnx, a file of GGUF, or the folder of a model of code
  std::filesystem::path config;  ///< empty: none
  std::string stamp;             ///< changes when a file does
};

/// What a look at the folder finds, by name and version. NAME.onnx with NAME.json; NAME/model.onnx
/// or NAME/VERSION/model.onnx with NAME/config.json; NAME/config.json alone for code. In place of
/// an ONNX file there may be NAME.gguf, or a folder's first *.gguf by name.
struct FoundModels {
  std::map<std::string, std::map<std::uint64_t, ModelFiles>> models;
  /// Why a name is there and cannot be read now: it is a link to nothing, or there are no
  /// descriptors left. Such a name is neither new nor gone.
  std::map<std::string, std::string> unreadable;
};
/// Skips names that are not printable UTF-8. Throws Error (bad_data) if the folder cannot be read.
FoundModels find_models(const std::filesystem::path& folder);

/// A line of the repository's index.
struct ModelState {
  std::string name;
  std::uint64_t version = 0;
  bool ready = false;
  std::string reason;  ///< of a model, or a newer file, that could not be loaded
  std::shared_ptr<Model> model;
};

class Repository {
 public:
  struct Options {
    std::filesystem::path folder;
    ModelConfig defaults;
    EngineMakers engines;
    std::chrono::milliseconds poll{1000};  ///< 0: only when asked to
    /// Receives a line for each model that comes, goes or cannot be loaded.
    std::function<void(const std::string&)> log;
  };
  struct Host {
    Runtime& runtime;
    boost::asio::any_io_executor loop;
    boost::asio::any_io_executor builder;
    Metrics& metrics;
  };

  Repository(Options options, Host host);
  /// Stops to load models. Waits for a load that is under way, whose callbacks must still run.
  void stop();

  /// True after the first look at the folder.
  bool looked() const;
  /// The model; an empty version is the highest. Throws Refusal (not_found, unavailable).
  std::shared_ptr<Model> find(const std::string& name, const std::string& version) const;
  /// The versions that serve, in ascending order.
  std::vector<std::string> versions(const std::string& name) const;
  std::vector<ModelState> index() const;

  /// Looks at the folder again. `done` is called on the repository's thread.
  void look(std::function<void()> done = {});
  /// The look that the clock asks for: what could not be loaded waits for its turn. It is tried
  /// again after 1, 2, 4 and up to 64 of these; after any look() or load(), and when a file
  /// changes.
  void poll(std::function<void()> done = {});
  /// Loads a name (again), or stops to serve it until it is loaded by name. `done` receives what
  /// went wrong, or nothing; it is called on the repository's thread.
  using Done = std::function<void(std::optional<Refusal>)>;
  void load(const std::string& name, Done done);
  void unload(const std::string& name, Done done);

 private:
  struct Slot {
    std::shared_ptr<Model> model;
    std::string stamp;  ///< of the files that were tried last
    std::string reason;
    /// Polls between the last failure and the next try, and those of them that are left; 0: no try.
    unsigned pause = 0, left = 0;
  };
  using Table = std::map<std::string, std::map<std::uint64_t, Slot>>;

  void work(const std::stop_token& stop);
  void post(std::function<void()> task);
  /// `asked`: not by the clock.
  void refresh(bool asked);
  void refresh(const std::string& name, const std::map<std::uint64_t, ModelFiles>& files,
               bool asked);
  void complain(std::map<std::string, std::string> unreadable);
  void load_version(const std::string& name, std::uint64_t version, const ModelFiles& files,
                    const ModelConfig& config);
  void failed(const std::string& name, std::uint64_t version, const std::string& why);
  void watch(const std::shared_ptr<Model>& model);
  void renew(const std::shared_ptr<Model>& lost, const std::string& why);
  void drop(const std::string& name);
  std::optional<Refusal> reload(const std::string& name);
  void log(const std::string& line) const;

  const Options options_;
  const Host host_;
  mutable std::mutex mutex_;
  std::condition_variable_any wake_;
  Table table_;
  std::set<std::string> unloaded_;  ///< names that are not to be served; the worker's alone
  /// By name, or "" for the folder: why it could not be read at the last look; the worker's alone.
  std::map<std::string, std::string> unreadable_;
  bool stopped_ = false;  ///< no task runs any more
  std::deque<std::function<void()>> tasks_;
  bool looked_ = false;
  std::jthread worker_;  ///< last: it uses all of the above
};

}  // namespace polychron::server
