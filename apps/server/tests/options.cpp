// The command line, the file of options and a model's file.
#include "options.hpp"

#include <boost/test/unit_test.hpp>

#include "rig.hpp"

namespace polychron::server::tests {

namespace {

std::string error_of(const std::vector<std::string>& arguments) {
  try {
    parse_options(arguments);
  } catch (const Error& error) {
    return error.message();
  }
  return "accepted";
}

std::string error_of_config(const std::string& text) {
  try {
    parse_config(text, {}, "'m.json'");
  } catch (const Error& error) {
    return error.message();
  }
  return "accepted";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(options)

BOOST_AUTO_TEST_CASE(the_command_line) {
  const auto options = parse_options({"models", "--http", "0", "--lanes=3", "--repository"});
  BOOST_TEST(options.models == "models");
  BOOST_TEST(options.http.port == 0);
  BOOST_TEST(options.model.lanes == 3);
  BOOST_TEST(options.service.repository_interface);
  BOOST_TEST(options.http.address == "127.0.0.1");
}

BOOST_AUTO_TEST_CASE(mistakes_name_the_option) {
  BOOST_TEST(error_of({}) == "expected a folder of models; --help explains");
  BOOST_TEST(error_of({"a", "b"}) == "one folder of models, got also 'b'");
  BOOST_TEST(error_of({"m", "--nope"}) == "unknown option --nope; --help lists all");
  BOOST_TEST(error_of({"m", "--http"}) == "--http: an argument is missing");
  BOOST_TEST(error_of({"m", "--http", "65536"}) ==
             "--http '65536': expected a whole number up to 65535");
  for (const std::string name : {"--lanes", "--threads", "--in-flight", "--shapes"})
    BOOST_TEST(
        error_of({"m", name, "0"}).starts_with(name + " '0': expected a whole number from 1"));
  BOOST_TEST(error_of({"m", "--http", "-1"}) == "--http '-1': expected a whole number up to 65535");
  BOOST_TEST(error_of({"m", "--tokens", "/nowhere"}) == "--tokens '/nowhere': cannot be read");
}

BOOST_AUTO_TEST_CASE(a_file_of_options) {
  Folder folder;
  folder.write("server.json", R"({"lanes": 2, "repository": true, "address": "::1"})");
  const auto file = (folder.path() / "server.json").string();
  const auto options = parse_options({"m", "--config", file, "--lanes", "4"});
  BOOST_TEST(options.model.lanes == 4);  // the later one counts
  BOOST_TEST(options.http.address == "::1");
  folder.write("server.json", R"({"lanes": true})");
  BOOST_TEST(error_of({"m", "--config", file}).find("'lanes' has a value of the wrong type") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_models_file) {
  const auto config =
      parse_config(R"({"lanes":2,"bindings":{"batch":1,"x":[1,3]},"sizes":{"n":[2,8],"m":5},)"
                   R"("warm":[{"n":2}],"timeout_ms":50})",
                   {}, "'m.json'");
  BOOST_TEST(config.lanes == 2);
  BOOST_TEST(config.bindings.at("x").size() == 2U);
  BOOST_TEST(config.sizes.at("n").least == 2U);
  BOOST_TEST(config.sizes.at("m").most == 5U);
  BOOST_TEST(config.timeout.count() == 50);
  BOOST_TEST(error_of_config(R"({"lanes":0})") ==
             "'m.json': 'lanes': expected a whole number from 1 to 256, got 0");
  BOOST_TEST(error_of_config(R"({"lane":1})") ==
             "'m.json': 'lane': no such field, or a value of the wrong type");
  BOOST_TEST(error_of_config("[]").starts_with("'m.json': expected an object"));
  BOOST_TEST(error_of_config("{").starts_with("'m.json': not JSON"));
}

BOOST_AUTO_TEST_CASE(a_port_in_use) {
  // While models are being loaded: the other parts end, and the error comes out.
  const Rig rig({"slow", "simple"});
  ServerOptions second;
  second.models = rig.folder.path().string();
  second.http.port = rig.port();
  second.quiet = true;
  BOOST_CHECK_EXCEPTION(App app(second), Error, [](const Error& error) {
    return error.message().find("Address already in use") != std::string::npos;
  });
}

BOOST_AUTO_TEST_CASE(a_missing_folder) {
  ServerOptions wrong;
  wrong.models = "/nowhere";
  BOOST_CHECK_EXCEPTION(App app(wrong), Error, [](const Error& error) {
    return error.message() == "'/nowhere' is not a folder";
  });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron::server::tests
