// polychron devices: lists the devices for contexts.
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/tool/commands/commands.hpp"
#include "apps/tool/printable.hpp"
#include "polychron/runtime.hpp"

namespace tool {
namespace {

/// Lines of at most 100 columns below the device's name.
std::string text_of(const std::vector<std::string>& operators) {
  constexpr std::size_t width = 100;
  std::string text, line = "     computes";
  for (const auto& name : operators) {
    const auto last = name == operators.back();
    if (line.size() + name.size() + 2 > width) {
      text += line + '\n';
      line = "    ";
    }
    line += " " + name + (last ? "" : ",");
  }
  return text + line + '\n';
}

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
    if (device.available && device.name != "cpu") std::cout << text_of(device.operators);
  }
  if (json) std::cout << to_text(array) << '\n';
}

}  // namespace

void add_devices(CLI::App& app) {
  const auto json = std::make_shared<bool>(false);
  auto* command = app.add_subcommand("devices", "List the devices that models can run on");
  command->footer(
      R"(A device that cannot be used is listed with the reason. Below a GPU are the
operators that it may compute; the processor computes the others, and what the GPU's library
refuses.

Examples:
  polychron devices
  polychron devices --json)");
  command->add_flag("--json", *json, "Print as JSON");
  command->callback([json] { list_devices(*json); });
}

}  // namespace tool
