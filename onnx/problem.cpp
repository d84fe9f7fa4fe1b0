#include "onnx/problem.hpp"

#include "polychron/onnx.hpp"

namespace polychron::onnx::detail {

void malformed(const std::string& why) { throw Error(ErrorKind::bad_data, why); }

void unsupported(const std::string& why) { throw Error(ErrorKind::not_supported, why); }

void unknown_value(const std::string& what) { unsupported(what + " " + std::string(needs_value)); }

std::string quote(std::string_view name) {
  constexpr std::size_t longest = 120;
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text = "'";
  for (const char c : name.substr(0, longest)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f) {
      text += c;
    } else {
      text += "\\x";
      text += digits[byte >> 4];
      text += digits[byte & 15];
    }
  }
  if (name.size() > longest) text += "...";
  return text + "'";
}

}  // namespace polychron::onnx::detail
