// gRPC: the same service behind HTTP/2. No header of gRPC is needed to use it.
#pragma once

#include "http/listener.hpp"

namespace polychron::server {

/// The Open Inference Protocol and grpc.health.v1, on HTTP/2 by nghttp2. gRPC's own library would
/// read whole messages before it asks if their calls are wanted, and accept any number of
/// connections (1.51).
extern const Transport grpc_transport;

}  // namespace polychron::server
