#include "http/tls.hpp"

#include <cstring>
#include <polychron/error.hpp>

namespace polychron::server {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

[[noreturn]] void bad(const std::string& what, const std::string& why) {
  throw Error(ErrorKind::bad_data, what + ": " + why);
}

/// Chooses the protocol if the client offers it: `offered` is a list of lengths and names.
int choose_protocol(SSL*, const unsigned char** chosen, unsigned char* size,
                    const unsigned char* offered, unsigned int offered_size, void* protocol) {
  const auto* name = static_cast<const char*>(protocol);
  for (unsigned int at = 0; at < offered_size; at += 1U + offered[at]) {
    if (offered[at] != std::strlen(name) || at + 1 + offered[at] > offered_size ||
        std::memcmp(offered + at + 1, name, offered[at]) != 0)
      continue;
    *chosen = offered + at + 1;
    *size = offered[at];
    return SSL_TLSEXT_ERR_OK;
  }
  return SSL_TLSEXT_ERR_NOACK;
}

}  // namespace

std::shared_ptr<asio::ssl::context> tls_of(const HttpOptions& options, const char* protocol) {
  if (options.certificate.empty()) {
    if (!options.key.empty() || !options.client_ca.empty())
      bad("TLS", "a key or a CA of clients was given, and no certificate");
    return nullptr;
  }
  auto tls = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_server);
  tls->set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_tlsv1 |
                   asio::ssl::context::no_tlsv1_1);
  SSL_CTX_set_alpn_select_cb(tls->native_handle(), choose_protocol, const_cast<char*>(protocol));
  error_code failed;
  tls->use_certificate_chain_file(options.certificate, failed);
  if (failed) bad("the certificate '" + options.certificate + "'", failed.message());
  const auto& key = options.key.empty() ? options.certificate : options.key;
  tls->use_private_key_file(key, asio::ssl::context::pem, failed);
  if (failed) bad("the key '" + key + "'", failed.message());
  if (options.client_ca.empty()) return tls;
  tls->load_verify_file(options.client_ca, failed);
  if (failed) bad("the CA of clients '" + options.client_ca + "'", failed.message());
  tls->set_verify_mode(asio::ssl::verify_peer | asio::ssl::verify_fail_if_no_peer_cert);
  return tls;
}

}  // namespace polychron::server
