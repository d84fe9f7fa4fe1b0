// Tensors of strings (BYTES): each element is its length (4 bytes, little-endian) and its bytes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "protocol/message.hpp"

namespace polychron::server {

/// Throws Refusal (bad_request) that names the tensor: an element beyond its end, or another number
/// of elements than its shape has. Takes no memory: millions of empty strings fit a body.
void check_strings(const WireTensor& tensor);

/// The elements; they refer to the tensor's bytes. Throws as check_strings() does.
std::vector<std::string_view> strings_of(const WireTensor& tensor);

/// The bytes of a tensor with these elements.
Buffer bytes_of(const std::vector<std::string>& strings);

/// Appends one element to such bytes.
void append_string(std::string& bytes, std::string_view text);

}  // namespace polychron::server
