// A server in the test's own process, on a folder of its own.
#pragma once

#include <filesystem>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "app.hpp"
#include "client.hpp"

namespace polychron::server::tests {

/// A folder that ends with the test.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::filesystem::path& path() const { return path_; }
  /// Copies a model of tests/models, under its own or another name, by a rename.
  void add(const std::string& model, const std::string& as = {});
  void write(const std::string& file, const std::string& text);
  void remove(const std::string& file);

 private:
  std::filesystem::path path_;
};

class Rig {
 public:
  /// Starts a server on these models, and waits until it is ready. `change` sets options.
  explicit Rig(const std::vector<std::string>& models,
               const std::function<void(ServerOptions&)>& change = {});
  std::uint16_t port() const { return app->http_port(); }
  Client client() const { return Client(port()); }
  std::shared_ptr<Model> model(const std::string& name) const;
  /// Looks at the folder, and waits until that is done.
  void look() const;

  Folder folder;
  std::unique_ptr<App> app;
};

/// Requests that a test holds, and lets go.
class Holding final : public Engine {
 public:
  explicit Holding(std::list<Promise<EngineOutcome>>& held) : held_(held) {}
  const Signature& signature() const override { return signature_; }
  std::vector<Context> contexts() const override { return {}; }
  Future<EngineOutcome> infer(EngineRequest&&) override { return held_.emplace_back().future(); }

 private:
  const Signature signature_{{{"x", WireType::fp32, {{}}}}, {{"x", WireType::fp32, {{}}}}};
  std::list<Promise<EngineOutcome>>& held_;
};

/// Gives the processor to others until the condition holds. No time limit: CTest has one.
void until(const std::function<bool()>& condition);

/// Paths: where the model "simple" answers, and whether the server lives.
inline const std::string infer_simple = "/v2/models/simple/infer", live = "/v2/health/live";

/// Requests of the models of tests/models.
std::string simple_request(const std::string& more = {});
std::string slow_request(const std::string& more = {});
/// {"inputs":[{"name":..., "datatype":..., "shape":[n], "data":[...]}]}
std::string copy_request(const std::string& type, const std::string& data, std::size_t count);

}  // namespace polychron::server::tests
