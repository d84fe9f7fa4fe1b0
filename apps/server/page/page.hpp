// The page at /: one file of HTML, made part of the program by CMake.
#pragma once

#include <string_view>

namespace polychron::server {

std::string_view page_html();

}  // namespace polychron::server
