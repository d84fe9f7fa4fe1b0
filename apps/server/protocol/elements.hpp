// The elements of a tensor as JSON.
#pragma once

#include <string>

#include "protocol/document.hpp"
#include "protocol/message.hpp"

namespace polychron::server {

/// Fills tensor.bytes from "data". Throws Refusal.
void read_elements(WireTensor& tensor, const Data& data);

/// Appends "[1,2,3]": the shortest digits that give the same number again.
void write_elements(std::string& json, const WireTensor& tensor);

}  // namespace polychron::server
