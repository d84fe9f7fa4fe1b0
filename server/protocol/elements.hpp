// The elements of a tensor as JSON.
#pragma once

#include <boost/json/value.hpp>
#include <string>

#include "protocol/message.hpp"

namespace polychron::server {

/// Fills tensor.bytes from "data", which may be flat or nested. Throws Refusal.
void read_elements(WireTensor& tensor, const boost::json::value& data);

/// Appends "[1,2,3]": the shortest digits that give the same number again.
void write_elements(std::string& json, const WireTensor& tensor);

}  // namespace polychron::server
