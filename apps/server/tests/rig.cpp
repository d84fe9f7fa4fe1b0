#include "rig.hpp"

#include <fstream>
#include <future>
#include <stdexcept>
#include <thread>

namespace polychron::server::tests {

namespace fs = std::filesystem;

Folder::Folder() {
  std::string name = (fs::temp_directory_path() / "polychron-server-XXXXXX").string();
  if (!::mkdtemp(name.data())) throw std::runtime_error("no temporary folder");
  path_ = name;
}

Folder::~Folder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void Folder::add(const std::string& model, const std::string& as) {
  const auto from = fs::path(SERVER_TEST_FILES) / "models" / (model + ".onnx");
  const auto to = path_ / ((as.empty() ? model : as) + ".onnx");
  fs::create_directories(to.parent_path());
  auto beside = to;
  beside += ".new";
  fs::copy_file(from, beside, fs::copy_options::overwrite_existing);
  fs::rename(beside, to);
}

void Folder::write(const std::string& file, const std::string& text) {
  fs::create_directories((path_ / file).parent_path());
  std::ofstream(path_ / file, std::ios::binary) << text;
}

void Folder::remove(const std::string& file) { fs::remove_all(path_ / file); }

Rig::Rig(const std::vector<std::string>& models,
         const std::function<void(ServerOptions&)>& change) {
  for (const auto& each : models) folder.add(each);
  ServerOptions options;
  options.models = folder.path().string();
  options.http.port = 0;
  options.poll = std::chrono::milliseconds(0);
  options.quiet = true;
  if (change) change(options);
  app = std::make_unique<App>(options);
  until([&] { return app->service().ready(); });
}

std::shared_ptr<Model> Rig::model(const std::string& name) const {
  return app->service().repository.find(name, {});
}

void Rig::look() const {
  std::promise<void> done;
  app->service().repository.look([&] { done.set_value(); });
  done.get_future().wait();
}

void until(const std::function<bool()>& condition) {
  while (!condition()) std::this_thread::yield();
}

std::string simple_request(const std::string& more) {
  const std::string data = R"("datatype":"INT32","shape":[1,16],"data":)";
  return R"({"inputs":[{"name":"INPUT0",)" + data +
         R"([0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15]},{"name":"INPUT1",)" + data +
         "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]}]" + more + "}";
}

std::string slow_request(const std::string& more) {
  return R"({"inputs":[{"name":"x","datatype":"FP32","shape":[1,1],"data":[0.001]}])" + more + "}";
}

std::string copy_request(const std::string& type, const std::string& data, std::size_t count) {
  return R"({"inputs":[{"name":"x","datatype":")" + type + R"(","shape":[)" +
         std::to_string(count) + R"(],"data":)" + data + "}]}";
}

}  // namespace polychron::server::tests
