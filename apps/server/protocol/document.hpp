// JSON as a document, with exact numbers.
#pragma once

#include <boost/json/storage_ptr.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace polychron::server {

/// A string in "data": a part of Document::text.
struct ElementText {
  std::uint32_t begin = 0, size = 0;
};

/// A number, a string, true, false or null in "data".
using Element =
    std::variant<std::nullptr_t, bool, std::int64_t, std::uint64_t, double, ElementText>;

/// What "data" has, in row-major order.
struct Data {
  std::span<const Element> elements;
  std::string_view text;
};

/// A request. Elements of "data", of which there may be millions, are kept apart: as json::value
/// they would take several times as much. In `root`, "data" is a number: its place in `data`.
struct Document {
  boost::json::value root;
  std::vector<Element> elements;
  std::string text;
  std::vector<std::pair<std::size_t, std::size_t>> data;  ///< begin and end in `elements`

  Data data_at(std::size_t place) const {
    const auto [begin, end] = data.at(place);
    return {std::span(elements).subspan(begin, end - begin), text};
  }
};

/// Parses all of `text`, at most 16 levels deep and with at most 65,536 values besides those in
/// "data". Throws Refusal (bad_request). Boost.JSON 1.81's own parse() may miss a double by a unit
/// in the last place; this gives the nearest.
Document parse_document(std::string_view text, boost::json::storage_ptr memory = {});

/// The memory that parse_document() takes at most, apart from strings.
std::uint64_t bytes_to_parse(std::string_view text);

}  // namespace polychron::server
