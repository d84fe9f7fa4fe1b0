#include "models/repository.hpp"

#include <algorithm>
#include <polychron/invariant.hpp>
#include <utility>

namespace polychron::server {
namespace {

/// `text` with paths as they are within `folder`: clients read it.
std::string within(const std::filesystem::path& folder, std::string text) {
  const auto prefix = (folder / "").string();
  for (auto at = text.find(prefix); at != std::string::npos; at = text.find(prefix, at))
    text.erase(at, prefix.size());
  return text;
}

}  // namespace

Repository::Repository(Options options, Host host)
    : options_(std::move(options)),
      host_(std::move(host)),
      worker_([this](const std::stop_token& stop) { work(stop); }) {}

void Repository::stop() {
  worker_.request_stop();
  if (worker_.joinable()) worker_.join();
  std::deque<std::function<void()>> left;  // goes after the lock: their callers hear of it
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  left.swap(tasks_);
}

void Repository::log(const std::string& line) const {
  if (options_.log) options_.log(line);
}

// -- the worker -----------------------------------------------------------------------------------

void Repository::post(std::function<void()> task) {
  const std::lock_guard lock(mutex_);
  if (stopped_) return;  // its caller hears of it
  tasks_.push_back(std::move(task));
  wake_.notify_all();
}

void Repository::work(const std::stop_token& stop) {
  refresh(false);
  std::unique_lock lock(mutex_);
  looked_ = true;
  while (!stop.stop_requested()) {
    const auto has_task = [&] { return !tasks_.empty(); };
    bool asked = true;
    if (options_.poll.count() > 0)
      asked = wake_.wait_for(lock, stop, options_.poll, has_task);
    else
      wake_.wait(lock, stop, has_task);
    if (stop.stop_requested()) return;
    auto tasks = std::exchange(tasks_, {});
    lock.unlock();
    if (!asked) tasks.emplace_back([this] { refresh(false); });
    for (const auto& task : tasks) try {
        task();
      } catch (const std::exception&) {
        // Out of memory: its caller hears of it, and the next look makes it good.
      }
    lock.lock();
  }
}

void Repository::refresh(bool asked) {
  FoundModels found;
  try {
    found = find_models(options_.folder);
  } catch (const std::exception& error) {
    // What serves goes on: a volume may be away for a moment.
    return complain({{"", error.what()}});
  }
  std::vector<std::string> gone;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [name, versions] : table_)
      if (!found.models.contains(name) && !found.unreadable.contains(name)) gone.push_back(name);
  }
  for (const auto& name : gone) drop(name);
  for (const auto& [name, files] : found.models)
    if (!unloaded_.contains(name) && !found.unreadable.contains(name)) refresh(name, files, asked);
  complain(std::move(found.unreadable));
}

/// Logs each trouble once, until it is over or becomes another one.
void Repository::complain(std::map<std::string, std::string> unreadable) {
  for (const auto& [name, why] : unreadable)
    if (const auto known = unreadable_.find(name);
        known == unreadable_.end() || known->second != why)
      log(why);
  unreadable_ = std::move(unreadable);
}

void Repository::refresh(const std::string& name, const std::map<std::uint64_t, ModelFiles>& files,
                         bool asked) {
  auto config = options_.defaults;
  std::string wrong;
  try {
    if (const auto& file = files.rbegin()->second.config; !file.empty())
      config = read_config(file, options_.defaults);
  } catch (const std::exception& error) {
    wrong = within(options_.folder, error.what());
  }
  std::map<std::uint64_t, ModelFiles> wanted;
  for (auto at = files.rbegin(); at != files.rend() && wanted.size() < config.versions; ++at)
    wanted.insert(*at);
  for (const auto& [version, found] : wanted) {
    {
      const std::lock_guard lock(mutex_);
      auto& slot = table_[name][version];
      const bool fresh = slot.stamp != found.stamp;
      const bool again = slot.left > 0 && (asked || --slot.left == 0);
      if (!fresh && !again) continue;
      if (fresh) slot = {slot.model, found.stamp, {}};
    }
    if (wrong.empty())
      load_version(name, version, found, config);
    else
      failed(name, version, wrong);
  }
  if (!wrong.empty()) return;  // it does not say which versions are wanted
  const std::lock_guard lock(mutex_);
  auto& slots = table_[name];
  // An old version goes when a wanted one serves.
  const bool served = std::any_of(slots.begin(), slots.end(), [&](const auto& each) {
    return each.second.model && wanted.contains(each.first);
  });
  std::erase_if(slots, [&](const auto& each) {
    return !wanted.contains(each.first) && (served || !files.contains(each.first));
  });
}

void Repository::load_version(const std::string& name, std::uint64_t version,
                              const ModelFiles& files, const ModelConfig& config) {
  const auto title = "model '" + name + "', version " + std::to_string(version);
  try {
    if (config.code.empty() && std::filesystem::is_directory(files.model))
      throw Error(ErrorKind::bad_data,
                  "expected a model.onnx or a .gguf in its folder, or \"code\" in its "
                  "config.json");
    const EngineHost host{host_.runtime, host_.loop, host_.builder, host_.metrics.model(name)};
    auto model = Model::load({name, files.model, config}, version, host, options_.engines);
    check_invariant(model && model->name() == name, "a model has the name that it was loaded by");
    std::shared_ptr<Model> old;
    {
      const std::lock_guard lock(mutex_);
      auto& slot = table_[name][version];
      check_invariant(slot.stamp == files.stamp, "only the worker changes the table");
      old = std::exchange(slot.model, model);
      slot.reason.clear();
      slot.pause = slot.left = 0;
    }
    watch(model);
    log(title + (old ? ": replaced" : ": loaded"));
  } catch (const std::exception& error) {  // code may throw anything
    failed(name, version, within(options_.folder, error.what()));
  }
}

/// Want of memory or descriptors may pass, and a missing file may come: it is tried again.
void Repository::failed(const std::string& name, std::uint64_t version, const std::string& why) {
  const std::lock_guard lock(mutex_);
  auto& slot = table_[name][version];
  if (slot.reason != why)
    log("model '" + name + "', version " + std::to_string(version) + ": " +
        (slot.model ? "the old one goes on serving: " : "") + why);
  constexpr unsigned longest = 64;
  slot.reason = why;
  slot.left = slot.pause = std::clamp(2 * slot.pause, 1U, longest);
}

void Repository::watch(const std::shared_ptr<Model>& model) {
  for (const auto& context : model->engine().contexts())
    context.lost().then([this, weak = std::weak_ptr(model)](Result<LostInfo> info) {
      const auto lost = weak.lock();
      if (!lost || !info || info->reason == LostReason::runtime_shutdown) return;
      post([this, lost, why = info->message] { renew(lost, why); });
    });
}

void Repository::renew(const std::shared_ptr<Model>& lost, const std::string& why) {
  {
    const std::lock_guard lock(mutex_);
    const auto names = table_.find(lost->name());
    if (names == table_.end()) return;
    const auto slot = names->second.find(lost->version());
    if (slot == names->second.end() || slot->second.model != lost) return;
    slot->second.stamp.clear();  // load it again
  }
  log("model '" + lost->name() + "': its context is lost (" + why + "); it is built again");
  refresh(false);
}

void Repository::drop(const std::string& name) {
  std::map<std::uint64_t, Slot> dropped;
  {
    const std::lock_guard lock(mutex_);
    const auto found = table_.find(name);
    if (found == table_.end()) return;
    dropped = std::move(found->second);
    table_.erase(found);
  }
  host_.metrics.forget(name);
  log("model '" + name + "': removed");
}

// -- for everybody --------------------------------------------------------------------------------

bool Repository::looked() const {
  const std::lock_guard lock(mutex_);
  return looked_;
}

std::shared_ptr<Model> Repository::find(const std::string& name, const std::string& version) const {
  const std::lock_guard lock(mutex_);
  const auto found = table_.find(name);
  const bool known = found != table_.end() && !found->second.empty();
  if (!known && !looked_)
    throw Refusal(Status::unavailable,
                  "the models are being loaded; '" + printable(name) + "' is not there yet", 1);
  if (!known) throw Refusal(Status::not_found, "no model '" + printable(name) + "'");
  std::string reason;
  for (auto at = found->second.rbegin(); at != found->second.rend(); ++at) {
    if (!version.empty() && std::to_string(at->first) != version) continue;
    if (at->second.model) return at->second.model;
    if (reason.empty()) reason = at->second.reason;
  }
  if (reason.empty() && !version.empty())
    throw Refusal(Status::not_found, "model '" + printable(name) + "' has no version '" +
                                         printable(version, 40) + "' that serves");
  throw Refusal(Status::unavailable,
                "model '" + printable(name) +
                    "' is not ready: " + (reason.empty() ? "it is being loaded" : reason),
                1);
}

std::vector<std::string> Repository::versions(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> versions;
  if (const auto found = table_.find(name); found != table_.end())
    for (const auto& [version, slot] : found->second)
      if (slot.model) versions.push_back(std::to_string(version));
  return versions;
}

std::vector<ModelState> Repository::index() const {
  const std::lock_guard lock(mutex_);
  std::vector<ModelState> states;
  for (const auto& [name, versions] : table_)
    for (const auto& [version, slot] : versions)
      states.push_back({name, version, slot.model != nullptr, slot.reason, slot.model});
  return states;
}

void Repository::look(std::function<void()> done) {
  post([this, done = std::move(done)] {
    refresh(true);
    if (done) done();
  });
}

void Repository::poll(std::function<void()> done) {
  post([this, done = std::move(done)] {
    refresh(false);
    if (done) done();
  });
}

std::optional<Refusal> Repository::reload(const std::string& name) {
  unloaded_.erase(name);
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = table_.find(name); found != table_.end())
      for (auto& [version, slot] : found->second) slot.stamp.clear();
  }
  refresh(false);
  if (const auto found = unreadable_.find(name); found != unreadable_.end())
    return Refusal(Status::bad_request, "model '" + printable(name) + "': " + found->second);
  const std::lock_guard lock(mutex_);
  const auto found = table_.find(name);
  if (found == table_.end())
    return Refusal(Status::not_found, "no model '" + printable(name) + "' in the folder");
  for (const auto& [version, slot] : found->second)
    if (!slot.reason.empty())
      return Refusal(Status::bad_request, "model '" + printable(name) + "', version " +
                                              std::to_string(version) + ": " + slot.reason);
  return std::nullopt;
}

void Repository::load(const std::string& name, Done done) {
  post([this, name, done = std::move(done)] { done(reload(name)); });
}

void Repository::unload(const std::string& name, Done done) {
  post([this, name, done = std::move(done)] {
    if (versions(name).empty())
      return done(Refusal(Status::not_found, "no model '" + printable(name) + "' serves"));
    unloaded_.insert(name);
    drop(name);
    done(std::nullopt);
  });
}

}  // namespace polychron::server
