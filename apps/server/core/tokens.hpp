// The bearer tokens that clients may show, for both transports.
//
// Thread-safety: every method from any thread at any time.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace polychron::server {

class Tokens {
 public:
  explicit Tokens(std::vector<std::string> tokens) { replace(std::move(tokens)); }
  /// Requests from now on need one of these; without any, nobody needs one.
  void replace(std::vector<std::string> tokens);
  /// True if a header "Authorization" of this value is enough.
  bool accept(std::string_view authorization) const;

 private:
  using List = std::shared_ptr<const std::vector<std::string>>;
  mutable std::mutex mutex_;
  List tokens_;
};

/// One token a line; empty lines and lines that begin with # are left out. Throws Error (bad_data).
std::vector<std::string> read_tokens(const std::string& file);

}  // namespace polychron::server
