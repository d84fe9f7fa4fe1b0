// JSON as a document, with exact numbers.
#pragma once

#include <boost/json/storage_ptr.hpp>
#include <boost/json/value.hpp>
#include <string_view>

namespace polychron::server {

/// Parses all of `text`, at most 16 levels deep. Throws Refusal (bad_request). Boost.JSON 1.81's
/// own parse() may miss a double by a unit in the last place; this gives the nearest.
boost::json::value parse_document(std::string_view text, boost::json::storage_ptr memory = {});

}  // namespace polychron::server
