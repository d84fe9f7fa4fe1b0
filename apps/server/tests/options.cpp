// The command line, the file of options and a model's file.
#include "options.hpp"

#include <boost/test/unit_test.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "../../../tests/text/tiny_model.hpp"
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
  for (const std::string name : {"--lanes", "--in-flight", "--shapes"})
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

BOOST_AUTO_TEST_CASE(numbers_of_models_have_one_table) {
  for (const auto& option : model_options()) {
    const std::string name(option.name), flag = "--" + option.flag();
    BOOST_TEST_CONTEXT(name) {
      const auto in_file = [&](std::uint64_t n) {
        return "{\"" + name + "\":" + std::to_string(n) + "}";
      };
      BOOST_TEST(option.get({}) >= option.least);
      BOOST_TEST(option.get({}) <= option.most);
      BOOST_TEST(option.get(parse_options({"m", flag, std::to_string(option.most)}).model) ==
                 option.most);
      BOOST_TEST(option.get(parse_config(in_file(option.most), {}, "'m'")) == option.most);
      BOOST_TEST(error_of({"m", flag, std::to_string(option.most + 1)}).find("expected") !=
                 std::string::npos);
      BOOST_TEST(error_of_config(in_file(option.most + 1)).find("expected") != std::string::npos);
      if (option.least == 0) continue;
      BOOST_TEST(error_of({"m", flag, std::to_string(option.least - 1)}).find("expected") !=
                 std::string::npos);
      BOOST_TEST(error_of_config(in_file(option.least - 1)).find("expected") != std::string::npos);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_document_of_a_model_has_its_numbers) {
  Rig rig({}, [](auto& options) { options.model.timeout = std::chrono::milliseconds(321); });
  rig.folder.add("simple");
  rig.folder.write("simple.json", R"({"in_flight":77})");
  rig.look();
  const auto text = rig.client().get("/v2/models/simple/config").body;
  const auto& config = rig.model("simple")->config();
  BOOST_TEST(config.in_flight == 77U);
  BOOST_TEST(config.timeout.count() == 321);
  for (const auto& option : model_options())
    BOOST_TEST(text.find("\"" + std::string(option.name) +
                         "\":" + std::to_string(option.get(config))) != std::string::npos,
               option.name << " in " << text);
}

BOOST_AUTO_TEST_CASE(the_page_has_all_options) {
  const auto page = text_of_file(std::string(SERVER_TEST_FILES) + "/../../../docs/serving.md");
  const auto plain = std::regex_replace(page, std::regex(R"(\[([^\]]*)\]\([^)]*\))"), "$1");
  for (const auto& option : model_options()) {
    const auto line = "| `" + std::string(option.name) + "` | `--" + option.flag() + "` (" +
                      option.default_text() + ") | " + std::string(option.help) + " |\n";
    BOOST_TEST(plain.find(line) != std::string::npos, "docs/serving.md has no line " << line);
  }
  const std::regex flag("--[a-z][a-z-]*");
  const auto flags_of = [&](const std::string& text) {
    return std::set<std::string>(std::sregex_token_iterator(text.begin(), text.end(), flag), {});
  };
  auto shown = flags_of(page.substr(page.find("Fields of a model's file"), 2000));
  shown.merge(flags_of(page.substr(page.find("## All options"))));
  const auto help = help_text();
  for (const auto& each : flags_of(help))
    BOOST_TEST((shown.contains(each) || each == "--version"), "docs/serving.md lacks " << each);
  for (const auto& each : shown)
    BOOST_TEST(help.find(each) != std::string::npos, "--help lacks " << each);
}

BOOST_AUTO_TEST_CASE(the_page_has_all_metrics) {
  Rig rig({"simple"});
  rig.folder.write("tiny.gguf", text_tests::TinyModel().file().bytes());
  rig.look();
  Client client(rig.port());
  // An answer is counted after it is sent, and before the connection's next request.
  for (int i = 0; i < 2; ++i) client.post("/v2/models/simple/infer", simple_request());
  const std::regex metric("polychron_[a-z_]+");
  const auto metrics_in = [&](const std::string& text) {
    return std::set<std::string>(std::sregex_token_iterator(text.begin(), text.end(), metric), {});
  };
  std::set<std::string> served;
  std::istringstream lines(rig.app->service().metrics.text());
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("# TYPE ")) served.merge(metrics_in(line));
  auto page = text_of_file(std::string(SERVER_TEST_FILES) + "/../../../docs/serving.md");
  page.erase(0, page.find("| metric | labels |"));
  const auto shown = metrics_in(page.substr(0, page.find("\n\n")));
  BOOST_TEST(served == shown, boost::test_tools::per_element());
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
