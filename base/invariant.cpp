#include "base/invariant.hpp"

#include <string>
#include <string_view>

namespace polychron {

namespace {

std::string describe(const char* what_must_hold, const SourcePlace& where) {
  std::string_view file = where.file;
  file.remove_prefix(file.find_last_of('/') + 1);
  return "a broken invariant, please report it: " + std::string(what_must_hold) + " (" +
         std::string(file) + ":" + std::to_string(where.line) + ")";
}

}  // namespace

BrokenInvariant::BrokenInvariant(const char* what_must_hold, const SourcePlace& where)
    : std::logic_error(describe(what_must_hold, where)) {}

void detail::broken(const char* what_must_hold, const SourcePlace& where) {
  throw BrokenInvariant(what_must_hold, where);
}

}  // namespace polychron
