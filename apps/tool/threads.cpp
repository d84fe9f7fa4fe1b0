#include "apps/tool/threads.hpp"

#include "apps/tool/arguments.hpp"

namespace tool {

void add_device_option(CLI::App& command, std::string& device) {
  command.add_option("--device", device, "Device that computes; `polychron devices` lists them")
      ->type_name("NAME")
      ->capture_default_str();
}

void add_threads_option(CLI::App& command, int& threads) {
  command
      .add_option("--threads", threads,
                  "Threads that share the work of one run; results do not depend on it")
      ->check(whole_number(1, 256))
      ->type_name("N")
      ->capture_default_str();
}

void add_workers_options(CLI::App& command, Workers& workers) {
  add_threads_option(command, workers.threads);
  command.add_option("--lanes", workers.lanes, "Runs in parallel, each with its own threads")
      ->check(whole_number(1, 256))
      ->type_name("N")
      ->capture_default_str();
  add_device_option(command, workers.device);
}

}  // namespace tool
