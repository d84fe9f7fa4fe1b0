#include "protocol/document.hpp"

#include <algorithm>
#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/value_stack.hpp>
#include <charconv>

#include "protocol/refusal.hpp"

namespace polychron::server {

namespace {

namespace json = boost::json;
using json::error_code;
using json::string_view;

constexpr std::size_t most_values = 65'536;

/// No less than the values of `text`: each follows one of these, or is the first.
std::size_t most_values_of(std::string_view text) {
  return 1 + static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char each) {
           return each == ',' || each == '[' || each == ':';
         }));
}

/// Receives the parser's events. Every answer is "go on".
class Builder {
 public:
  static constexpr std::size_t max_object_size = json::object::max_size();
  static constexpr std::size_t max_array_size = json::array::max_size();
  static constexpr std::size_t max_key_size = json::string::max_size();
  static constexpr std::size_t max_string_size = json::string::max_size();

  json::value_stack stack;
  Document document;

  bool on_document_begin(error_code&) { return true; }
  bool on_document_end(error_code&) { return true; }
  bool on_object_begin(error_code&) {
    if (data_depth_ > 0)
      throw Refusal(Status::bad_request,
                    "'data' has an object, expected numbers, strings, true "
                    "or false, in arrays");
    ++depth_;
    data_is_next_ = false;
    return count();
  }
  bool on_array_begin(error_code&) {
    if (data_is_next_) begin_data();
    if (data_depth_ > 0) return ++data_depth_;
    ++depth_;
    return count();
  }
  bool on_object_end(std::size_t size, error_code&) {
    --depth_;
    stack.push_object(size);
    return true;
  }
  bool on_array_end(std::size_t size, error_code&) {
    if (data_depth_ > 0) {
      if (--data_depth_ == 1) end_data();
      return true;
    }
    --depth_;
    stack.push_array(size);
    return true;
  }
  bool on_key_part(string_view text, std::size_t, error_code&) {
    key_.append(text.data(), text.size());
    return true;
  }
  bool on_key(string_view text, std::size_t, error_code&) {
    key_.append(text.data(), text.size());
    stack.push_key(key_);
    // Of an input: an object in the array "inputs" of the request, which is an object.
    data_is_next_ = depth_ == 3 && key_ == "data";
    key_.clear();
    return true;
  }
  bool on_string_part(string_view text, std::size_t, error_code&) {
    if (is_element())
      document.text.append(text.data(), text.size());
    else
      stack.push_chars(text);
    return true;
  }
  bool on_string(string_view text, std::size_t size, error_code&) {
    if (!is_element()) return stack.push_string(text), count();
    document.text.append(text.data(), text.size());
    return add(ElementText{static_cast<std::uint32_t>(document.text.size() - size),
                           static_cast<std::uint32_t>(size)});
  }
  bool on_number_part(string_view, error_code&) { return true; }
  bool on_int64(std::int64_t value, string_view, error_code&) {
    if (is_element()) return add(value);
    stack.push_int64(value);
    return count();
  }
  bool on_uint64(std::uint64_t value, string_view, error_code&) {
    if (is_element()) return add(value);
    stack.push_uint64(value);
    return count();
  }
  bool on_double(double near, string_view text, error_code&) {
    double nearest = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), nearest);
    const auto value = failed == std::errc() ? nearest : near;
    if (is_element()) return add(value);
    stack.push_double(value);
    return count();
  }
  bool on_bool(bool value, error_code&) {
    if (is_element()) return add(value);
    stack.push_bool(value);
    return count();
  }
  bool on_null(error_code&) {
    if (is_element()) return add(nullptr);
    stack.push_null();
    return count();
  }
  bool on_comment_part(string_view, error_code&) { return true; }
  bool on_comment(string_view, error_code&) { return true; }

 private:
  bool is_element() const { return data_is_next_ || data_depth_ > 0; }
  bool count() {
    if (++values_ > most_values)
      throw Refusal(Status::bad_request, "the request has more than " +
                                             std::to_string(most_values) +
                                             " values besides those in 'data'");
    return true;
  }
  void begin_data() {
    data_is_next_ = false;
    data_depth_ = 1;
    document.data.emplace_back(document.elements.size(), 0);
  }
  void end_data() {
    data_depth_ = 0;
    document.data.back().second = document.elements.size();
    stack.push_int64(static_cast<std::int64_t>(document.data.size() - 1));
    count();
  }
  bool add(Element element) {
    const bool is_alone = data_is_next_;
    if (is_alone) begin_data();
    document.elements.push_back(element);
    if (is_alone) end_data();
    return true;
  }

  std::string key_;
  std::size_t values_ = 0;
  std::size_t depth_ = 0;       ///< open objects and arrays outside of data
  std::size_t data_depth_ = 0;  ///< in data: 1 and its open arrays
  bool data_is_next_ = false;
};

}  // namespace

Document parse_document(std::string_view text, json::storage_ptr memory) {
  json::parse_options options;
  options.max_depth = 16;
  json::basic_parser<Builder> parser(options);
  auto& stack = parser.handler().stack;
  auto& document = parser.handler().document;
  stack.reset(std::move(memory));
  document.elements.reserve(most_values_of(text));
  error_code failed;
  const auto read = parser.write_some(false, text.data(), text.size(), failed);
  if (!failed && read < text.size()) failed = json::error::extra_data;
  if (failed) throw Refusal(Status::bad_request, "the body is not JSON: " + failed.message());
  document.root = stack.release();
  return std::move(document);
}

std::uint64_t bytes_to_parse(std::string_view text) {
  constexpr std::uint64_t of_value = 96;  // of an object, with its key and its place on the stack
  const std::uint64_t values = most_values_of(text);
  return values * sizeof(Element) + std::min<std::uint64_t>(values, most_values) * of_value;
}

}  // namespace polychron::server
