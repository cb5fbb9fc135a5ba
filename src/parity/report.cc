// SPDX-License-Identifier: Apache-2.0
#include "parity/report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/str.h"
#include "parity/golden_ops.h"

namespace gdn {
namespace {

// Of the rows of a prefill that is gated by its stages: the whole kernel's.
bool IsWholeKernel(const Output& output) {
  return output.name == "out" || output.name == "state_out";
}

constexpr std::array<const char*, 7> kStageTensors = {
    "cum_log_decay", "A", "a_inverse", "w", "u", "h", "v_new"};

Status CheckOutputs(const GoldenCase& golden, const Outputs& outputs, bool stages) {
  if (!golden.Has(outputs.front().golden)) {
    return golden.Error(StrCat("has no tensor ", outputs.front().golden, " to compare with"));
  }
  for (const std::string& want : golden.outputs()) {
    if (!stages && std::ranges::find(kStageTensors, want) != kStageTensors.end()) continue;
    const bool made =
        std::ranges::any_of(outputs, [&](const Output& output) { return output.golden == want; });
    if (!made) return golden.Error(StrCat(golden.op(), " makes no output ", Quoted(want)));
  }
  return OkStatus();
}

Status CheckStagesAreThere(const GoldenCase& golden) {
  for (const char* tensor : kStageTensors) {
    if (golden.IsOutput(tensor)) continue;
    return golden.Error(StrCat(
        "a prefill of weak decay over more than one chunk is gated by its stages: outputs has no ",
        tensor));
  }
  return OkStatus();
}

bool HoldsNan(const ConstTensor& tensor) {
  if (!IsFloat(tensor.dtype)) return false;
  return DispatchFloat(tensor.dtype, [&](auto t) {
    const auto* data = tensor.As<decltype(t)>();
    return std::any_of(data, data + tensor.shape.NumElements(),
                       [](auto x) { return std::isnan(ToF32(x)); });
  });
}

// What an operator says does not name the case.
Status WithFolder(const std::string& folder, const Status& status) {
  if (status.message().starts_with(folder)) return status;
  return {status.code(), StrCat(folder, ": ", status.message())};
}

}  // namespace

bool ParityReport::Passes() const {
  return !rows.empty() && std::ranges::all_of(rows, [](const ParityRow& row) { return row.pass; });
}

Result<std::vector<ParityRow>> Judge(const GoldenCase& golden, const Outputs& outputs,
                                     bool stages) {
  GDN_ASSIGN_OR_RETURN(const bool by_stage, IsGatedByStage(golden));
  if (by_stage) GDN_RETURN_IF_ERROR(CheckStagesAreThere(golden));
  GDN_RETURN_IF_ERROR(CheckOutputs(golden, outputs, stages));
  std::vector<ParityRow> rows;
  for (const Output& output : outputs) {
    if (!golden.Has(output.golden)) continue;
    GDN_ASSIGN_OR_RETURN(const ConstTensor want, golden.Tensor(output.golden));
    const ConstTensor got = output.tensor.view;
    if (got.shape != want.shape || IsFloat(got.dtype) != IsFloat(want.dtype)) {
      return golden.Error(StrCat("tensor ", output.golden, " is ", Describe(want), ", ",
                                 golden.op(), " makes ", Describe(got)));
    }
    if (HoldsNan(want)) {
      return golden.Error(StrCat("tensor ", output.golden, " holds NaN, want numbers"));
    }
    ParityRow row{.name = output.name, .distance = Compare(got, want, golden.Is16Bit())};
    row.gate = GateFor(golden, output.golden, output.name, row.distance,
                       by_stage && IsWholeKernel(output));
    row.pass = row.gate.Passes(row.distance);
    rows.push_back(std::move(row));
  }
  return rows;
}

Result<ParityReport> RunParity(Workbench& bench, const std::string& folder,
                               const Numerics& numerics) {
  GDN_ASSIGN_OR_RETURN(GoldenCase golden, GoldenCase::Read(folder));
  GDN_RETURN_IF_ERROR(golden.MoveTo(bench.memory()));
  bench.log() = KernelLog();
  const Result<Outputs> ran = RunGolden(bench, golden, numerics);
  if (!ran.ok()) return WithFolder(folder, ran.status());
  const Outputs& outputs = *ran;
  ParityReport report{
      .name = golden.name(), .op = golden.op(), .device = Name(bench.device().type)};
  GDN_ASSIGN_OR_RETURN(report.rows, Judge(golden, outputs, HasStages(numerics)));
  if (numerics.kind != Numerics::Kind::kReference) {
    report.kernels = numerics.name;
    return report;
  }
  for (const KernelLog::Entry& entry : bench.log().entries()) {
    report.kernels += StrCat(report.kernels.empty() ? "" : ", ", entry.kernel);
  }
  if (IsStage(golden.op())) report.kernels = "gated_delta_rule_chunk_ref";
  return report;
}

}  // namespace gdn
