// Tokens and TLS.
#include <boost/test/unit_test.hpp>

#include "rig.hpp"

namespace polychron::server::tests {

BOOST_AUTO_TEST_SUITE(security)

BOOST_AUTO_TEST_CASE(bearer_tokens) {
  const Rig rig({"simple"}, [](auto& options) { options.http.tokens = {"first", "second"}; });
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
  BOOST_TEST(client.get("/v2/health/ready").status == 200);  // for probes
  BOOST_TEST(client.get("/metrics").status == 401);
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
