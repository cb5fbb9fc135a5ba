// SPDX-License-Identifier: Apache-2.0
#include "ops/moe_router_topk/moe_router_topk.h"

#include <array>

#include "base/str.h"
#include "ops/common/impl_table.h"
#include "ops/common/kernel_ids.h"
#include "ops/common/rows.h"
#include "ops/common/simd_target.h"
#include "ops/common/validate.h"
#include "ops/moe_router_topk/moe_router_topk_kernels.h"

namespace gdn {
namespace {

constexpr const char* kOp = "moe_router_topk";

Status CheckShapes(const MoeRouterTopkArgs& args) {
  GDN_RETURN_IF_ERROR(CheckRows(kOp, "logits", args.logits));
  const int64_t num_experts = args.logits.dim(1);
  if (num_experts > kMoeMaxExperts) {
    return InvalidArgument(StrCat(kOp, ": logits is ", Describe(args.logits), ", want at most ",
                                  kMoeMaxExperts, " experts"));
  }
  const ConstTensor& weights = args.weights;
  if (weights.shape.rank() != 2 || weights.dim(1) < 1 || weights.dim(1) > num_experts) {
    return InvalidArgument(StrCat(kOp, ": weights is ", Describe(weights), ", want f32 [T=",
                                  args.logits.dim(0), ", 1 <= top_k <= ", num_experts, "]"));
  }
  const NamedDim tokens{"T", args.logits.dim(0)};
  const NamedDim top_k{"top_k", weights.dim(1)};
  GDN_RETURN_IF_ERROR(CheckContiguous(kOp, "weights", weights, DType::kF32, {tokens, top_k}));
  return CheckContiguous(kOp, "ids", args.ids, DType::kI32, {tokens, top_k});
}

Status Validate(const MoeRouterTopkArgs& args) {
  GDN_RETURN_IF_ERROR(CheckShapes(args));
  GDN_RETURN_IF_ERROR(
      CheckAlias(kOp, "weights", args.weights, "logits", args.logits, Alias::kNone));
  GDN_RETURN_IF_ERROR(CheckAlias(kOp, "ids", args.ids, "logits", args.logits, Alias::kNone));
  return CheckAlias(kOp, "ids", args.ids, "weights", args.weights, Alias::kNone);
}

const char* RefId(const MoeRouterTopkArgs& args) {
  static constexpr FloatKernelIds kIds{"moe_router_topk_f32__ref", "moe_router_topk_f16__ref",
                                       "moe_router_topk_bf16__ref"};
  return kIds.Of(args.logits.dtype);
}

const char* CpuId(const MoeRouterTopkArgs& args) {
  static const FloatKernelIds ids{KernelId("moe_router_topk_f32"), KernelId("moe_router_topk_f16"),
                                  KernelId("moe_router_topk_bf16")};
  return ids.Of(args.logits.dtype);
}

const char* Always(const MoeRouterTopkArgs& /*args*/) { return nullptr; }

constexpr std::array<Impl<MoeRouterTopkArgs>, 2> kTable = {{
    {CpuId, KernelFamily::kCpu, Always, MoeRouterTopkCpu},
    {RefId, KernelFamily::kCpu, Always, MoeRouterTopkRef},
}};

}  // namespace

Status MoeRouterTopk(const ExecContext& ctx, const MoeRouterTopkArgs& args) {
  GDN_RETURN_IF_ERROR(Validate(args));
  return RunFirst<MoeRouterTopkArgs>(kOp, kTable, ctx, args);
}

}  // namespace gdn
