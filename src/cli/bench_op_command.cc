// SPDX-License-Identifier: Apache-2.0
// gdn bench-op: an operator checked, then measured against the machine's limits.
#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "backend/devices.h"
#include "base/str.h"
#include "bench/device_probe.h"
#include "bench/op_measure.h"
#include "cli/bench_table.h"
#include "cli/commands.h"
#include "cli/common_options.h"
#include "cli/number_option.h"
#include "cli/report.h"

namespace gdn {
namespace {

using Json = nlohmann::ordered_json;

// A size that was given on the command line; the preset's where it was not.
struct SizeOption {
  const char* name;
  const char* help;
  int64_t OpDims::*field;
};

constexpr std::array<SizeOption, 18> kSizes = {{
    {"--tokens", "Tokens of a prompt; with --form decode: sequences, one token each (default 1)",
     &OpDims::tokens},
    {"--sequences", "Linear attention: sequences that the tokens are (default 1)",
     &OpDims::sequences},
    {"--key-heads", "Linear attention: heads of q and k", &OpDims::key_heads},
    {"--value-heads", "Linear attention: heads of v", &OpDims::value_heads},
    {"--head-dim", "Linear attention: size of a head", &OpDims::head_dim},
    {"--conv-kernel", "Taps of the convolution", &OpDims::conv_kernel},
    {"--attn-heads", "Full attention: query heads", &OpDims::attn_heads},
    {"--kv-heads", "Full attention: key and value heads", &OpDims::kv_heads},
    {"--attn-dim", "Full attention: size of a head", &OpDims::attn_dim},
    {"--context", "Full attention, decode: tokens in the cache (default 2048)", &OpDims::context},
    {"--hidden", "Size of a token's vector", &OpDims::hidden},
    {"--intermediate", "Size of the MLP, or of an expert", &OpDims::intermediate},
    {"--vocab", "Rows of the embedding", &OpDims::vocab},
    {"--experts", "Experts of a router", &OpDims::experts},
    {"--top-k", "Experts of a token", &OpDims::top_k},
    {"--rows", "Rows of linear and the operators over rows (default: --tokens)", &OpDims::rows},
    {"--cols", "Columns: inputs of linear (default: as in the model)", &OpDims::cols},
    {"--outs", "Outputs of linear (default: --intermediate)", &OpDims::outs},
}};

struct BenchOpOptions {
  std::string name;
  std::string preset = "0.8b";
  std::array<int64_t, kSizes.size()> sizes{};
  std::array<const CLI::Option*, kSizes.size()> given{};  // of the sizes
  std::string dtype = "bf16";
  std::string form = "chunk";
  std::string device = "auto";
  std::string impl;
  MeasureOptions measure{.repetitions = 7};
  TableOptions table;
};

struct Job {
  const OpKind* kind;
  OpDims dims;
};

Result<OpDims> DimsOf(const BenchOpOptions& options) {
  GDN_ASSIGN_OR_RETURN(OpDims dims, PresetDims(options.preset));
  dims.dtype = DTypeOfWord(options.dtype);
  dims.form = options.form == "decode"      ? OpForm::kDecode
              : options.form == "recurrent" ? OpForm::kRecurrent
                                            : OpForm::kChunk;
  if (dims.form == OpForm::kDecode) dims.tokens = dims.sequences = 1;
  for (size_t i = 0; i < kSizes.size(); ++i) {
    if (options.given[i]->count() == 0) continue;
    const int64_t size = options.sizes[i];
    if (size < 1) {  // 0 has a meaning inside, not here
      return InvalidArgument(StrCat(kSizes[i].name, " is ", size, ", want at least 1"));
    }
    dims.*kSizes[i].field = size;
  }
  GDN_RETURN_IF_ERROR(CheckDims(dims));
  return dims;
}

Result<std::vector<Job>> JobsOf(const BenchOpOptions& options) {
  std::vector<Job> jobs;
  if (options.name != "all") {
    GDN_ASSIGN_OR_RETURN(const OpKind* kind, FindOpKind(options.name));
    GDN_ASSIGN_OR_RETURN(const OpDims dims, DimsOf(options));
    jobs.push_back({kind, dims});
    return jobs;
  }
  GDN_ASSIGN_OR_RETURN(const OpDims dims, DimsOf(options));
  for (const OpKind& kind : OpKinds()) {
    for (const OpDims& variant : kind.variants(dims)) jobs.push_back({&kind, variant});
  }
  return jobs;
}

Json ToJson(const OpResult& r, const BenchOpOptions& options, int num_threads) {
  return {{"name", r.name},
          {"shape", r.shape},
          {"check", "pass"},
          {"ms", r.ms.median},
          {"mean", r.ms.mean},
          {"sd", r.ms.sd},
          {"gflops", r.gflops},
          {"gbytes", r.gbytes},
          {"pct_peak", r.pct_peak},
          {"pct_bw", r.pct_bw},
          {"peak_gflops", r.machine.peak_gflops},
          {"read_gbytes", r.machine.read_gbytes},
          {"repetitions", options.measure.repetitions},
          {"calls", r.calls},
          {"threads", num_threads},
          {"kernel", r.kernel}};
}

Result<Json> MeasureAll(const std::vector<Job>& jobs, const BenchOpOptions& options,
                        Workbench& bench, ProgressLine& progress) {
  for (const Job& job : jobs) {
    progress.Show(StrCat("checking ", job.kind->name));
    GDN_RETURN_IF_ERROR(CheckOp(*job.kind, job.dims, bench));
  }
  GDN_ASSIGN_OR_RETURN(MachineProbe probe,
                       MachineProbe::Create(bench.pool(), options.measure.buffer_bytes()));
  Json rows = Json::array();
  for (const Job& job : jobs) {
    progress.Show(StrCat("measuring ", job.kind->name));
    GDN_ASSIGN_OR_RETURN(const OpResult result,
                         MeasureOp(*job.kind, job.dims, options.measure.repetitions, bench, probe));
    rows.push_back(ToJson(result, options, bench.num_threads()));
  }
  return rows;
}

// Keys as of ToJson, without the CPU's peak and threads.
Json ToDeviceJson(const OpResult& r, const BenchOpOptions& options, const std::string& device) {
  return {{"name", r.name},
          {"shape", r.shape},
          {"check", "pass"},
          {"ms", r.ms.median},
          {"mean", r.ms.mean},
          {"sd", r.ms.sd},
          {"gflops", r.gflops},
          {"gbytes", r.gbytes},
          {"pct_copy", r.pct_bw},
          {"copy_gbytes", r.machine.read_gbytes},
          {"repetitions", options.measure.repetitions},
          {"calls", r.calls},
          {"device", device},
          {"kernel", r.kernel}};
}

Result<Json> MeasureAllOnDevice(const std::vector<Job>& jobs, const BenchOpOptions& options,
                                const Device& device, ProgressLine& progress) {
  GDN_ASSIGN_OR_RETURN(const std::unique_ptr<Workbench> bench,
                       Workbench::Open(device, options.impl, options.measure.num_threads,
                                       {.cache_folder = UserCacheFolder()}));
  progress.Show("measuring the device's memory");
  GDN_ASSIGN_OR_RETURN(const double copy_gbytes, MeasureCopyGbytes(bench->backend()));
  const std::string name = StrCat(Name(device.type), ":", device.index);
  Json rows = Json::array();
  for (const Job& job : jobs) {
    progress.Show(StrCat("checking ", job.kind->name));
    GDN_RETURN_IF_ERROR(CheckOp(*job.kind, job.dims, *bench));
    progress.Show(StrCat("measuring ", job.kind->name));
    GDN_ASSIGN_OR_RETURN(
        const OpResult result,
        MeasureOpOnDevice(*job.kind, job.dims, options.measure.repetitions, *bench, copy_gbytes));
    rows.push_back(ToDeviceJson(result, options, name));
  }
  return rows;
}

Result<Json> MeasureAllOn(const Device& device, const std::vector<Job>& jobs,
                          const BenchOpOptions& options, ProgressLine& progress) {
  if (device.type != DeviceType::kCpu) return MeasureAllOnDevice(jobs, options, device, progress);
  Workbench bench(options.impl, options.measure.num_threads);
  return MeasureAll(jobs, options, bench, progress);
}

Status Run(const BenchOpOptions& options) {
  GDN_ASSIGN_OR_RETURN(const std::vector<Job> jobs, JobsOf(options));
  GDN_ASSIGN_OR_RETURN(const Device device, ChooseDevice(options.device));
  ProgressLine progress("");
  const Result<Json> measured = MeasureAllOn(device, jobs, options, progress);
  progress.Finish();
  GDN_ASSIGN_OR_RETURN(const Json rows, measured);
  const std::string text = FormatTable(
      rows,
      device.type == DeviceType::kCpu
          ? std::vector<std::string>{"name", "shape", "check", "ms", "sd", "gflops", "pct_peak",
                                     "gbytes", "pct_bw", "peak_gflops", "read_gbytes", "kernel"}
          : std::vector<std::string>{"name", "shape", "check", "ms", "sd", "gflops", "gbytes",
                                     "pct_copy", "copy_gbytes", "device", "kernel"},
      options.table);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return OkStatus();
}

}  // namespace

void AddBenchOpCommand(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "bench-op", "Check an operator against its scalar reference, then measure it");
  command->footer(
      "ms is the median of a call. gflops and gbytes count what the operator needs, whatever the\n"
      "kernel does (the formulas: src/bench/op_cases_*.cc); pct_peak and pct_bw are their share "
      "of\n"
      "the f32 FMA peak and of the memory's read speed, measured on the same threads between the\n"
      "repetitions. Weights and states come from memory, not from a cache; other inputs may be\n"
      "cached, so that pct_bw may be over 100. On another device than the CPU pct_copy is the "
      "share of\n"
      "its own copies' speed.");
  const auto options = std::make_shared<BenchOpOptions>();
  std::string names = "all, or one of";
  for (const OpKind& kind : OpKinds()) names += std::string(" ") + kind.name;
  std::string presets = "Model that sizes are taken from:";
  for (const OpPreset& preset : OpPresets()) presets += std::string(" ") + preset.name;
  command->add_option("name", options->name, names)->required();
  command->add_option("--preset", options->preset, presets)->capture_default_str();
  for (size_t i = 0; i < kSizes.size(); ++i) {
    options->given[i] =
        AddNumberOption(*command, kSizes[i].name, options->sizes[i], kSizes[i].help);
  }
  AddDTypeOption(*command, options->dtype, "bf16, f16 or f32");
  command->add_option("--form", options->form, "chunk, recurrent (both prefill) or decode")
      ->check(CLI::IsMember({"chunk", "recurrent", "decode"}))
      ->capture_default_str();
  AddMeasureOptions(*command, options->measure);
  AddDeviceOption(*command, options->device);
  command->add_option("--impl", options->impl,
                      "Force a kernel: ref, the vector target, or the start of a kernel's id");
  AddTableOptions(*command, options->table);
  command->callback([options, &exit_code] {
    const Status status = Run(*options);
    if (!status.ok()) exit_code = Report(status);
  });
}

}  // namespace gdn
