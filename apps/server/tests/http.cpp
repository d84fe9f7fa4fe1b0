// Requests as clients send them, over a socket.
#include <boost/json/parse.hpp>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "protocol/compression.hpp"
#include "rig.hpp"

namespace polychron::server::tests {

namespace {

boost::json::value json_of(const Response& response) { return boost::json::parse(response.body); }

std::string text_at(const Response& response, const char* member) {
  return json_of(response).at(member).as_string().c_str();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(http)

BOOST_AUTO_TEST_CASE(health_and_metadata) {
  const Rig rig({"simple", "product"});
  Client client(rig.port());
  BOOST_TEST(client.get("/v2/health/live").body == R"({"live":true})");
  BOOST_TEST(client.get("/v2/health/ready").body == R"({"ready":true})");
  BOOST_TEST(json_of(client.get("/v2")).at("name") == "polychron");
  BOOST_TEST(client.get("/").headers.at("content-type") == "text/html; charset=utf-8");
  BOOST_TEST(client.get("/metrics").headers.at("content-type") ==
             "text/plain; version=0.0.4; charset=utf-8");
  const auto metadata = json_of(client.get("/v2/models/product?a=b"));
  BOOST_TEST(metadata.at("platform") == "onnx_onnxv1");
  BOOST_TEST(metadata.at("inputs").at(0).at("shape") == boost::json::parse("[-1,-1]"));
  BOOST_TEST(client.get("/v2/models/product/versions/1/ready").status == 200);
  BOOST_TEST(client.get("/v2/models/product/versions/2/ready").status == 404);
  BOOST_TEST(client.get("/v2/models/none").body == R"({"error":"no model 'none'"})");
}

BOOST_AUTO_TEST_CASE(json_and_binary_in_one_request) {
  const Rig rig({"simple"});
  Client client(rig.port());
  const std::string json =
      R"({"id":"q","inputs":[{"name":"INPUT0","datatype":"INT32","shape":[1,16],)"
      R"("parameters":{"binary_data_size":64}},{"name":"INPUT1","datatype":"INT32",)"
      R"("shape":[1,16],"data":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]}],)"
      R"("outputs":[{"name":"OUTPUT1","parameters":{"binary_data":true}},{"name":"OUTPUT0"}]})";
  const auto response =
      client.post(infer_simple, json + std::string(64, '\0'),
                  "Inference-Header-Content-Length: " + std::to_string(json.size()) + "\r\n");
  BOOST_TEST(response.status == 200);
  const auto length = std::stoul(response.headers.at("inference-header-content-length"));
  const auto answer = boost::json::parse(response.body.substr(0, length));
  BOOST_TEST(answer.at("id") == "q");
  BOOST_TEST(answer.at("outputs").at(0).at("name") == "OUTPUT1");
  BOOST_TEST(answer.at("outputs").at(1).at("data").at(0) == 1);
  BOOST_TEST(response.body.substr(length) == [] {
    std::string minus_ones;
    for (int i = 0; i < 16; ++i) minus_ones += "\xFF\xFF\xFF\xFF";
    return minus_ones;
  }());
}

BOOST_AUTO_TEST_CASE(the_first_request_of_the_documentation) {
  std::ifstream file(std::filesystem::path(SERVER_TEST_FILES) / "../../../docs/serving.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  const std::string command = "curl localhost:8000/v2/models/product/infer -d \\\n  '";
  const auto begin = page.find(command);
  BOOST_REQUIRE(begin != std::string::npos);
  const auto body = page.substr(begin + command.size());
  const Rig rig({"product"});
  Client client(rig.port());
  const auto answer = client.post("/v2/models/product/infer", body.substr(0, body.find('\'')),
                                  "Content-Type: application/x-www-form-urlencoded\r\n");  // curl's
  BOOST_TEST(json_of(answer).at("outputs").at(0).at("data") == boost::json::parse("[11]"));
}

BOOST_AUTO_TEST_CASE(every_type_comes_back_as_it_was) {
  const Rig rig({"copy_bool", "copy_int8", "copy_int16", "copy_int64", "copy_uint8", "copy_fp16",
                 "copy_fp32", "copy_fp64"});
  Client client(rig.port());
  const std::vector<std::array<std::string, 3>> all{
      {"bool", "BOOL", "[true,false,true]"},
      {"int8", "INT8", "[-128,0,127]"},
      {"int16", "INT16", "[-32768,0,32767]"},
      {"int64", "INT64", "[-9223372036854775808,0,9223372036854775807]"},
      {"uint8", "UINT8", "[0,1,255]"},
      {"fp16", "FP16", "[0.5,-2,65504]"},
      {"fp32", "FP32", "[0.1,-2,3e+38]"},
      {"fp64", "FP64", "[0.5,-2,1024]"}};
  for (const auto& [name, type, data] : all) {
    const auto response =
        client.post("/v2/models/copy_" + name + "/infer", copy_request(type, data, 3));
    BOOST_TEST(response.body.find("\"data\":" + data) != std::string::npos, response.body);
  }
}

BOOST_AUTO_TEST_CASE(wrong_requests_name_what_was_expected) {
  const Rig rig({"simple", "product"});
  Client client(rig.port());
  const auto error = [&](const std::string& model, const std::string& body) {
    const auto response = client.post("/v2/models/" + model + "/infer", body);
    return std::to_string(response.status) + " " + text_at(response, "error");
  };
  BOOST_TEST(error("simple", copy_request("FP32", "[1]", 1)) ==
             "400 model 'simple' has no input 'x'; it has 'INPUT0', 'INPUT1'");
  BOOST_TEST(error("simple", R"({"inputs":[]})") ==
             "400 model 'simple': input 'INPUT0' is missing, INT32 [1, 16]");
  BOOST_TEST(error("simple", simple_request(R"(,"outputs":[{"name":"y"}])")) ==
             "400 model 'simple' has no output 'y'; it has 'OUTPUT0', 'OUTPUT1'");
  BOOST_TEST(error("product", R"({"inputs":[{"name":"a","datatype":"INT32","shape":[1,1],)"
                              R"("data":[1]}]})") ==
             "400 input 'a' of model 'product': expected FP32 [-1, -1], got INT32 [1, 1]");
  BOOST_TEST(error("product", R"({"inputs":[{"name":"a","datatype":"FP32","shape":[1,2],)"
                              R"("data":[1,2]},{"name":"b","datatype":"FP32","shape":[3,1],)"
                              R"("data":[1,2,3]}]})") ==
             "400 model 'product': dimension 'inner' is 2 in input 'a' and 3 in input 'b'");
  BOOST_TEST(client.get(infer_simple).status == 405);
  BOOST_TEST(client.post("/v2/models/simple", "").status == 405);
  BOOST_TEST(client.get("/nothing").status == 404);
  for (const std::string kind : {"system", "cuda"}) {
    const auto path = "/v2/" + kind + "sharedmemory";
    BOOST_TEST(client.get(path + "/status").status == 501);
    BOOST_TEST(text_at(client.post(path + "/region/r/register", "{}"), "error")
                   .starts_with("shared memory is not supported"));
  }
  // After all of that the same connection serves.
  BOOST_TEST(client.post(infer_simple, simple_request()).status == 200);
}

BOOST_AUTO_TEST_CASE(compressed_bodies) {
  const Rig rig({"simple"});
  Client client(rig.port());
  for (const std::string form : {"gzip", "deflate"}) {
    const auto response = client.post(infer_simple, compressed(simple_request(), form),
                                      "Content-Encoding: " + form + "\r\n");
    BOOST_TEST(response.status == 200, response.body);
  }
  const auto metrics = client.get("/metrics", "Accept-Encoding: gzip\r\n");
  BOOST_TEST(metrics.headers.at("content-encoding") == "gzip");
  std::vector<std::byte> plain(1 << 20);
  BOOST_TEST(decompress(std::as_bytes(std::span(metrics.body)),
                        [&](std::size_t) { return std::span(plain); }) > 1000U);
}

BOOST_AUTO_TEST_CASE(pipelined_requests_are_answered_in_order) {
  const Rig rig({"simple"});
  Client client(rig.port());
  std::string all;
  for (int i = 0; i < 20; ++i)
    all += post_text(infer_simple, simple_request(R"(,"id":")" + std::to_string(i) + "\""));
  client.send(all);
  for (int i = 0; i < 20; ++i)
    BOOST_TEST(text_at(client.receive().value(), "id") == std::to_string(i));
}

BOOST_AUTO_TEST_CASE(chunks_and_expect_continue) {
  const Rig rig({"simple"});
  Client client(rig.port());
  const auto body = simple_request();
  std::string chunks;
  for (const char each : body) chunks += std::string("1\r\n") + each + "\r\n";
  client.send("POST " + infer_simple +
              " HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks + "0\r\n\r\n");
  BOOST_TEST(client.receive().value().status == 200);
  client.send("POST " + infer_simple +
              " HTTP/1.1\r\nHost: t\r\nExpect: 100-continue\r\n"
              "Content-Length: " +
              std::to_string(body.size()) + "\r\n\r\n");
  client.send(body);
  BOOST_TEST(client.receive().value().status == 200);
}

BOOST_AUTO_TEST_CASE(head_and_connection_close) {
  const Rig rig({"simple"});
  Client client(rig.port());
  client.send("HEAD /v2/health/ready HTTP/1.1\r\nHost: t\r\n\r\n");
  BOOST_TEST(client.receive(true).value().status == 200);
  client.send("GET /v2/health/ready HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n");
  BOOST_TEST(client.receive().value().headers.at("connection") == "close");
  BOOST_TEST(client.ended());
  Client old(rig.port());
  old.send("GET /v2/health/ready HTTP/1.0\r\n\r\n");
  BOOST_TEST(old.receive().value().status == 200);
  BOOST_TEST(old.ended());
}

BOOST_AUTO_TEST_CASE(statistics_configuration_and_metrics) {
  const Rig rig({"simple"});
  Client client(rig.port());
  client.post(infer_simple, simple_request());
  client.post(infer_simple, "{}");
  const auto stats = json_of(client.get("/v2/models/simple/stats"));
  BOOST_TEST(stats.at("model_stats").as_array().size() == 1U);
  BOOST_TEST(stats.at("model_stats").at(0).at("inference_stats").at("success").at("count") == 1);
  BOOST_TEST(json_of(client.get("/v2/models/simple/config")).at("input").at(0).at("data_type") ==
             "TYPE_INT32");
  const auto metrics = client.get("/metrics").body;
  for (const std::string line :
       {"polychron_requests_total{model=\"simple\",status=\"200\"} 1",
        "polychron_requests_total{model=\"simple\",status=\"400\"} 1",
        "polychron_request_seconds_count{model=\"simple\",phase=\"total\"} 1",
        "polychron_builds_total{model=\"simple\"} 1", "polychron_lanes{model=\"simple\"} 1"})
    BOOST_TEST(metrics.find(line) != std::string::npos, line);
}

BOOST_AUTO_TEST_CASE(a_large_binary_tensor_is_not_copied) {
  const Rig rig({"copy_fp32"});
  Client client(rig.port());
  const std::size_t count = 1 << 20;
  const std::string json = R"({"parameters":{"binary_data_output":true},"inputs":[{"name":"x",)"
                           R"("datatype":"FP32","shape":[1048576],)"
                           R"("parameters":{"binary_data_size":4194304}}]})";
  std::string body = json;
  body.resize(json.size() + count * 4, '\1');
  const auto response =
      client.post("/v2/models/copy_fp32/infer", body,
                  "Inference-Header-Content-Length: " + std::to_string(json.size()) + "\r\n");
  BOOST_TEST(response.status == 200, response.body.substr(0, 200));
  BOOST_TEST((response.body.substr(response.body.size() - count * 4) == body.substr(json.size())));
  const auto stats = rig.model("copy_fp32")->engine().contexts().front().stats();
  BOOST_TEST(stats.copies == 0U);
}

BOOST_AUTO_TEST_CASE(traces_reach_errors) {
  const Rig rig({"slow"});
  Client client(rig.port());
  const auto response =
      client.post("/v2/models/slow/infer", slow_request(R"(,"id":"7","parameters":{"timeout":1})"),
                  "traceparent: 00-ab-cd-01\r\n");
  BOOST_TEST(response.status == 504);
  BOOST_TEST(
      response.body.find("model 'slow', request '7' of trace 00-ab-cd-01") != std::string::npos,
      response.body);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron::server::tests
