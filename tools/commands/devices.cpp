// polychron devices: lists the devices for contexts.
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "polychron/runtime.hpp"
#include "tools/commands/commands.hpp"
#include "tools/printable.hpp"

namespace tool {
namespace {

void list_devices(bool json) {
  const auto devices = polychron::devices();
  auto array = nlohmann::json::array();
  for (const auto& device : devices) {
    array.push_back({{"name", device.name},
                     {"description", device.description},
                     {"available", device.available},
                     {"operators", device.operators}});
    if (!device.available) array.back()["unavailable_reason"] = device.unavailable_reason;
    if (json) continue;
    std::cout << device.name << "  ";
    if (device.available)
      std::cout << device.description << '\n';
    else
      std::cout << "not available: " << device.unavailable_reason << '\n';
  }
  if (json) std::cout << to_text(array) << '\n';
}

}  // namespace

void add_devices(CLI::App& app) {
  const auto json = std::make_shared<bool>(false);
  auto* command = app.add_subcommand("devices", "List the devices that models can run on");
  command->footer(R"(A device that cannot be used is listed with the reason.

Examples:
  polychron devices
  polychron devices --json)");
  command->add_flag("--json", *json, "Print as JSON");
  command->callback([json] { list_devices(*json); });
}

}  // namespace tool
