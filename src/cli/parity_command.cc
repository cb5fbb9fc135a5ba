// SPDX-License-Identifier: Apache-2.0
// gdn parity: how far each operator is from the reference's own kernels.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "backend/devices.h"
#include "base/str.h"
#include "base/system_info.h"
#include "cli/commands.h"
#include "cli/common_options.h"
#include "cli/report.h"
#include "parity/report.h"

namespace gdn {
namespace {

using Json = nlohmann::ordered_json;

struct ParityOptions {
  std::vector<std::string> folders;
  std::string device = "auto";
  std::string impl;
  std::string numerics = "reference";
  int num_threads = 1;
  bool json = false;
};

// JSON has no infinity.
Json NumberOrNull(double x) { return std::isfinite(x) ? Json(x) : Json(nullptr); }

Json ToJson(const ParityReport& report) {
  Json outputs = Json::array();
  for (const ParityRow& row : report.rows) {
    outputs.push_back({{"name", row.name},
                       {"dtype", Name(row.distance.dtype)},
                       {"elements", row.distance.elements},
                       {"differ", row.distance.differ},
                       {"max_abs", NumberOrNull(row.distance.max_abs)},
                       {"nmse", NumberOrNull(row.distance.nmse)},
                       {"gate", row.gate.ToString()},
                       {"pass", row.pass}});
  }
  return {{"case", report.name},    {"op", report.op},         {"device", report.device},
          {"impl", report.kernels}, {"pass", report.Passes()}, {"outputs", std::move(outputs)}};
}

// A name from a file system or a file, as one line of a terminal.
std::string OneLine(std::string name) {
  std::ranges::replace_if(
      name, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, '?');
  return name;
}

void PrintText(const ParityReport& report) {
  std::printf("%s  (%s on %s: %s)\n", OneLine(report.name).c_str(), report.op.c_str(),
              report.device.c_str(), report.kernels.c_str());
  for (const ParityRow& row : report.rows) {
    const Distance& d = row.distance;
    std::printf("  %-15s %8lld %-4s  differ %6lld  max %8.2e  nmse %8.2e  %-4s (%s)\n",
                row.name.c_str(), static_cast<long long>(d.elements), Name(d.dtype),
                static_cast<long long>(d.differ), d.max_abs, d.nmse, row.pass ? "pass" : "FAIL",
                row.gate.ToString().c_str());
  }
}

Status Run(const ParityOptions& options, int& exit_code) {
  GDN_ASSIGN_OR_RETURN(const Device device, ChooseDevice(options.device));
  GDN_ASSIGN_OR_RETURN(const Numerics numerics, ParseNumerics(options.numerics));
  GDN_ASSIGN_OR_RETURN(const std::unique_ptr<Workbench> bench,
                       Workbench::Open(device, options.impl, options.num_threads));
  Json all = Json::array();
  int passed = 0;
  int failed = 0;
  for (const std::string& folder : options.folders) {
    const Result<ParityReport> report = RunParity(*bench, folder, numerics);
    if (!report.ok()) {  // the other folders are run all the same
      exit_code = Report(report.status());
      ++failed;
      all.push_back({{"case", folder}, {"pass", false}, {"error", report.status().message()}});
      continue;
    }
    report->Passes() ? ++passed : ++failed;
    if (options.json) {
      all.push_back(ToJson(*report));
    } else {
      PrintText(*report);
    }
  }
  if (options.json) {
    std::printf("%s\n", all.dump(-1, ' ', false, Json::error_handler_t::replace).c_str());
  } else {
    std::printf("%d passed, %d failed\n", passed, failed);
  }
  if (failed > 0 && exit_code == kExitOk) exit_code = kExitFailure;
  return OkStatus();
}

}  // namespace

void AddParityCommand(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("parity", "Compare operators with dumps of the reference's own kernels");
  const auto options = std::make_shared<ParityOptions>();
  options->num_threads = NumCores();
  command
      ->add_option("folders", options->folders,
                   "Golden cases: folders with manifest.json and .npy files")
      ->required();
  AddDeviceOption(*command, options->device);
  command->add_option("--impl", options->impl,
                      "Force a kernel: ref, the vector target, or the start of a kernel's id");
  command
      ->add_option("--numerics", options->numerics,
                   "Evaluate 16-bit prefills in another way, to see a gate fail: "
                   "recurrence_f32, recurrence_f64, chunk, chunk_unrounded, drop:<point>")
      ->capture_default_str();
  AddThreadsOption(*command, options->num_threads);
  command->add_flag("--json", options->json, "Print a JSON array");
  command->callback([options, &exit_code] {
    const Status status = Run(*options, exit_code);
    if (!status.ok()) exit_code = Report(status);
  });
}

}  // namespace gdn
