// Clients that mean harm, or are broken. After each the server serves.
#include <boost/asio/post.hpp>
#include <boost/test/unit_test.hpp>
#include <future>
#include <list>
#include <random>

#include "http/connections.hpp"
#include "rig.hpp"

namespace polychron::server::tests {

namespace {

void check_serves(const Rig& rig) {
  Client client(rig.port());
  BOOST_TEST(client.post("/v2/models/simple/infer", simple_request()).status == 200);
}

int status_of(const Rig& rig, const std::string& bytes) {
  Client client(rig.port());
  client.send(bytes);
  const auto response = client.receive();
  return response ? response->status : 0;
}

const std::string post_head = "POST /v2/models/simple/infer HTTP/1.1\r\nHost: t\r\n";

}  // namespace

BOOST_AUTO_TEST_SUITE(hostile)

BOOST_AUTO_TEST_CASE(not_http) {
  const Rig rig({"simple"});
  BOOST_TEST(status_of(rig, "\x16\x03\x01\x02\x00\x01\r\n\r\n") == 400);
  BOOST_TEST(status_of(rig, "GET / HTTP/9.9\r\n\r\n") == 400);
  BOOST_TEST(status_of(rig, "GET /a b HTTP/1.1\r\n\r\n") == 400);
  BOOST_TEST(status_of(rig, "GET / HTTP/1.1\r\n: x\r\n\r\n") == 400);
  BOOST_TEST(status_of(rig, "GET / HTTP/1.1\r\n" + std::string(20'000, 'a') + ": b\r\n\r\n") ==
             431);
  BOOST_TEST(status_of(rig, "GET /" + std::string(20'000, 'a') + " HTTP/1.1\r\n\r\n") == 431);
  check_serves(rig);
}

BOOST_AUTO_TEST_CASE(hosts_and_targets) {
  const Rig rig({"simple"});
  const auto get = [&](const std::string& target, const std::string& headers) {
    return status_of(rig, "GET " + target + " HTTP/1.1\r\n" + headers + "\r\n");
  };
  const std::string live = "/v2/health/live", host = "Host: t\r\n";
  BOOST_TEST(get(live, host) == 200);
  BOOST_TEST(get(live, "") == 400);
  BOOST_TEST(get(live, host + host) == 400);
  BOOST_TEST(get(live, "Host: a b\r\n") == 400);
  BOOST_TEST(get(live, "Host: a@b\r\n") == 400);
  BOOST_TEST(get("http://t:80" + live, host) == 200);
  BOOST_TEST(get("HTTP://t/v2/models/simple?a=b", host) == 200);
  BOOST_TEST(get("http://localhost", host) == 200);  // the page
  BOOST_TEST(get("http://t" + live, "") == 400);
  BOOST_TEST(get("http://" + live, host) == 400);
  BOOST_TEST(get("ftp://t" + live, host) == 404);
  check_serves(rig);
}

BOOST_AUTO_TEST_CASE(bodies_that_are_too_long_or_lie) {
  const Rig rig({"simple"}, [](auto& options) {
    options.http.body_bytes = 10'000;
    options.http.json_bytes = 5'000;
  });
  BOOST_TEST(status_of(rig, post_head + "Content-Length: 10001\r\n\r\n") == 413);
  BOOST_TEST(status_of(rig, post_head + "Content-Length: 18446744073709551615\r\n\r\n") == 413);
  BOOST_TEST(status_of(rig, post_head + "Content-Length: 99999999999999999999\r\n\r\n") == 400);
  BOOST_TEST(status_of(rig, post_head + "Content-Length: -1\r\n\r\n") == 400);
  BOOST_TEST(status_of(rig, post_head + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef") ==
             400);
  BOOST_TEST(status_of(rig, post_head + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"
                                        "0\r\n\r\n") == 400);
  // Another server in front of this one may see the end of this body elsewhere, and so other
  // requests. Status 400 says that the framing was refused; an unknown model would be 404.
  BOOST_TEST(status_of(rig,
                       "POST /v2/models/none/infer HTTP/1.1\r\nHost: a\r\n"
                       "Transfer-Encoding: chunked, identity\r\n\r\n2e\r\n") == 400);
  const auto coded = [&](const std::string& fields, const std::string& version = "1.1") {
    return status_of(rig, "POST /v2/models/none/infer HTTP/" + version + "\r\nHost: a\r\n" +
                              fields + "\r\n0\r\n\r\n");
  };
  BOOST_TEST(coded("Transfer-Encoding: Chunked\r\n") == 404);
  BOOST_TEST(coded("Transfer-Encoding: gzip, chunked\r\n") == 501);
  BOOST_TEST(coded("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n") == 501);
  BOOST_TEST(coded("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n") == 400);
  BOOST_TEST(coded("Transfer-Encoding: gzip\r\n") == 400);
  BOOST_TEST(coded("Transfer-Encoding: chunked\r\n", "1.0") == 400);
  BOOST_TEST(status_of(rig, post_head + "Content-Length: 6000\r\n\r\n" + std::string(6000, ' ')) ==
             413);
  BOOST_TEST(status_of(rig, post_head + "Content-Length: 1\r\n"
                                        "Inference-Header-Content-Length: 2\r\n\r\nx") == 400);
  BOOST_TEST(status_of(rig, post_head + "Content-Length: 1\r\n"
                                        "Inference-Header-Content-Length: x\r\n\r\nx") == 400);
  BOOST_TEST(status_of(rig, post_head + "Content-Length: 1\r\nContent-Encoding: br\r\n\r\nx") ==
             415);
  std::string endless = post_head + "Transfer-Encoding: chunked\r\n\r\n";
  for (int i = 0; i < 11; ++i) endless += "400\r\n" + std::string(1024, ' ') + "\r\n";
  BOOST_TEST(status_of(rig, endless) == 413);
  BOOST_TEST(status_of(rig, post_head + "Transfer-Encoding: chunked\r\n\r\nzz\r\n") == 0);
  check_serves(rig);
}

BOOST_AUTO_TEST_CASE(clients_that_stop_in_the_middle) {
  const Rig rig({"simple"});
  const auto whole = post_text("/v2/models/simple/infer", simple_request());
  for (std::size_t length = 0; length < whole.size(); length += 7) {
    Client client(rig.port());
    client.send(whole.substr(0, length));
    if (length % 2 == 0)
      client.finish();
    else
      client.reset();
  }
  check_serves(rig);
  until([&] { return rig.app->service().metrics.connections.Value() <= 1; });
}

BOOST_AUTO_TEST_CASE(slow_clients_are_told_or_dropped) {
  const Rig rig({"simple"}, [](auto& options) {
    options.http.header_timeout = std::chrono::seconds(1);
    options.http.idle_timeout = std::chrono::seconds(1);
    options.http.transfer_timeout = std::chrono::seconds(1);
  });
  Client idle(rig.port()), in_header(rig.port()), in_body(rig.port());
  in_header.send("GET /v2 HTT");
  in_body.send(post_head + "Content-Length: 100\r\n\r\nabc");
  BOOST_TEST(idle.ended());
  BOOST_TEST(in_header.receive().value().status == 408);
  BOOST_TEST(in_body.receive().value().status == 408);
}

BOOST_AUTO_TEST_CASE(idle_connections_make_room) {
  const Rig rig({"simple"}, [](auto& options) { options.http.connections = 50; });
  std::list<Client> idle;
  for (int i = 0; i < 200; ++i) {
    idle.emplace_back(rig.port()).get("/v2/health/live");
    if (i % 20 == 0) check_serves(rig);
  }
  check_serves(rig);
}

BOOST_AUTO_TEST_CASE(a_request_that_has_come_keeps_its_connection) {
  boost::asio::any_io_executor loop;
  Rig rig({}, [&](auto& options) {
    options.io_threads = 1;
    options.http.connections = 1;
    options.engines["none"] = [&](const EngineOrigin&,
                                  const EngineHost& host) -> std::shared_ptr<Engine> {
      loop = host.loop;
      throw Error(ErrorKind::not_supported, "it is here for the loop alone");
    };
  });
  rig.folder.write("none/config.json", R"({"code": "none"})");
  rig.look();
  const std::string request = "GET /v2/health/live HTTP/1.1\r\nHost: t\r\n\r\n";
  std::list<Client> others;
  for (int i = 0; i < 20; ++i) {
    Client client(rig.port());
    client.get("/v2/health/live");
    // The server's one thread sees both at once: another connection, and the next request of this.
    std::promise<void> go;
    boost::asio::post(loop, [go = go.get_future().share()] { go.wait(); });
    others.emplace_back(rig.port());
    client.send(request);
    go.set_value();
    const auto response = client.receive();
    BOOST_TEST((response && response->status == 200));
  }
}

BOOST_AUTO_TEST_CASE(a_reader_that_does_not_read) {
  const Rig rig({"copy_fp32"},
                [](auto& options) { options.http.transfer_timeout = std::chrono::seconds(1); });
  const std::size_t bytes = 16 << 20;
  const std::string json = R"({"parameters":{"binary_data_output":true},"inputs":[{"name":"x",)"
                           R"("datatype":"FP32","shape":[4194304],)"
                           R"("parameters":{"binary_data_size":16777216}}]})";
  Client silent(rig.port());
  silent.send(
      post_text("/v2/models/copy_fp32/infer", json + std::string(bytes, 'a'),
                "Inference-Header-Content-Length: " + std::to_string(json.size()) + "\r\n"));
  until([&] { return rig.model("copy_fp32")->metrics()->success.count == 1; });
  Client other(rig.port());
  BOOST_TEST(other.get("/v2/health/ready").status == 200);
}

BOOST_AUTO_TEST_CASE(random_damage) {
  const Rig rig({"simple"});
  const auto seed = std::random_device()();
  std::mt19937 random(seed);
  const auto whole = post_text("/v2/models/simple/infer", simple_request());
  for (int i = 0; i < 300; ++i) {
    auto damaged = whole;
    for (auto changes = 1 + random() % 4; changes > 0; --changes)
      damaged[random() % damaged.size()] = static_cast<char>(random());
    Client client(rig.port());
    client.send(damaged);
    client.finish();
    if (const auto response = client.receive())
      BOOST_TEST((response->status < 500 || response->status == 501),
                 "seed " << seed << ", " << i << ": " << response->body);
  }
  check_serves(rig);
}

BOOST_AUTO_TEST_CASE(names_in_errors_are_harmless) {
  const Rig rig({"simple"});
  Client client(rig.port());
  const auto response = client.get("/v2/models/%0d%0aSet-Cookie:%20a%00%ff%22");
  BOOST_TEST(response.status == 404);
  BOOST_TEST(response.headers.count("set-cookie") == 0U);
  BOOST_TEST(response.body == R"({"error":"no model '??Set-Cookie: a??\"'"})");
  // Names that are not served never become metrics.
  client.post("/v2/models/invented/infer", "{}");
  BOOST_TEST(client.get("/metrics").body.find("invented") == std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron::server::tests
