// gRPC: the same service behind HTTP/2. No header of gRPC is needed to use it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/service.hpp"

namespace polychron::server {

struct GrpcOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 8001;  ///< 0: a free one
  std::uint64_t body_bytes = std::uint64_t{64} << 20;
  /// As in HttpOptions; read again when they have changed, within a second.
  std::string certificate, key, client_ca;
};

class GrpcServer {
 public:
  /// Listens. Throws Error (bad_data): the address, the port, a file of TLS.
  GrpcServer(const GrpcOptions& options, Service& service);
  /// Ends all calls.
  ~GrpcServer();
  GrpcServer(const GrpcServer&) = delete;
  GrpcServer& operator=(const GrpcServer&) = delete;

  std::uint16_t port() const;
  /// Says that it is not serving, to clients of grpc.health.v1.
  void not_ready();
  /// Accepts no more calls, and ends those that are there after `patience`. Returns at once.
  void drain(std::chrono::seconds patience);
  /// True when drain() is through.
  bool drained() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace polychron::server
