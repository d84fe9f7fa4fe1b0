// The program: puts the parts together, and takes them apart again on a signal.
#pragma once

#include "options.hpp"

namespace polychron::server {

/// Serves until SIGTERM or SIGINT. Returns the exit code: 0, or 1 if requests had to be cut off.
int run(const ServerOptions& options);

}  // namespace polychron::server
