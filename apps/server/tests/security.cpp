// Tokens, TLS, web pages of others, and what is read again.
#include <boost/test/unit_test.hpp>

#include "http/head.hpp"
#include "rig.hpp"

namespace polychron::server::tests {

BOOST_AUTO_TEST_SUITE(security)

BOOST_AUTO_TEST_CASE(bearer_tokens) {
  const Rig rig({"simple"}, [](auto& options) { options.service.tokens = {"first", "second"}; });
  Client client(rig.port());
  const auto status = [&](const std::string& header) {
    Client each(rig.port());
    each.send("GET /v2/models/simple HTTP/1.1\r\nHost: t\r\n" + header + "\r\n");
    return each.receive().value().status;
  };
  BOOST_TEST(status("") == 401);
  BOOST_TEST(status("Authorization: Bearer firs\r\n") == 401);
  BOOST_TEST(status("Authorization: Bearer firsts\r\n") == 401);
  BOOST_TEST(status("Authorization: Basic second\r\n") == 401);
  BOOST_TEST(status("Authorization: Bearer first\r\n") == 200);
  BOOST_TEST(status("Authorization: Bearer second\r\n") == 200);
  BOOST_TEST(status("Authorization: bearer second\r\n") == 200);
  BOOST_TEST(client.get("/v2/health/ready").status == 200);  // for probes
  BOOST_TEST(client.get("/metrics").status == 401);
}

BOOST_AUTO_TEST_CASE(tokens_are_read_again) {
  Folder files;
  const auto file = (files.path() / "tokens").string();
  files.write("tokens", "# ours\r\nfirst\r\n\n");
  const Rig rig({"simple"}, [&](auto& options) {
    options.tokens = file;
    options.service.tokens = read_tokens(file);
  });
  const auto accepts = [&](const std::string& token) {
    Client client(rig.port());
    return client.get("/v2", "Authorization: Bearer " + token + "\r\n").status == 200;
  };
  BOOST_TEST((accepts("first") && !accepts("second") && !accepts("# ours")));
  files.write("tokens", "second");
  rig.app->read_again();
  BOOST_TEST((!accepts("first") && accepts("second")));
  // A file that is half written or gone leaves the door as it is.
  files.write("tokens", "# nothing yet\n");
  rig.app->read_again();
  BOOST_TEST((accepts("second") && !accepts("")));
  files.remove("tokens");
  rig.app->read_again();
  BOOST_TEST((accepts("second") && !accepts("")));
}

BOOST_AUTO_TEST_CASE(web_pages_of_others_are_refused) {
  const Rig rig({"simple"}, [](auto& options) { options.service.repository_interface = true; });
  const auto port = std::to_string(rig.port());
  const auto status = [&](const std::string& head, const std::string& body = {}) {
    Client client(rig.port());  // a refusal ends the connection
    client.send(head + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
    return client.receive().value().status;
  };
  // What a page may send without asking first.
  const auto unload =
      "POST /v2/repository/models/simple/unload HTTP/1.1\r\n"
      "Content-Type: text/plain\r\nHost: localhost:" +
      port + "\r\n";
  const auto infer = "POST /v2/models/simple/infer HTTP/1.1\r\nHost: localhost:" + port + "\r\n";
  for (const std::string origin :
       {"http://evil.example", "http://localhost:1", "http://localhost", "null", ""}) {
    BOOST_TEST(status(unload + "Origin: " + origin + "\r\n") == 403, origin);
    BOOST_TEST(status(infer + "Origin: " + origin + "\r\n", simple_request()) == 403, origin);
  }
  BOOST_TEST(status(infer + "Origin: http://LOCALHOST:" + port + "\r\n", simple_request()) == 200);
  // A name of somebody else's that was made to lead here.
  for (const std::string target :
       {"/", "/state.json", "/metrics", "/recording", "/recording/view", "/v2/repository/index"})
    BOOST_TEST(status("GET " + target + " HTTP/1.1\r\nHost: evil.example:" + port + "\r\n") == 403,
               target);
  BOOST_TEST(status("GET /v2/health/ready HTTP/1.1\r\nHost: evil.example\r\n") == 200);
  BOOST_TEST(
      status("POST /v2/models/simple/infer HTTP/1.1\r\nHost: a.mesh\r\n", simple_request()) == 200);
  BOOST_TEST(status("GET http://evil.example/state.json HTTP/1.1\r\nHost: localhost\r\n") == 403);
  BOOST_TEST(status("GET /state.json HTTP/1.0\r\nConnection: keep-alive\r\n") == 200);
  BOOST_TEST(status(unload + "Origin: http://localhost:" + port + "\r\n") == 200);
}

BOOST_AUTO_TEST_CASE(names_of_the_server) {
  HttpOptions options;
  const auto accepts = [&](const std::string& host, const std::string& origin = {}) {
    const auto given = origin.empty() ? std::nullopt : std::optional<std::string_view>(origin);
    try {
      refuse_foreign_pages(options, given, host, true);
      return true;
    } catch (const Refusal& refusal) {
      BOOST_TEST((refusal.status() == Status::forbidden));
      return false;
    }
  };
  for (const std::string host :
       {"localhost", "LocalHost:8000", "127.0.0.1:1", "10.0.0.1", "[::1]:8", "[::1]", ""})
    BOOST_TEST(accepts(host), host);
  for (const std::string host :
       {"evil", "localhost.evil", "127.0.0.1.evil:8000", "[evil]", "[", ":8000", "1.2.3"})
    BOOST_TEST(!accepts(host), host);
  options.hosts = {"models.example", "b"};
  BOOST_TEST((accepts("Models.Example:443") && accepts("b") && !accepts("evil")));
  BOOST_TEST(accepts("127.0.0.1:8000", "https://models.example"));  // behind a proxy
  BOOST_TEST(!accepts("127.0.0.1:8000", "https://models.example.evil"));
  options.address = "0.0.0.0";
  BOOST_TEST(!accepts("evil"));
  options.hosts.clear();
  BOOST_TEST(accepts("a.service"));  // a balancer's names are not known
  BOOST_TEST(!accepts("a.service", "http://evil"));
  options.address = "127.0.0.1";
  options.hosts = {"*"};
  BOOST_TEST((accepts("evil") && accepts("evil", "http://other")));
}

BOOST_AUTO_TEST_CASE(tls_files_are_checked) {
  Folder folder;
  folder.write("cert.pem", "nothing");
  ServerOptions options;
  options.models = folder.path().string();
  options.http.port = 0;
  options.quiet = true;
  options.http.certificate = (folder.path() / "cert.pem").string();
  BOOST_CHECK_EXCEPTION(App app(options), Error, [](const Error& error) {
    return error.message().find("the certificate '") == 0;
  });
  options.http.certificate.clear();
  options.http.key = "key.pem";
  BOOST_CHECK_EXCEPTION(App app(options), Error, [](const Error& error) {
    return error.message() == "TLS: a key or a CA of clients was given, and no certificate";
  });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron::server::tests
