// Models come, change and go while the server runs.
#include <atomic>
#include <boost/json/parse.hpp>
#include <boost/test/unit_test.hpp>
#include <thread>

#include "rig.hpp"

namespace polychron::server::tests {

namespace {

std::string status_of(const Rig& rig, const std::string& target) {
  Client client(rig.port());
  return std::to_string(client.get(target).status);
}

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
  // A name is looked up; it is never a path.
  BOOST_TEST(client.post("/v2/repository/models/..%2F..%2Fetc%2Fpasswd/load", "").status == 404);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron::server::tests
