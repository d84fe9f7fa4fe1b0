// The fields of gRPC's headers and trailers.
// Source: github.com/grpc/grpc, doc/PROTOCOL-HTTP2.md.
#pragma once

#include <nghttp2/nghttp2.h>

#include <string>
#include <string_view>

#include "grpc/call.hpp"

namespace polychron::server {

/// Refers to both texts.
nghttp2_nv field(std::string_view name, std::string_view value);

/// As grpc-message has it: all but printable ASCII is quoted.
std::string percent_encoded(std::string_view text);

/// Notes a field of the call's header; most are not needed.
void read_field(Call& call, std::string_view name, std::string_view value);

}  // namespace polychron::server
