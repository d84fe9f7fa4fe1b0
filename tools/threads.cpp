#include "tools/threads.hpp"

#include <cstdlib>

#include "tools/platform.hpp"

namespace tool {

void add_threads_option(CLI::App& command, int& threads) {
  command
      .add_option("--threads", threads,
                  "Threads that one dispatch may use; for more than one the program starts itself "
                  "again with OMP_WAIT_POLICY=passive, unless that variable is set")
      ->check(CLI::Range(1, 256))
      ->type_name("N")
      ->capture_default_str();
}

void add_workers_options(CLI::App& command, Workers& workers) {
  add_threads_option(command, workers.threads);
  command
      .add_option("--lanes", workers.lanes,
                  "Operations that may run side by side, each with its own threads")
      ->check(CLI::Range(1, 256))
      ->type_name("N")
      ->capture_default_str();
}

void make_threads_wait_passively(int threads, char** arguments) {
  if (threads <= 1 || std::getenv("OMP_WAIT_POLICY") != nullptr) return;
  restart_with("OMP_WAIT_POLICY", "passive", arguments);
  // Without /proc the program goes on: slower, not wrong.
}

}  // namespace tool
