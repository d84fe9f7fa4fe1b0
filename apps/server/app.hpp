// The program: puts the parts together, and takes them apart again.
#pragma once

#include <memory>

#include "options.hpp"

namespace polychron::server {

/// A server that runs. Its threads start with it.
class App {
 public:
  /// Listens at once; ready when the folder has been read. Throws Error (bad_data): an option.
  explicit App(const ServerOptions& options);
  /// Cuts off what still runs.
  ~App();
  App(const App&) = delete;
  App& operator=(const App&) = delete;

  std::uint16_t http_port() const;
  std::uint16_t grpc_port() const;  ///< 0: none
  Service& service();
  /// What SIGHUP does: looks at the folder, reads tokens and certificates again, opens the access
  /// log again. What cannot be read stays as it was, and the log says why.
  void read_again();
  /// Ends as SIGTERM does: no new connections, answers to the requests in flight, then wait()
  /// returns. A second call ends at once.
  void drain();
  /// Until it has ended. Returns 0, or 1 if requests had to be cut off.
  int wait();

 private:
  class Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace polychron::server
