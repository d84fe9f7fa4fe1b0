#include "options.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <charconv>
#include <functional>
#include <polychron/error.hpp>

#include "protocol/refusal.hpp"

namespace polychron::server {

namespace {

/// An option: its name, its argument ("" for a switch), its help, and what it sets.
struct Option {
  std::string name;
  std::string argument;
  std::string help;
  std::function<void(ServerOptions&, const std::string&)> set;
};

std::uint64_t number(const std::string& name, const std::string& text, std::uint64_t least,
                     std::uint64_t most) {
  std::uint64_t value = 0;
  const auto* end = text.data() + text.size();
  const auto [at, failed] = std::from_chars(text.data(), end, value);
  if (failed != std::errc() || at != end || value < least || value > most)
    bad_data("--" + name + " '" + printable(text, 40) + "': expected a whole number " +
             (least == 0 ? "up to " : "from " + std::to_string(least) + " to ") +
             std::to_string(most));
  return value;
}

/// "a,b"
std::vector<std::string> list_of(const std::string& text) {
  std::vector<std::string> list(1);
  for (const char each : text)
    if (each == ',')
      list.emplace_back();
    else
      list.back() += each;
  return list;
}

constexpr std::uint64_t most_bytes = std::uint64_t{1} << 40;
constexpr std::uint64_t most_seconds = 86'400;

/// An option that is a number.
template <class F>
Option numeric(std::string name, std::string help, std::uint64_t most, F set,
               std::uint64_t least = 0) {
  return {name, "N", std::move(help), [=](ServerOptions& options, const std::string& text) {
            set(options, number(name, text, least, most));
          }};
}

std::vector<Option> network_options() {
  return {
      numeric("http", "port of HTTP (8000); 0: a free one", 65535,
              [](auto& o, auto n) { o.http.port = static_cast<std::uint16_t>(n); }),
      numeric("grpc", "also serve gRPC on this port; 0: a free one", 65535,
              [](auto& o, auto n) {
                o.grpc = true;
                o.grpc_port = static_cast<std::uint16_t>(n);
              }),
      {"address", "IP", "where to listen (127.0.0.1: this machine alone)",
       [](auto& o, const auto& text) { o.http.address = text; }},
      {"certificate", "FILE", "serve TLS with this chain of certificates (PEM)",
       [](auto& o, const auto& text) { o.http.certificate = text; }},
      {"key", "FILE", "its key (PEM)", [](auto& o, const auto& text) { o.http.key = text; }},
      {"client-ca", "FILE", "clients need a certificate of this CA (PEM)",
       [](auto& o, const auto& text) { o.http.client_ca = text; }},
      {"tokens", "FILE", "clients need one of these bearer tokens, one a line",
       [](auto& o, const auto& text) {
         o.service.tokens = read_tokens(text);
         o.tokens = text;
       }},
      {"hosts", "NAMES", "names of this server for browsers, with commas; *: any",
       [](auto& o, const auto& text) { o.http.hosts = list_of(text); }},
      {"repository", "", "let clients load and unload models",
       [](auto& o, const auto&) { o.service.repository_interface = true; }},
      {"no-page", "", "without the page at / and what it shows",
       [](auto& o, const auto&) { o.http.page = false; }},
  };
}

std::vector<Option> defaults_of_models() {
  std::vector<Option> options;
  for (const auto& each : model_options()) {
    const auto name = each.flag();
    options.push_back({name, std::string(each.unit),
                       std::string(each.help) + " (" + each.default_text() + ")",
                       [&each, name](ServerOptions& o, const std::string& text) {
                         each.set(o.model, number(name, text, each.least, each.most));
                       }});
  }
  return options;
}

std::chrono::seconds seconds(std::uint64_t n) {
  return std::chrono::seconds(static_cast<std::int64_t>(n));
}

std::vector<Option> limit_options() {
  return {
      numeric(
          "connections", "open connections of HTTP and gRPC (1024)", 1 << 20,
          [](auto& o, auto n) { o.http.connections = n; }, 1),
      numeric(
          "connections-of-address", "of them, those of one client's address (512)", 1 << 20,
          [](auto& o, auto n) { o.http.connections_of_address = n; }, 1),
      numeric("poll-ms", "how often to look at the folder; 0: on SIGHUP only (1000)",
              most_seconds * 1000,
              [](auto& o, auto n) {
                o.poll = std::chrono::milliseconds(static_cast<std::int64_t>(n));
              }),
      numeric("requests-per-connection", "then it is closed (1000000)", most_bytes,
              [](auto& o, auto n) { o.http.requests_per_connection = n; }),
      numeric("header-bytes", "of a request's header (16384)", 1 << 20,
              [](auto& o, auto n) { o.http.header_bytes = n; }),
      numeric("body-bytes", "of a request's body, decompressed (64 MiB)", std::uint64_t{1} << 31,
              [](auto& o, auto n) { o.http.body_bytes = n; }),
      numeric("json-bytes", "of the JSON in a body (16 MiB)", std::uint64_t{1} << 31,
              [](auto& o, auto n) { o.http.json_bytes = n; }),
      numeric("all-body-bytes", "of all bodies together; then 503 (1 GiB)", most_bytes,
              [](auto& o, auto n) { o.service.body_budget = n; }),
      numeric("header-timeout", "seconds for a request's header (10)", most_seconds,
              [](auto& o, auto n) { o.http.header_timeout = seconds(n); }),
      numeric("idle-timeout", "seconds between requests of a connection (60)", most_seconds,
              [](auto& o, auto n) { o.http.idle_timeout = seconds(n); }),
      numeric("transfer-timeout", "seconds for each 64 KiB of a body or an answer (30)",
              most_seconds, [](auto& o, auto n) { o.http.transfer_timeout = seconds(n); }),
      numeric("drain", "seconds that SIGTERM waits for requests (30)", most_seconds,
              [](auto& o, auto n) { o.drain = seconds(n); }),
      numeric("notice", "seconds of not being ready before SIGTERM drains (0)", most_seconds,
              [](auto& o, auto n) { o.notice = seconds(n); }),
      numeric("io-threads", "threads that serve connections (2)", 256,
              [](auto& o, auto n) { o.io_threads = static_cast<int>(n); }),
      {"quiet", "", "no lines about the server on standard error",
       [](auto& o, const auto&) { o.quiet = true; }},
      {"access-log", "FILE", "a line of JSON for each request; - is standard output",
       [](auto& o, const auto& text) { o.log = text; }},
      numeric("record", "bytes of a recording of the latest actors' messages, for /recording (0)",
              most_bytes,
              [](auto& o, auto n) {
                o.record_bytes = n;
                o.service.recording = n > 0;
              }),
      {"viewer", "PROGRAM", "makes the page /recording/view (polychron)",
       [](auto& o, const auto& text) { o.viewer = text; }},
  };
}

std::vector<Option> all_options() {
  auto options = network_options();
  for (auto& each : defaults_of_models()) options.push_back(std::move(each));
  for (auto& each : limit_options()) options.push_back(std::move(each));
  options.push_back({"help", "", "print this", [](auto& o, const auto&) { o.help = true; }});
  options.push_back(
      {"version", "", "print the version", [](auto& o, const auto&) { o.print_version = true; }});
  return options;
}

const Option& find(const std::vector<Option>& options, const std::string& name) {
  for (const auto& each : options)
    if (each.name == name) return each;
  bad_data("unknown option --" + printable(name, 40) + "; --help lists all");
}

/// {"lanes": 2, "repository": true}: the same names as on the command line.
void read_file(ServerOptions& options, const std::vector<Option>& all, const std::string& file) {
  boost::json::error_code failed;
  const auto text = text_of_file(file, "--config ");
  const auto document = boost::json::parse(text, failed);
  const auto* object = failed ? nullptr : document.if_object();
  if (!object) bad_data("--config '" + printable(file) + "': expected a JSON object");
  for (const auto& [key, value] : *object) {
    const std::string name(key.data(), key.size());
    const auto& option = find(all, name);
    if (const auto* on = value.if_bool(); on && option.argument.empty()) {
      if (*on) option.set(options, "");
    } else if (const auto* given = value.if_string(); given && !option.argument.empty()) {
      option.set(options, std::string(given->data(), given->size()));
    } else if (value.is_number() && !option.argument.empty()) {
      option.set(options, boost::json::serialize(value));
    } else {
      bad_data("--config '" + printable(file) + "': '" + name + "' has a value of the wrong type");
    }
  }
}

}  // namespace

ServerOptions parse_options(const std::vector<std::string>& arguments) {
  const auto all = all_options();
  ServerOptions options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto& argument = arguments[i];
    if (!argument.starts_with("--")) {
      if (!options.models.empty())
        bad_data("one folder of models, got also '" + printable(argument) + "'");
      options.models = argument;
      continue;
    }
    const auto equals = argument.find('=');
    const auto name = argument.substr(2, equals == std::string::npos ? equals : equals - 2);
    const bool is_file = name == "config";
    const bool is_switch = !is_file && find(all, name).argument.empty();
    std::string value;
    if (equals != std::string::npos)
      value = argument.substr(equals + 1);
    else if (!is_switch && ++i == arguments.size())
      bad_data("--" + name + ": an argument is missing");
    else if (!is_switch)
      value = arguments[i];
    if (is_file)
      read_file(options, all, value);
    else
      find(all, name).set(options, value);
  }
  if (options.models.empty() && !options.help && !options.print_version)
    bad_data("expected a folder of models; --help explains");
  return options;
}

std::string help_text() {
  std::string text =
      "polychron-server MODELS_DIR [OPTIONS]\n"
      "Serves the ONNX models of a folder by the Open Inference Protocol v2, and its language\n"
      "models (GGUF) by OpenAI's endpoints.\n"
      "docs/serving.md explains the folder, every status and every metric.\n\n"
      "  --config FILE                    options from a JSON file: {\"lanes\": 2}\n";
  for (const auto& each : all_options()) {
    auto line = "  --" + each.name + (each.argument.empty() ? "" : " " + each.argument);
    line.resize(std::max<std::size_t>(line.size() + 1, 35), ' ');
    text += line + each.help + "\n";
  }
  return text;
}

}  // namespace polychron::server
