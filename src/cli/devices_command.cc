// SPDX-License-Identifier: Apache-2.0
// gdn devices: what --device takes on this machine.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "backend/devices.h"
#include "base/str.h"
#include "cli/commands.h"
#include "ops/common/simd_target.h"

namespace gdn {

void AddDevicesCommand(CLI::App& app, int& /*exit_code*/) {
  CLI::App* command = app.add_subcommand("devices", "List the devices that gdn can run on");
  const auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "Print a JSON array");
  command->callback([json] {
    auto rows = nlohmann::ordered_json::array();
    for (const DeviceInfo& info : ListDevices()) {
      rows.push_back({{"name", info.name},
                      {"description", info.description},
                      {"features", {SimdTarget()}},
                      {"memory_bytes", info.memory_bytes}});
      if (*json) continue;
      std::printf("%-8s %s, %s, %s\n", info.name.c_str(), info.description.c_str(), SimdTarget(),
                  HumanBytes(info.memory_bytes).c_str());
    }
    if (*json) std::printf("%s\n", rows.dump().c_str());
  });
}

}  // namespace gdn
