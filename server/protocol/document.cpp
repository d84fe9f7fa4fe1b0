#include "protocol/document.hpp"

#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/value_stack.hpp>
#include <charconv>

#include "protocol/refusal.hpp"

namespace polychron::server {

namespace {

namespace json = boost::json;
using json::error_code;
using json::string_view;

/// Receives the parser's events. Every answer is "go on".
struct Builder {
  static constexpr std::size_t max_object_size = json::object::max_size();
  static constexpr std::size_t max_array_size = json::array::max_size();
  static constexpr std::size_t max_key_size = json::string::max_size();
  static constexpr std::size_t max_string_size = json::string::max_size();

  json::value_stack stack;

  bool on_document_begin(error_code&) { return true; }
  bool on_document_end(error_code&) { return true; }
  bool on_object_begin(error_code&) { return true; }
  bool on_array_begin(error_code&) { return true; }
  bool on_object_end(std::size_t count, error_code&) {
    stack.push_object(count);
    return true;
  }
  bool on_array_end(std::size_t count, error_code&) {
    stack.push_array(count);
    return true;
  }
  bool on_key_part(string_view text, std::size_t, error_code&) {
    stack.push_chars(text);
    return true;
  }
  bool on_key(string_view text, std::size_t, error_code&) {
    stack.push_key(text);
    return true;
  }
  bool on_string_part(string_view text, std::size_t, error_code&) {
    stack.push_chars(text);
    return true;
  }
  bool on_string(string_view text, std::size_t, error_code&) {
    stack.push_string(text);
    return true;
  }
  bool on_number_part(string_view, error_code&) { return true; }
  bool on_int64(std::int64_t value, string_view, error_code&) {
    stack.push_int64(value);
    return true;
  }
  bool on_uint64(std::uint64_t value, string_view, error_code&) {
    stack.push_uint64(value);
    return true;
  }
  bool on_double(double near, string_view text, error_code&) {
    double nearest = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), nearest);
    stack.push_double(failed == std::errc() ? nearest : near);
    return true;
  }
  bool on_bool(bool value, error_code&) {
    stack.push_bool(value);
    return true;
  }
  bool on_null(error_code&) {
    stack.push_null();
    return true;
  }
  bool on_comment_part(string_view, error_code&) { return true; }
  bool on_comment(string_view, error_code&) { return true; }
};

}  // namespace

json::value parse_document(std::string_view text, json::storage_ptr memory) {
  json::parse_options options;
  options.max_depth = 16;
  json::basic_parser<Builder> parser(options);
  auto& stack = parser.handler().stack;
  stack.reset(std::move(memory));
  error_code failed;
  const auto read = parser.write_some(false, text.data(), text.size(), failed);
  if (!failed && read < text.size()) failed = json::error::extra_data;
  if (failed) throw Refusal(Status::bad_request, "the body is not JSON: " + failed.message());
  return stack.release();
}

}  // namespace polychron::server
