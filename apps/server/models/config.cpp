#include "models/config.hpp"

#include <algorithm>
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

std::string name_of(json::string_view text) { return {text.data(), text.size()}; }

std::uint64_t whole(const json::value& value, std::uint64_t least, std::uint64_t most,
                    const std::string& what) {
  const auto* given = value.if_int64();
  if (!given || *given < 0 || static_cast<std::uint64_t>(*given) < least ||
      static_cast<std::uint64_t>(*given) > most)
    bad_data(what + ": expected a whole number from " + std::to_string(least) + " to " +
             std::to_string(most) + ", got " + printable(json::serialize(value), 40));
  return static_cast<std::uint64_t>(*given);
}

const json::object& object_of(const json::value& value, const std::string& what) {
  if (const auto* object = value.if_object()) return *object;
  bad_data(what + ": expected an object, got " + printable(json::serialize(value), 40));
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
    if (list && list->size() != 2) bad_data(at + ": expected [least, most]");
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

template <auto field>
std::uint64_t get(const ModelConfig& config) {
  const auto& value = config.*field;
  if constexpr (requires { value.count(); })
    return static_cast<std::uint64_t>(value.count());
  else
    return static_cast<std::uint64_t>(value);
}

template <auto field>
void set(ModelConfig& config, std::uint64_t number) {
  auto& value = config.*field;
  using Value = std::remove_reference_t<decltype(value)>;
  if constexpr (requires { value.count(); })
    value = Value(static_cast<typename Value::rep>(number));
  else
    value = static_cast<Value>(number);
}

template <auto field>
constexpr ModelOption row(std::string_view name, std::uint64_t least, std::uint64_t most,
                          std::string_view help, std::string_view unit = "N") {
  return {name, least, most, unit, help, get<field>, set<field>};
}

using C = ModelConfig;
constexpr ModelOption table[] = {
    row<&C::lanes>("lanes", 1, 256, "runs side by side"),
    row<&C::threads>("threads", 0, 1024, "threads of each lane; 0: the cores that others leave"),
    row<&C::in_flight>("in_flight", 1, 1 << 20,
                       "requests that may always wait or run; beyond it only short waits"),
    row<&C::memory_limit>("memory_limit", 1, std::uint64_t{1} << 50, "bytes of tensors and plans",
                          "BYTES"),
    row<&C::shapes>("shapes", 1, 100'000, "graphs of different shapes that are kept"),
    row<&C::context_length>("context_length", 2, 1 << 20,
                            "tokens of a prompt and its text together; of language models"),
    row<&C::chats>("chats", 1, 1024, "texts at once; of language models"),
    row<&C::timeout>("timeout_ms", 0, 86'400'000, "timeout of requests that name none; 0: none",
                     "MS"),
    row<&C::versions>("versions", 1, 1000, "how many of the highest versions serve"),
    row<&C::max_batch>("max_batch", 1, 65'536, "rows of joined requests; 1: not joined"),
    row<&C::batch_window>("batch_window_us", 0, 1'000'000,
                          "the longest wait for others to join; 0: not joined", "US"),
};

void set_field(ModelConfig& config, const std::string& name, const json::value& value,
               const std::string& what) {
  for (const auto& option : model_options())
    if (name == option.name)
      return option.set(config, whole(value, option.least, option.most, what));
  if (name == "code" && value.is_string())
    config.code = name_of(value.get_string());
  else if (name == "parameters")
    config.parameters = numbers_of(value, what);
  else if (name == "label" && value.is_string())
    config.label = name_of(value.get_string());
  else if (name == "bindings")
    config.bindings = bindings_of(value, what);
  else if (name == "sizes")
    config.sizes = sizes_of(value, what);
  else if (name == "warm" && value.is_array())
    for (const auto& each : value.get_array()) config.warm.push_back(bindings_of(each, what));
  else
    bad_data(what + ": no such field, or a value of the wrong type");
}

}  // namespace

std::string ModelOption::flag() const {
  std::string flag(name);
  std::replace(flag.begin(), flag.end(), '_', '-');
  return flag;
}

std::string ModelOption::default_text() const {
  const auto value = get({});
  return unit == "BYTES" ? describe_bytes(value) : std::to_string(value);
}

std::span<const ModelOption> model_options() { return table; }

ModelConfig parse_config(std::string_view text, const ModelConfig& defaults,
                         const std::string& what) {
  json::error_code failed;
  const auto document = json::parse({text.data(), text.size()}, failed);
  if (failed) bad_data(what + ": not JSON: " + failed.message());
  ModelConfig config = defaults;
  const auto& fields = object_of(document, what);
  // Hugging Face's, which comes with a model's files, has the same name.
  if (fields.contains("model_type") || fields.contains("architectures")) return config;
  for (const auto& [name, value] : fields)
    set_field(config, name_of(name), value, what + ": '" + printable(name_of(name)) + "'");
  return config;
}

std::string text_of_file(const std::filesystem::path& file, std::string_view what) {
  std::ifstream stream(file, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(stream), {}};
  if (!stream) bad_data(std::string(what) + "'" + printable(file.string()) + "': cannot be read");
  return text;
}

ModelConfig read_config(const std::filesystem::path& file, const ModelConfig& defaults) {
  return parse_config(text_of_file(file), defaults,
                      "'" + printable(file.filename().string()) + "'");
}

}  // namespace polychron::server
