#include "apps/tool/npy_header.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace tool {
namespace {

constexpr std::size_t max_dimensions = 32;
constexpr std::size_t max_string = 64;

/// Reads tokens of Python literals from the front of a text. Each method skips white space, and
/// returns a token only if it is of the requested kind.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  bool accept(std::string_view token) {
    skip_space();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }

  bool at_end() {
    skip_space();
    return rest_.empty();
  }

  /// A string as in NumPy's types and keys: short printable ASCII without escapes, as messages
  /// repeat it.
  std::optional<std::string> string() {
    skip_space();
    if (rest_.empty() || (rest_[0] != '\'' && rest_[0] != '"')) return std::nullopt;
    const auto end = rest_.find(rest_[0], 1);
    if (end == std::string_view::npos) return std::nullopt;
    const auto value = std::string(rest_.substr(1, end - 1));
    const auto printable = [](char c) { return c >= ' ' && c <= '~'; };
    if (value.size() > max_string || !std::ranges::all_of(value, printable)) return std::nullopt;
    rest_.remove_prefix(end + 1);
    return value;
  }

  std::optional<std::uint32_t> number() {
    skip_space();
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc()) return std::nullopt;
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }

 private:
  void skip_space() {
    const auto start = rest_.find_first_not_of(" \t\r\n");
    rest_.remove_prefix(start == std::string_view::npos ? rest_.size() : start);
  }
  std::string_view rest_;
};

std::optional<bool> parse_bool(Scanner& scanner) {
  if (scanner.accept("True")) return true;
  if (scanner.accept("False")) return false;
  return std::nullopt;
}

/// "()", "(3,)", "(2, 3)", "(2, 3,)".
std::optional<polychron::Shape> parse_tuple(Scanner& scanner) {
  polychron::Shape shape;
  if (!scanner.accept("(")) return std::nullopt;
  bool comma = true;
  while (!scanner.accept(")")) {
    const auto number = comma ? scanner.number() : std::nullopt;
    if (!number || shape.size() == max_dimensions) return std::nullopt;
    shape.push_back(*number);
    comma = scanner.accept(",");
  }
  if (shape.size() == 1 && !comma) return std::nullopt;  // a number in parentheses
  return shape;
}

}  // namespace

std::optional<NpyHeader> parse_npy_header(std::string_view text) {
  Scanner scanner(text);
  std::optional<std::string> descr;
  std::optional<bool> fortran_order;
  std::optional<polychron::Shape> shape;
  if (!scanner.accept("{")) return std::nullopt;
  bool comma = true;
  while (!scanner.accept("}")) {
    const auto key = comma ? scanner.string() : std::nullopt;
    if (!key || !scanner.accept(":")) return std::nullopt;
    bool understood = false;
    if (*key == "descr" && !descr)
      understood = (descr = scanner.string()).has_value();
    else if (*key == "fortran_order" && !fortran_order)
      understood = (fortran_order = parse_bool(scanner)).has_value();
    else if (*key == "shape" && !shape)
      understood = (shape = parse_tuple(scanner)).has_value();
    if (!understood) return std::nullopt;
    comma = scanner.accept(",");
  }
  if (!scanner.at_end() || !descr || !fortran_order || !shape) return std::nullopt;
  return NpyHeader{*descr, *fortran_order, *shape};
}

}  // namespace tool
