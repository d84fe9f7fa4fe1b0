// The memory that the program has from malloc.
#pragma once

#include <malloc.h>

#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <regex>
#include <string>

namespace polychron::testing {

/// False where it cannot be told, with a message.
inline bool can_tell_allocated() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  std::cout << "skipped: a sanitizer's malloc does not say what it gave\n";
  return false;
#else
  return true;
#endif
}

/// By malloc's own account, over all of its arenas.
inline std::size_t allocated_bytes() {
  char* text = nullptr;
  std::size_t length = 0;
  std::FILE* const out = open_memstream(&text, &length);
  malloc_info(0, out);
  std::fclose(out);
  const std::string all(text, length);
  std::free(text);
  const auto totals = all.substr(all.rfind("</heap>"));
  const auto bytes = [&](const std::string& what) {
    std::smatch match;
    const std::regex size("type=\"" + what + "\"[^/]* size=\"([0-9]+)\"");
    BOOST_REQUIRE_MESSAGE(std::regex_search(totals, match, size), totals);
    return std::stoull(match[1]);
  };
  return bytes("current") + bytes("mmap") - bytes("fast") - bytes("rest");
}

}  // namespace polychron::testing
