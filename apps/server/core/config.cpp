#include "core/config.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <fstream>
#include <iterator>
#include <polychron/error.hpp>
#include <utility>

#include "protocol/refusal.hpp"

namespace polychron::server {

namespace {

namespace json = boost::json;

[[noreturn]] void bad(const std::string& message) { throw Error(ErrorKind::bad_data, message); }

std::string name_of(json::string_view text) { return {text.data(), text.size()}; }

std::uint64_t whole(const json::value& value, std::uint64_t least, std::uint64_t most,
                    const std::string& what) {
  const auto* given = value.if_int64();
  if (!given || *given < 0 || static_cast<std::uint64_t>(*given) < least ||
      static_cast<std::uint64_t>(*given) > most)
    bad(what + ": expected a whole number from " + std::to_string(least) + " to " +
        std::to_string(most) + ", got " + printable(json::serialize(value), 40));
  return static_cast<std::uint64_t>(*given);
}

const json::object& object_of(const json::value& value, const std::string& what) {
  if (const auto* object = value.if_object()) return *object;
  bad(what + ": expected an object, got " + printable(json::serialize(value), 40));
}

constexpr std::uint64_t largest_size = 0xffff'ffff;

/// {"batch": 1} or {"x": [1, 3, 48, 320]}.
Bindings bindings_of(const json::value& value, const std::string& what) {
  Bindings bindings;
  for (const auto& [name, given] : object_of(value, what)) {
    const auto at = what + " '" + printable(name_of(name)) + "'";
    Shape shape;
    if (const auto* list = given.if_array())
      for (const auto& each : *list)
        shape.push_back(static_cast<std::uint32_t>(whole(each, 0, largest_size, at)));
    else
      shape.push_back(static_cast<std::uint32_t>(whole(given, 0, largest_size, at)));
    bindings[name_of(name)] = shape;
  }
  return bindings;
}

/// {"length": 256} or {"length": [8, 256]}.
std::map<std::string, SizeRange> sizes_of(const json::value& value, const std::string& what) {
  std::map<std::string, SizeRange> sizes;
  for (const auto& [name, given] : object_of(value, what)) {
    const auto at = what + " '" + printable(name_of(name)) + "'";
    SizeRange range;
    const auto* list = given.if_array();
    if (list && list->size() != 2) bad(at + ": expected [least, most]");
    if (list) range.least = static_cast<std::uint32_t>(whole((*list)[0], 0, largest_size, at));
    range.most =
        static_cast<std::uint32_t>(whole(list ? (*list)[1] : given, range.least, largest_size, at));
    sizes[name_of(name)] = range;
  }
  return sizes;
}

/// {"pixels": 50000000}
std::map<std::string, std::uint64_t> numbers_of(const json::value& value, const std::string& what) {
  std::map<std::string, std::uint64_t> numbers;
  for (const auto& [name, given] : object_of(value, what))
    numbers[name_of(name)] =
        whole(given, 0, std::uint64_t{1} << 62, what + " '" + printable(name_of(name)) + "'");
  return numbers;
}

void set_field(ModelConfig& config, const std::string& name, const json::value& value,
               const std::string& what) {
  const auto number = [&](std::uint64_t least, std::uint64_t most) {
    return whole(value, least, most, what);
  };
  if (name == "code" && value.is_string())
    config.code = name_of(value.get_string());
  else if (name == "parameters")
    config.parameters = numbers_of(value, what);
  else if (name == "label" && value.is_string())
    config.label = name_of(value.get_string());
  else if (name == "lanes")
    config.lanes = static_cast<int>(number(1, 256));
  else if (name == "threads")
    config.threads = static_cast<int>(number(1, 1024));
  else if (name == "in_flight")
    config.in_flight = number(1, 1 << 20);
  else if (name == "memory_limit")
    config.memory_limit = number(1, std::uint64_t{1} << 50);
  else if (name == "shapes")
    config.shapes = number(1, 100'000);
  else if (name == "max_batch")
    config.max_batch = static_cast<std::uint32_t>(number(1, 65'536));
  else if (name == "batch_window_us")
    config.batch_window = std::chrono::microseconds(number(0, 1'000'000));
  else if (name == "versions")
    config.versions = number(1, 1000);
  else if (name == "timeout_ms")
    config.timeout = std::chrono::milliseconds(number(0, 86'400'000));
  else if (name == "bindings")
    config.bindings = bindings_of(value, what);
  else if (name == "sizes")
    config.sizes = sizes_of(value, what);
  else if (name == "warm" && value.is_array())
    for (const auto& each : value.get_array()) config.warm.push_back(bindings_of(each, what));
  else
    bad(what + ": no such field, or a value of the wrong type");
}

}  // namespace

ModelConfig parse_config(std::string_view text, const ModelConfig& defaults,
                         const std::string& what) {
  json::error_code failed;
  const auto document = json::parse({text.data(), text.size()}, failed);
  if (failed) bad(what + ": not JSON: " + failed.message());
  ModelConfig config = defaults;
  for (const auto& [name, value] : object_of(document, what))
    set_field(config, name_of(name), value, what + ": '" + printable(name_of(name)) + "'");
  return config;
}

ModelConfig read_config(const std::filesystem::path& file, const ModelConfig& defaults) {
  std::ifstream stream(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  if (!stream) bad("'" + printable(file.string()) + "': cannot be read");
  return parse_config(text, defaults, "'" + printable(file.filename().string()) + "'");
}

}  // namespace polychron::server
