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
      auto features = info.features;
      if (info.device.type == DeviceType::kCpu) features.emplace_back(SimdTarget());
      rows.push_back({{"name", info.name},
                      {"description", info.description},
                      {"features", features},
                      {"memory_bytes", info.memory_bytes},
                      {"usable", info.why_not.empty()}});
      if (!info.why_not.empty()) rows.back()["why_not"] = info.why_not;
      if (*json) continue;
      std::printf("%-10s %s, %s", info.name.c_str(), info.description.c_str(),
                  HumanBytes(info.memory_bytes).c_str());
      for (const std::string& feature : features) std::printf(", %s", feature.c_str());
      std::printf("%s%s\n", info.why_not.empty() ? "" : "; cannot be used: ", info.why_not.c_str());
    }
    if (*json) std::printf("%s\n", rows.dump().c_str());
    for (const std::string& line : WhatIsMissing()) std::fprintf(stderr, "%s\n", line.c_str());
  });
}

}  // namespace gdn
