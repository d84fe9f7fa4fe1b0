// polychron-server: serves the ONNX models of a folder by the Open Inference Protocol v2.
#include <csignal>
#include <cstdio>
#include <exception>

#include "app.hpp"

int main(int argc, char** argv) try {
  const auto options =
      polychron::server::parse_options(std::vector<std::string>(argv + 1, argv + argc));
  if (options.help) return std::fputs(polychron::server::help_text().c_str(), stdout) < 0;
  if (options.print_version) return std::puts("polychron-server " POLYCHRON_VERSION) < 0;
  std::signal(SIGPIPE, SIG_IGN);
  polychron::server::App app(options);
  return app.wait();
} catch (const polychron::Error& error) {
  std::fprintf(stderr, "polychron-server: %s\n", error.what());
  return 2;
} catch (const std::exception& error) {
  std::fprintf(stderr, "polychron-server: %s\n", error.what());
  return 1;
}
