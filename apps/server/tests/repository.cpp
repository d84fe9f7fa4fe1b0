// Models come, change and go while the server runs.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <boost/asio/thread_pool.hpp>
#include <boost/json/parse.hpp>
#include <boost/test/unit_test.hpp>
#include <future>
#include <thread>

#include "rig.hpp"

namespace polychron::server::tests {

namespace {

std::string status_of(const Rig& rig, const std::string& target) {
  Client client(rig.port());
  return std::to_string(client.get(target).status);
}

/// A repository without a server. The test's calls are its clock.
struct Alone {
  explicit Alone(const EngineMakers& codes = {}) {
    Repository::Options options{folder.path(), {}, codes, std::chrono::milliseconds(0), {}};
    options.log = [this](const std::string& line) { lines.push_back(line); };
    repository.emplace(
        options, Repository::Host{runtime, pool.get_executor(), pool.get_executor(), metrics});
    look();
  }
  ~Alone() { repository->stop(); }
  Alone(const Alone&) = delete;
  Alone& operator=(const Alone&) = delete;
  void look() { wait(&Repository::look); }
  void poll() { wait(&Repository::poll); }
  bool serves(const std::string& name) const {
    try {
      return repository->find(name, {}) != nullptr;
    } catch (const Refusal&) {
      return false;
    }
  }

  Folder folder;
  Runtime runtime;
  boost::asio::thread_pool pool{2};
  Metrics metrics;
  std::vector<std::string> lines;  ///< of the log; changes during a look alone
  std::optional<Repository> repository;

 private:
  void wait(void (Repository::*call)(std::function<void()>)) {
    std::promise<void> done;
    (*repository.*call)([&] { done.set_value(); });
    done.get_future().wait();
  }
};

/// Leaves the process this many descriptors, until its end.
class FewDescriptors {
 public:
  explicit FewDescriptors(rlim_t left) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const int lowest = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ::close(lowest);
    auto few = before_;
    few.rlim_cur = static_cast<rlim_t>(lowest) + left;
    ::setrlimit(RLIMIT_NOFILE, &few);
  }
  ~FewDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  FewDescriptors(const FewDescriptors&) = delete;
  FewDescriptors& operator=(const FewDescriptors&) = delete;

 private:
  rlimit before_{};
};

}  // namespace

BOOST_AUTO_TEST_SUITE(repository)

BOOST_AUTO_TEST_CASE(models_come_and_go) {
  Rig rig({"simple"});
  rig.folder.add("product", "fresh");
  rig.look();
  BOOST_TEST(status_of(rig, "/v2/models/fresh/ready") == "200");
  rig.folder.remove("simple.onnx");
  rig.look();
  BOOST_TEST(status_of(rig, "/v2/models/simple/ready") == "404");
}

BOOST_AUTO_TEST_CASE(a_model_is_not_unknown_while_the_folder_is_read) {
  // A balancer may send requests before the first look is done: they can be tried elsewhere.
  Folder folder;
  folder.add("slow", "a_slow_one");
  folder.add("simple");
  ServerOptions options;
  options.models = folder.path().string();
  options.http.port = 0;
  options.quiet = true;
  App app(options);
  int status = 0;
  std::size_t early = 0;
  while (status != 200) {
    Client client(app.http_port());
    status = client.post("/v2/models/simple/infer", simple_request()).status;
    BOOST_TEST((status == 200 || status == 503));
    early += status == 503 ? 1 : 0;
  }
  BOOST_TEST(early > 0U);
}

BOOST_AUTO_TEST_CASE(a_model_is_replaced_while_it_serves) {
  Rig rig({"simple"});
  rig.folder.add("copy_fp32", "m");
  rig.look();
  std::atomic<bool> stop = false;
  std::atomic<int> answers = 0, wrong = 0;
  std::jthread load([&] {
    Client client(rig.port());
    while (!stop) {
      const auto response = client.post("/v2/models/m/infer", copy_request("FP32", "[1,2]", 2));
      // Between the two models the types differ: the other one refuses, and names it.
      const bool right = response.status == 200 || response.status == 400;
      ++(right ? answers : wrong);
    }
  });
  const std::vector<std::string> kinds{"copy_int8", "copy_fp32"};
  for (int i = 0; i < 10; ++i) {
    const auto before = answers.load();
    rig.folder.add(kinds[static_cast<std::size_t>(i) % 2], "m");
    rig.look();
    until([&] { return answers > before; });
  }
  stop = true;
  load.join();
  BOOST_TEST(wrong == 0);
  Client client(rig.port());
  BOOST_TEST(client.post("/v2/models/m/infer", copy_request("FP32", "[1,2]", 2)).status == 200);
}

BOOST_AUTO_TEST_CASE(a_broken_file_leaves_the_old_model_and_says_why) {
  Rig rig({"simple"}, [](auto& options) { options.service.repository_interface = true; });
  rig.folder.write("simple.onnx", "not a model");
  rig.folder.write("other.onnx", "");
  rig.look();
  Client client(rig.port());
  BOOST_TEST(client.post("/v2/models/simple/infer", simple_request()).status == 200);
  const auto index = boost::json::parse(client.post("/v2/repository/index", "").body);
  BOOST_TEST(index.at(0).at("name") == "other");
  BOOST_TEST(index.at(0).at("state") == "UNAVAILABLE");
  BOOST_TEST(!index.at(1).at("reason").as_string().empty());
  const auto refused = client.get("/v2/models/other");
  BOOST_TEST(refused.status == 503);
  BOOST_TEST(refused.body.find("other.onnx") != std::string::npos, refused.body);
  const auto folder = rig.folder.path().parent_path().string();
  BOOST_TEST(refused.body.find(folder) == std::string::npos, refused.body);
  rig.folder.add("product", "simple");
  rig.look();
  BOOST_TEST(client.post("/v2/models/simple/infer", simple_request()).status == 400);
}

BOOST_AUTO_TEST_CASE(a_wrong_configuration_leaves_the_old_model) {
  Rig rig({"simple"});
  rig.folder.write("simple.json", R"({"lanes": "two"})");
  rig.look();
  BOOST_TEST(status_of(rig, "/v2/models/simple/ready") == "200");
  rig.folder.write("simple.json", R"({"lanes": 2})");
  rig.look();
  BOOST_TEST(rig.model("simple")->config().lanes == 2);
}

BOOST_AUTO_TEST_CASE(the_highest_versions_serve) {
  Rig rig({});
  rig.folder.add("copy_fp32", "m/1/model");
  rig.folder.add("copy_int8", "m/2/model");
  rig.folder.add("copy_int8", "m/03/model");  // not a version
  rig.look();
  BOOST_TEST(rig.model("m")->version() == 2U);
  BOOST_TEST(status_of(rig, "/v2/models/m/versions/1/ready") == "404");
  rig.folder.write("m/config.json", R"({"versions": 2})");
  rig.look();
  BOOST_TEST(status_of(rig, "/v2/models/m/versions/1/ready") == "200");
  // A new version that is broken: the old one serves the unnamed version.
  rig.folder.write("m/3/model.onnx", "broken");
  rig.folder.write("m/config.json", R"({"versions": 1})");
  rig.look();
  BOOST_TEST(rig.model("m")->version() == 2U);
  rig.folder.add("copy_uint8", "m/3/model");
  rig.look();
  BOOST_TEST(rig.model("m")->version() == 3U);
  BOOST_TEST(status_of(rig, "/v2/models/m/versions/2/ready") == "404");
}

BOOST_AUTO_TEST_CASE(a_lost_context_is_built_again) {
  const Rig rig({"slow", "simple"});
  auto lost = rig.model("slow");
  Client busy(rig.port());
  busy.send(post_text("/v2/models/slow/infer", slow_request(R"(,"id":"7")")));
  until([&] { return lost->in_flight() == 1; });
  lost->engine().contexts().front().destroy();
  const auto failed = busy.receive().value();
  BOOST_TEST(failed.status == 503);
  BOOST_TEST(failed.headers.count("retry-after") == 1U);
  until([&] { return rig.model("slow") != lost; });
  lost.reset();
  BOOST_TEST(busy.post("/v2/models/slow/infer", slow_request()).status == 200);
  BOOST_TEST(busy.post("/v2/models/simple/infer", simple_request()).status == 200);
}

BOOST_AUTO_TEST_CASE(bad_entries_are_skipped_and_told_once) {
  Alone alone;
  alone.folder.add("simple");
  const auto path = alone.folder.path();
  for (const std::string name : {"a.onnx", "b", "y.onnx", "zz"})
    std::filesystem::create_symlink("/nowhere", path / name);
  std::filesystem::create_symlink("loop.onnx", path / "loop.onnx");
  ::mkfifo((path / "pipe.onnx").c_str(), 0600);
  alone.folder.add("simple", "m/1/model");
  ::mkfifo((path / "m/config.json").c_str(), 0600);
  alone.look();
  BOOST_TEST(alone.serves("simple"));
  // The order of a folder's entries is not ours: one more model, wherever it stands.
  for (int i = 0; i < 10; ++i) alone.folder.add("product", "p" + std::to_string(i));
  alone.look();
  for (int i = 0; i < 10; ++i) BOOST_TEST(alone.serves("p" + std::to_string(i)));
  alone.poll();
  for (const std::string name :
       {"'a.onnx'", "'b'", "'y.onnx'", "'zz'", "'loop.onnx'", "'pipe.onnx'", "'m/config.json'"})
    BOOST_TEST(std::count_if(alone.lines.begin(), alone.lines.end(),
                             [&](const auto& line) {
                               return line.find(name + " cannot be read: ") == 0;
                             }) == 1,
               name);
}

BOOST_AUTO_TEST_CASE(what_cannot_be_read_goes_on_serving) {
  Alone alone;
  alone.folder.add("simple");
  alone.folder.add("simple", "versions/2/model");
  alone.folder.add("simple", "versions/3/model");
  alone.folder.write("versions/config.json", R"({"versions": 2})");
  alone.look();
  {
    // Enough for the folder, and not for the folders in it.
    const FewDescriptors few(1);
    alone.look();
    alone.look();
  }
  BOOST_TEST(alone.lines.back().find("'versions' cannot be read: ") == 0U, alone.lines.back());
  BOOST_TEST(alone.repository->versions("versions").size() == 2U);
  {
    const FewDescriptors none(0);
    alone.look();
    alone.look();
  }
  BOOST_TEST(std::count_if(alone.lines.begin(), alone.lines.end(),
                           [](const auto& line) { return line.find("the folder '") == 0; }) == 1);
  // A model whose file has become a link to nothing, and a configuration that cannot be read.
  const auto path = alone.folder.path();
  alone.folder.remove("simple.onnx");
  std::filesystem::create_symlink("/nowhere", path / "simple.onnx");
  alone.folder.write("versions/config.json", "{");
  alone.look();
  BOOST_TEST(alone.serves("simple"));
  BOOST_TEST(alone.repository->versions("versions").size() == 2U);
  alone.folder.remove("simple.onnx");
  alone.folder.remove("versions");
  alone.look();
  BOOST_TEST(alone.repository->index().empty());
}

BOOST_AUTO_TEST_CASE(a_load_that_succeeds_at_last_is_not_repeated) {
  struct Nothing final : Engine {
    const Signature& signature() const override { return signature_; }
    std::vector<Context> contexts() const override { return {}; }
    Future<EngineOutcome> infer(EngineRequest&&) override { return {}; }
    Signature signature_;
  };
  int tries = 0;
  EngineMakers codes;
  codes["third"] = [&](const EngineOrigin&, const EngineHost&) -> std::shared_ptr<Engine> {
    if (++tries < 3) throw std::bad_alloc();
    return std::make_shared<Nothing>();
  };
  Alone alone(codes);
  alone.folder.write("m/config.json", R"({"code": "third"})");
  alone.look();
  alone.poll();
  BOOST_TEST(!alone.serves("m"));
  alone.look();  // before its turn
  BOOST_TEST(alone.serves("m"));
  BOOST_TEST(alone.repository->index().at(0).reason == "");
  for (int i = 0; i < 5; ++i) alone.poll();
  alone.look();
  BOOST_TEST(tries == 3);
}

BOOST_AUTO_TEST_CASE(a_failed_load_is_tried_again) {
  int tries = 0;
  bool fails = true;
  EngineMakers codes;
  codes["fails"] = [&](const EngineOrigin&, const EngineHost&) -> std::shared_ptr<Engine> {
    ++tries;
    if (fails) throw std::bad_alloc();
    throw Error(ErrorKind::out_of_memory, "another reason");
  };
  Alone alone(codes);
  alone.folder.write("m/config.json", R"({"code": "fails"})");
  alone.look();
  std::vector<int> polls;  // that tried
  for (int i = 1; i <= 200; ++i) {
    const auto before = tries;
    alone.poll();
    if (tries != before) polls.push_back(i);
  }
  BOOST_TEST(polls == std::vector<int>({1, 3, 7, 15, 31, 63, 127, 191}),
             boost::test_tools::per_element());
  BOOST_TEST(alone.lines.size() == 1U);  // the same reason is told once
  fails = false;
  const auto before = tries;
  alone.look();  // asked for: at once
  BOOST_TEST(tries == before + 1);
  BOOST_TEST(alone.lines.size() == 2U);
  // Without code it is another matter, which waits from the beginning.
  alone.folder.write("m/config.json", "{");
  alone.poll();
  alone.folder.add("simple", "m/model");
  alone.folder.write("m/config.json", "{}");
  alone.poll();
  BOOST_TEST(alone.serves("m"));
  alone.look();
  alone.poll();
  BOOST_TEST(tries == before + 1);
}

BOOST_AUTO_TEST_CASE(the_interface_is_off_unless_asked_for) {
  const Rig rig({"simple"});
  Client client(rig.port());
  BOOST_TEST(client.post("/v2/repository/index", "").status == 403);
  BOOST_TEST(client.post("/v2/repository/models/simple/unload", "").status == 403);
}

BOOST_AUTO_TEST_CASE(models_are_loaded_and_unloaded_by_name) {
  Rig rig({"simple"}, [](auto& options) { options.service.repository_interface = true; });
  Client client(rig.port());
  BOOST_TEST(client.post("/v2/repository/models/simple/unload", "{}").status == 200);
  BOOST_TEST(client.get("/v2/models/simple/ready").status == 404);
  rig.look();  // it stays away
  BOOST_TEST(client.get("/v2/models/simple/ready").status == 404);
  BOOST_TEST(client.post("/v2/repository/models/simple/load", "{}").status == 200);
  BOOST_TEST(client.get("/v2/models/simple/ready").status == 200);
  BOOST_TEST(client.post("/v2/repository/models/none/load", "").status == 404);
  // What comes with the call, and would be ignored, is refused.
  const auto load = [&](const std::string& body) {
    const auto answer = client.post("/v2/repository/models/simple/load", body);
    return std::to_string(answer.status) + " " + answer.body;
  };
  BOOST_TEST(load(R"({"parameters":{"config":"{}"}})") ==
             R"(501 {"error":"parameter 'config': not supported; a model's fields are in its file )"
             R"(in the server's folder"})");
  BOOST_TEST(load(R"({"parameters":{"file:1/model.onnx":"AAAA"}})").find("501 ") == 0U);
  BOOST_TEST(load(R"({"parameters":{"colour":1}})").find("400 ") == 0U);
  BOOST_TEST(load(R"({"parameters":[]})").find("400 ") == 0U);
  BOOST_TEST(load("[]").find("400 ") == 0U);
  BOOST_TEST(load("not JSON").find("400 ") == 0U);
  BOOST_TEST(load(R"({"parameters":{"unload_dependents":false}})").find("200 ") == 0U);
  // A name is looked up; it is never a path.
  BOOST_TEST(client.post("/v2/repository/models/..%2F..%2Fetc%2Fpasswd/load", "").status == 404);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron::server::tests
