// SPDX-License-Identifier: Apache-2.0
#include "ops/gated_delta_rule/gated_delta_rule.h"

#include <algorithm>

#include "base/str.h"
#include "ops/common/impl_table.h"
#include "ops/common/overlap.h"
#include "ops/common/simd_target.h"
#include "ops/common/validate.h"
#include "ops/gated_delta_rule/gated_delta_rule_cpu.h"
#include "ops/gated_delta_rule/gated_delta_rule_device.h"
#include "ops/gated_delta_rule/gated_delta_rule_ref.h"

namespace gdn {
namespace {

constexpr const char* kRecurrent = "gated_delta_rule_recurrent";
constexpr const char* kBlocked = "gated_delta_rule_blocked";
constexpr const char* kChunk = "gated_delta_rule_chunk";
constexpr int64_t kMaxHeadDim = 256;

Status CheckDims(const char* op, const GatedDeltaRuleArgs& args) {
  if (args.q.shape.rank() != 3 || args.v.shape.rank() != 3) {
    return InvalidArgument(StrCat(op, ": q is ", Describe(args.q), ", v is ", Describe(args.v),
                                  ", want [T, H, K] and [T, HV, V]"));
  }
  const int64_t k_dim = args.q.dim(2);
  const int64_t v_dim = args.v.dim(2);
  if (k_dim < 1 || k_dim > kMaxHeadDim || v_dim < 1 || v_dim > kMaxHeadDim) {
    return InvalidArgument(
        StrCat(op, ": K=", k_dim, ", V=", v_dim, ", want each in 1..", kMaxHeadDim));
  }
  const int64_t num_key_heads = args.q.dim(1);
  const int64_t num_value_heads = args.v.dim(1);
  if (num_key_heads < 1 || num_value_heads < 1 || num_value_heads % num_key_heads != 0) {
    return InvalidArgument(
        StrCat(op, ": HV=", num_value_heads, " over H=", num_key_heads, ", want a multiple of it"));
  }
  if (!IsFloat(args.v.dtype)) {
    return InvalidArgument(StrCat(op, ": v is ", Describe(args.v), ", want f32, f16 or bf16"));
  }
  return OkStatus();
}

Status CheckInputs(const char* op, const GatedDeltaRuleArgs& args, DType qk_dtype) {
  const int64_t num_tokens = args.v.dim(0);
  const NamedDim t{"T", num_tokens};
  const NamedDim hv{"HV", args.v.dim(1)};
  const NamedDim v_dim{"V", args.v.dim(2)};
  const NamedDim h{"H", args.q.dim(1)};
  const NamedDim k_dim{"K", args.q.dim(2)};
  GDN_RETURN_IF_ERROR(CheckTensor(op, "q", args.q, qk_dtype, {t, h, k_dim}));
  GDN_RETURN_IF_ERROR(CheckTensor(op, "k", args.k, qk_dtype, {t, h, k_dim}));
  GDN_RETURN_IF_ERROR(CheckTensor(op, "v", args.v, args.v.dtype, {t, hv, v_dim}));
  GDN_RETURN_IF_ERROR(CheckTensor(op, "log_decay", args.log_decay, DType::kF32, {t, hv}));
  GDN_RETURN_IF_ERROR(CheckTensor(op, "beta", args.beta, DType::kF32, {t, hv}));
  GDN_RETURN_IF_ERROR(CheckContiguous(op, "out", args.out, args.v.dtype, {t, hv, v_dim}));
  return CheckCuSeqlens(op, args.cu_seqlens, num_tokens);
}

Status CheckState(const char* op, const GatedDeltaRuleArgs& args, DType state_dtype) {
  const auto num_seqs = static_cast<int64_t>(args.cu_seqlens.size()) - 1;
  const int64_t num_slots = args.state.shape.rank() == 4 ? args.state.dim(0) : 0;
  GDN_RETURN_IF_ERROR(CheckTensor(
      op, "state", args.state, state_dtype,
      {{"slots", num_slots}, {"HV", args.v.dim(1)}, {"V", args.v.dim(2)}, {"K", args.q.dim(2)}}));
  if (num_slots > 0) {
    Tensor one_slot = args.state.Slice(0, 1);
    if (!one_slot.IsContiguous() ||
        (num_slots > 1 && args.state.stride(0) < one_slot.shape.NumElements())) {
      return InvalidArgument(StrCat(op, ": state is strided inside a slot, want it contiguous"));
    }
  }
  GDN_RETURN_IF_ERROR(CheckStateSlots(op, args.state_slots, num_seqs, num_slots));
  if (static_cast<int64_t>(args.has_initial_state.size()) != num_seqs) {
    return InvalidArgument(StrCat(op, ": has_initial_state has ", args.has_initial_state.size(),
                                  " entries, want N=", num_seqs));
  }
  return OkStatus();
}

Status CheckAliases(const char* op, const GatedDeltaRuleArgs& args) {
  GDN_RETURN_IF_ERROR(CheckNoOverlap(op, "out", args.out, "q", args.q));
  GDN_RETURN_IF_ERROR(CheckNoOverlap(op, "out", args.out, "k", args.k));
  GDN_RETURN_IF_ERROR(CheckNoOverlap(op, "out", args.out, "v", args.v));
  GDN_RETURN_IF_ERROR(CheckNoOverlap(op, "out", args.out, "log_decay", args.log_decay));
  GDN_RETURN_IF_ERROR(CheckNoOverlap(op, "out", args.out, "beta", args.beta));
  GDN_RETURN_IF_ERROR(CheckNoOverlap(op, "out", args.out, "state", args.state));
  GDN_RETURN_IF_ERROR(CheckNoOverlap(op, "state", args.state, "q", args.q));
  GDN_RETURN_IF_ERROR(CheckNoOverlap(op, "state", args.state, "k", args.k));
  GDN_RETURN_IF_ERROR(CheckNoOverlap(op, "state", args.state, "v", args.v));
  GDN_RETURN_IF_ERROR(CheckNoOverlap(op, "state", args.state, "log_decay", args.log_decay));
  return CheckNoOverlap(op, "state", args.state, "beta", args.beta);
}

// Scratch that the kernels of the context's device cannot do without.
size_t LeastScratchBytes(const char* op, const ExecContext& ctx, const GatedDeltaRuleArgs& args) {
  const int64_t k_dim = args.q.dim(2);
  const int64_t v_dim = args.v.dim(2);
  if (ctx.device.type == DeviceType::kCpu) {
    return GatedDeltaRuleScratchBytes(k_dim, v_dim, ctx.pool->num_threads());
  }
  if (op != kChunk) return 0;
  return DeviceScratchBytes(DeviceChunkBytes(args.v.dtype, k_dim, v_dim), args.v.dim(1), 1);
}

Status Check(const char* op, const ExecContext& ctx, const GatedDeltaRuleArgs& args, DType qk_dtype,
             DType state_dtype) {
  GDN_RETURN_IF_ERROR(CheckInputs(op, args, qk_dtype));
  GDN_RETURN_IF_ERROR(CheckState(op, args, state_dtype));
  GDN_RETURN_IF_ERROR(CheckAliases(op, args));
  if (ctx.device.type == DeviceType::kCpu && ctx.pool == nullptr) {
    return InvalidArgument(StrCat(op, ": the context has no thread pool"));
  }
  const size_t scratch = LeastScratchBytes(op, ctx, args);
  if (ctx.scratch.size_bytes() < scratch) {
    return InvalidArgument(
        StrCat(op, ": scratch is ", ctx.scratch.size_bytes(), " bytes, want at least ", scratch));
  }
  return OkStatus();
}

// The id of the instance for v's dtype.
const char* IdFor(DType dtype, const char* f32, const char* f16, const char* bf16) {
  return dtype == DType::kBf16 ? bf16 : dtype == DType::kF16 ? f16 : f32;
}

const char* RecurrentCpuId(const GatedDeltaRuleArgs& args) {
  static const char* const f32 = KernelId("gated_delta_rule_recurrent_f32");
  static const char* const f16 = KernelId("gated_delta_rule_recurrent_f16");
  static const char* const bf16 = KernelId("gated_delta_rule_recurrent_bf16");
  return IdFor(args.v.dtype, f32, f16, bf16);
}

const char* RecurrentRefId(const GatedDeltaRuleArgs& args) {
  return IdFor(args.v.dtype, "gated_delta_rule_recurrent_f32__ref",
               "gated_delta_rule_recurrent_f16__ref", "gated_delta_rule_recurrent_bf16__ref");
}

const char* ChunkCpuId(const GatedDeltaRuleArgs& args) {
  static const char* const f32 = KernelId("gated_delta_rule_chunk_f32");
  static const char* const f16 = KernelId("gated_delta_rule_chunk_f16");
  static const char* const bf16 = KernelId("gated_delta_rule_chunk_bf16");
  return IdFor(args.v.dtype, f32, f16, bf16);
}

const char* ChunkRefId(const GatedDeltaRuleArgs& args) {
  return IdFor(args.v.dtype, "gated_delta_rule_chunk_f32__ref", "gated_delta_rule_chunk_f16__ref",
               "gated_delta_rule_chunk_bf16__ref");
}

const char* RecurrentVulkanId(const GatedDeltaRuleArgs& args) {
  return IdFor(args.v.dtype, "gated_delta_rule_recurrent_f32__vulkan",
               "gated_delta_rule_recurrent_f16__vulkan", "gated_delta_rule_recurrent_bf16__vulkan");
}

const char* RecurrentGpuId(const GatedDeltaRuleArgs& args) {
  return IdFor(args.v.dtype, "gated_delta_rule_recurrent_f32__gpu",
               "gated_delta_rule_recurrent_f16__gpu", "gated_delta_rule_recurrent_bf16__gpu");
}

const char* ChunkVulkanId(const GatedDeltaRuleArgs& args) {
  return IdFor(args.v.dtype, "gated_delta_rule_chunk_f32__vulkan",
               "gated_delta_rule_chunk_f16__vulkan", "gated_delta_rule_chunk_bf16__vulkan");
}

const char* ChunkGpuId(const GatedDeltaRuleArgs& args) {
  return IdFor(args.v.dtype, "gated_delta_rule_chunk_f32__gpu", "gated_delta_rule_chunk_f16__gpu",
               "gated_delta_rule_chunk_bf16__gpu");
}

const char* Always(const GatedDeltaRuleArgs& /*args*/) { return nullptr; }

constexpr Impl<GatedDeltaRuleArgs> kRecurrentTable[] = {
    {RecurrentCpuId, KernelFamily::kCpu, Always, RunRecurrentCpu},
    {RecurrentRefId, KernelFamily::kCpu, Always, RunRecurrentRef},
    {RecurrentVulkanId, KernelFamily::kVulkan, Always, IfBuilt(GDN_IF_VULKAN(RunRecurrentVulkan))},
    {RecurrentGpuId, KernelFamily::kGpu, Always, IfBuilt(GDN_IF_GPU(RunRecurrentGpu))}};

const char* BlockedCpuId(const GatedDeltaRuleArgs& args) {
  static const char* const f32 = KernelId("gated_delta_rule_blocked_f32");
  static const char* const f16 = KernelId("gated_delta_rule_blocked_f16");
  static const char* const bf16 = KernelId("gated_delta_rule_blocked_bf16");
  return IdFor(args.v.dtype, f32, f16, bf16);
}

// The plain recurrence is the reference, and what devices run: blocks only add in another
// order.
constexpr Impl<GatedDeltaRuleArgs> kBlockedTable[] = {
    {BlockedCpuId, KernelFamily::kCpu, Always, RunBlockedCpu},
    {RecurrentRefId, KernelFamily::kCpu, Always, RunRecurrentRef},
    {RecurrentVulkanId, KernelFamily::kVulkan, Always, IfBuilt(GDN_IF_VULKAN(RunRecurrentVulkan))},
    {RecurrentGpuId, KernelFamily::kGpu, Always, IfBuilt(GDN_IF_GPU(RunRecurrentGpu))}};

constexpr Impl<GatedDeltaRuleArgs> kChunkTable[] = {
    {ChunkCpuId, KernelFamily::kCpu, Always, RunChunkCpu},
    {ChunkRefId, KernelFamily::kCpu, Always, RunChunkRef},
    {ChunkVulkanId, KernelFamily::kVulkan, Always, IfBuilt(GDN_IF_VULKAN(RunChunkVulkan))},
    {ChunkGpuId, KernelFamily::kGpu, Always, IfBuilt(GDN_IF_GPU(RunChunkGpu))}};

}  // namespace

Status GatedDeltaRuleRecurrent(const ExecContext& ctx, const GatedDeltaRuleArgs& args) {
  GDN_RETURN_IF_ERROR(CheckDims(kRecurrent, args));
  const DType d = args.v.dtype;
  const DType qk_dtype = args.q.dtype == DType::kF32 ? DType::kF32 : d;
  const DType state_dtype = args.state.dtype == DType::kF32 ? DType::kF32 : d;
  GDN_RETURN_IF_ERROR(Check(kRecurrent, ctx, args, qk_dtype, state_dtype));
  return RunFirst<GatedDeltaRuleArgs>(kRecurrent, kRecurrentTable, ctx, args);
}

Status GatedDeltaRuleChunk(const ExecContext& ctx, const GatedDeltaRuleArgs& args) {
  GDN_RETURN_IF_ERROR(CheckDims(kChunk, args));
  GDN_RETURN_IF_ERROR(Check(kChunk, ctx, args, args.v.dtype, DType::kF32));
  return RunFirst<GatedDeltaRuleArgs>(kChunk, kChunkTable, ctx, args);
}

Status GatedDeltaRuleBlocked(const ExecContext& ctx, const GatedDeltaRuleArgs& args) {
  GDN_RETURN_IF_ERROR(CheckDims(kBlocked, args));
  GDN_RETURN_IF_ERROR(Check(kBlocked, ctx, args, args.v.dtype, DType::kF32));
  return RunFirst<GatedDeltaRuleArgs>(kBlocked, kBlockedTable, ctx, args);
}

size_t GatedDeltaRuleScratchBytes(int64_t k_dim, int64_t v_dim, int num_threads) {
  return WorkerScratchBytes(k_dim, v_dim) * static_cast<size_t>(num_threads);
}

size_t GatedDeltaRuleDeviceScratchBytes(DType dtype, int64_t num_value_heads, int64_t k_dim,
                                        int64_t v_dim, int64_t max_tokens) {
  const int64_t chunks = (max_tokens + kChunkSize - 1) / kChunkSize;
  return DeviceScratchBytes(DeviceChunkBytes(dtype, k_dim, v_dim), num_value_heads,
                            std::clamp<int64_t>(chunks, 1, kMostDeviceChunks));
}

}  // namespace gdn
