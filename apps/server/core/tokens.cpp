#include "core/tokens.hpp"

#include <openssl/crypto.h>
#include <strings.h>

#include <polychron/error.hpp>
#include <sstream>

#include "models/config.hpp"
#include "protocol/refusal.hpp"

namespace polychron::server {

void Tokens::replace(std::vector<std::string> tokens) {
  auto fresh = std::make_shared<const std::vector<std::string>>(std::move(tokens));
  const std::lock_guard lock(mutex_);
  tokens_.swap(fresh);
}

bool Tokens::accept(std::string_view authorization) const {
  List tokens;
  {
    const std::lock_guard lock(mutex_);
    tokens = tokens_;
  }
  if (tokens->empty()) return true;
  constexpr std::string_view scheme = "Bearer ";
  if (authorization.size() < scheme.size() ||
      ::strncasecmp(authorization.data(), scheme.data(), scheme.size()) != 0)
    return false;
  const auto given = authorization.substr(scheme.size());
  // All are compared, each in constant time, so that the time tells nothing.
  bool found = false;
  for (const auto& token : *tokens)
    found |= token.size() == given.size() &&
             CRYPTO_memcmp(token.data(), given.data(), given.size()) == 0;
  return found;
}

std::vector<std::string> read_tokens(const std::string& file) {
  std::istringstream lines(text_of_file(file, "--tokens "));
  std::vector<std::string> tokens;
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with('\r')) line.pop_back();
    if (!line.empty() && line.front() != '#') tokens.push_back(line);
  }
  if (tokens.empty())
    throw Error(ErrorKind::bad_data, "--tokens '" + printable(file) + "': no token in it");
  return tokens;
}

}  // namespace polychron::server
