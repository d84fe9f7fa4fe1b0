// Models with free dimensions: a graph for each shape, within bounds.
#include <boost/test/unit_test.hpp>
#include <list>

#include "rig.hpp"

namespace polychron::server::tests {

namespace {

/// [1, 2, ..., n]
std::string counted(std::size_t n) {
  std::string data = "[1";
  for (std::size_t i = 2; i <= n; ++i) data += "," + std::to_string(i);
  return data + "]";
}

Response copy(Client& client, std::size_t n) {
  return client.post("/v2/models/copy_fp32/infer", copy_request("FP32", counted(n), n));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(shapes)

BOOST_AUTO_TEST_CASE(many_shapes_few_graphs) {
  const Rig rig({"copy_fp32"}, [](auto& options) { options.model.shapes = 4; });
  Client client(rig.port());
  for (int round = 0; round < 2; ++round)
    for (std::size_t n = 1; n <= 20; ++n) {
      const auto response = copy(client, n);
      BOOST_TEST(response.body.find("\"data\":" + counted(n)) != std::string::npos);
    }
  const auto counts = rig.model("copy_fp32")->engine().graphs();
  BOOST_TEST(counts.kept == 4U);
  BOOST_TEST(counts.builds == 40U);
  BOOST_TEST(rig.model("copy_fp32")->engine().contexts().front().stats().graphs <= 5U);
}

BOOST_AUTO_TEST_CASE(a_shape_is_built_once) {
  const Rig rig({"copy_fp32"});
  std::list<Client> clients;
  for (int i = 0; i < 20; ++i)
    clients.emplace_back(rig.port())
        .send(post_text("/v2/models/copy_fp32/infer", copy_request("FP32", counted(3), 3)));
  for (auto& client : clients) BOOST_TEST(client.receive().value().status == 200);
  BOOST_TEST(rig.model("copy_fp32")->engine().graphs().builds == 1U);
}

BOOST_AUTO_TEST_CASE(sizes_have_limits) {
  Rig rig({});
  rig.folder.add("copy_fp32");
  rig.folder.write("copy_fp32.json", R"({"sizes":{"n":[2,4]},"warm":[{"n":2}]})");
  rig.look();
  Client client(rig.port());
  BOOST_TEST(rig.model("copy_fp32")->engine().graphs().builds == 1U);
  BOOST_TEST(copy(client, 4).status == 200);
  const auto refused = copy(client, 5);
  BOOST_TEST(refused.status == 400);
  BOOST_TEST(
      refused.body.find("dimension 'n' of input 'x' is 5, served are 2 to 4") != std::string::npos,
      refused.body);
}

BOOST_AUTO_TEST_CASE(memory_for_one_more_shape_comes_from_the_others) {
  // A plan of n rows and columns takes 4 n * n bytes: two of 800 do not fit together.
  const Rig rig({"wide"}, [](auto& options) { options.model.memory_limit = 4 << 20; });
  Client client(rig.port());
  const auto run = [&](std::size_t n) {
    const auto shape = std::to_string(n);
    return client.post("/v2/models/wide/infer",
                       R"({"inputs":[{"name":"a","datatype":"FP32","shape":[)" + shape +
                           R"(,1],"data":)" + counted(n) +
                           R"(},{"name":"b","datatype":"FP32","shape":[1,)" + shape +
                           R"(],"data":)" + counted(n) + "}]}");
  };
  for (const std::size_t n : {800, 810, 820, 800}) {
    const auto response = run(n);
    BOOST_TEST(response.status == 200, response.body.substr(0, 300));
  }
  const auto too_large = run(2000);
  BOOST_TEST(too_large.status == 400);
  BOOST_TEST(too_large.body.find("all sessions together may take 4 MiB") != std::string::npos,
             too_large.body);
  // Its refusal takes no memory from the others.
  const auto builds = rig.model("wide")->engine().graphs().builds;
  BOOST_TEST(run(800).status == 200);
  BOOST_TEST(rig.model("wide")->engine().graphs().builds == builds);
}

BOOST_AUTO_TEST_CASE(weights_that_shapes_share_count_once) {
  // They take 256 KiB, the same again during a build, and all the rest next to nothing. Without
  // AVX-512 some numbers of rows have a layout of their own. Four times 256 KiB do not fit.
  const Rig rig({"weights"}, [](auto& options) { options.model.memory_limit = 1000 << 10; });
  Client client(rig.port());
  for (int round = 0; round < 2; ++round)
    for (std::size_t rows = 8; rows < 12; ++rows) {
      const auto response =
          client.post("/v2/models/weights/infer",
                      R"({"inputs":[{"name":"x","datatype":"FP32","shape":[)" +
                          std::to_string(rows) + R"(,256],"data":)" + counted(rows * 256) + "}]}");
      BOOST_TEST(response.status == 200, response.body.substr(0, 300));
    }
  BOOST_TEST(rig.model("weights")->engine().graphs().builds == 4U);
}

BOOST_AUTO_TEST_CASE(a_shape_that_the_model_refuses) {
  const Rig rig({"copy_fp32"});
  Client client(rig.port());
  for (int i = 0; i < 2; ++i) {
    const auto response = client.post("/v2/models/copy_fp32/infer", copy_request("FP32", "[]", 0));
    BOOST_TEST((response.status == 200 || response.status == 400 || response.status == 501),
               response.body);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron::server::tests
