// SPDX-License-Identifier: Apache-2.0
#include "parity/runner.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/str.h"
#include "parity/golden_ops.h"

namespace gdn {
namespace {

struct GoldenOp {
  const char* name;
  Result<Outputs> (*run)(Workbench& bench, const GoldenCase& golden);
};

constexpr std::array<GoldenOp, 14> kOps = {{{"gdn_decode", RunGdnDecode},
                                            {"gdn_packed_decode_bf16", RunGdnPackedDecode},
                                            {"gdn_prep", RunGdnPrep},
                                            {"causal_conv1d_fwd", RunConvFwd},
                                            {"causal_conv1d_update", RunConvUpdate},
                                            {"l2norm", RunL2Norm},
                                            {"rmsnorm", RunRmsNorm},
                                            {"rmsnorm_gated", RunRmsNormGated},
                                            {"moe_router_topk", RunMoeRouterTopk},
                                            {"moe_block", RunMoeBlock},
                                            {"rope", RunRope},
                                            {"silu_and_mul", RunSiluAndMul},
                                            {"dense_attention", RunDenseAttention},
                                            {"matmul", RunMatmul}}};

}  // namespace

Workbench::Workbench(std::unique_ptr<Backend> backend, std::string impl, int num_threads)
    : backend_(std::move(backend)),
      impl_(std::move(impl)),
      pool_(std::make_unique<ThreadPool>(num_threads)) {}

Workbench::Workbench(std::string impl, int num_threads)
    : Workbench(OpenBackend(Device{}).value(), std::move(impl), num_threads) {}

Result<std::unique_ptr<Workbench>> Workbench::Open(const Device& device, std::string impl,
                                                   int num_threads, const BackendOptions& options) {
  GDN_ASSIGN_OR_RETURN(std::unique_ptr<Backend> backend, OpenBackend(device, options));
  return std::unique_ptr<Workbench>(
      new Workbench(std::move(backend), std::move(impl), num_threads));
}

Result<ExecContext> Workbench::Context(size_t scratch_bytes) {
  if (scratch_.size_bytes() < scratch_bytes) {
    GDN_ASSIGN_OR_RETURN(scratch_, memory().Allocate(scratch_bytes, "scratch of an operator"));
  }
  ExecContext out = CopyContext();
  out.impl = impl_;
  return out;
}

ExecContext Workbench::CopyContext() {
  return {.device = device(),
          .backend = backend_.get(),
          .pool = pool_.get(),
          .scratch = Scratch({scratch_.data(), scratch_.size_bytes()}),
          .kernel_log = &log_};
}

std::vector<std::string> GoldenOps() {
  std::vector<std::string> out = {"gdn_prefill"};
  for (const GoldenOp& op : kOps) out.emplace_back(op.name);
  for (std::string& stage : StageNames()) out.push_back(std::move(stage));
  return out;
}

Result<Outputs> RunGolden(Workbench& bench, const GoldenCase& golden, const Numerics& numerics) {
  if (golden.op() == "gdn_prefill") return RunGdnPrefill(bench, golden, numerics);
  if (numerics.kind != Numerics::Kind::kReference) {
    return golden.Error(
        StrCat("op is ", Quoted(golden.op()), ", want gdn_prefill for numerics to choose from"));
  }
  if (IsStage(golden.op())) return RunStage(golden, golden.op());
  for (const GoldenOp& op : kOps) {
    if (golden.op() == op.name) return op.run(bench, golden);
  }
  std::string names;
  for (const std::string& name : GoldenOps())
    StrAppend(names, StrCat(names.empty() ? "" : ", ", name));
  return golden.Error(StrCat("op is ", Quoted(golden.op()), ", want one of ", names));
}

}  // namespace gdn
