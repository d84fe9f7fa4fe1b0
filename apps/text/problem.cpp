#include "apps/text/problem.hpp"

#include "polychron/error.hpp"

namespace polychron::text::detail {

void malformed(const std::string& why) { throw Error(ErrorKind::bad_data, why); }

void unsupported(const std::string& why) { throw Error(ErrorKind::not_supported, why); }

std::string quote(std::string_view name) {
  constexpr std::size_t longest = 120;
  constexpr std::string_view digits = "0123456789abcdef";
  std::string quoted = "'";
  for (const char c : name.substr(0, longest)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f)
      quoted += c;
    else
      ((quoted += "\\x") += digits[byte >> 4U]) += digits[byte & 15U];
  }
  if (name.size() > longest) quoted += "...";
  return quoted + "'";
}

}  // namespace polychron::text::detail
