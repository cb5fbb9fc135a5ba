// SPDX-License-Identifier: Apache-2.0
#include "ops/rope/rope.h"

#include "base/str.h"
#include "ops/common/impl_table.h"
#include "ops/common/kernel_ids.h"
#include "ops/common/rows.h"
#include "ops/common/simd_target.h"
#include "ops/common/validate.h"
#include "ops/rope/rope_kernels.h"

namespace gdn {
namespace {

constexpr const char* kOp = "rope";

// x is written in place: no element may belong to two heads, whichever of the two axes is outer.
bool HeadsLieApart(const ConstTensor& x) {
  const int64_t tokens = x.dim(0);
  const int64_t heads = x.dim(1);
  const int64_t dim = x.dim(2);
  if (tokens > 1 && x.stride(0) < dim) return false;
  if (heads > 1 && x.stride(1) < dim) return false;
  return tokens <= 1 || heads <= 1 || x.stride(0) >= (heads - 1) * x.stride(1) + dim ||
         x.stride(1) >= (tokens - 1) * x.stride(0) + dim;
}

Status Validate(const RopeArgs& args) {
  if (args.table.dtype != DType::kF32 || args.table.shape.rank() != 2 || args.table.dim(1) < 2 ||
      args.table.dim(1) % 2 != 0) {
    return InvalidArgument(StrCat(kOp, ": table is ", Describe(args.table),
                                  ", want f32 [P, rotary_dim even and >= 2]"));
  }
  GDN_RETURN_IF_ERROR(CheckRows(kOp, "table", args.table));
  const int64_t num_positions = args.table.dim(0);
  const int64_t rotary_dim = args.table.dim(1);
  if (!IsFloat(args.x.dtype) || args.x.shape.rank() != 3 || args.x.dim(2) < rotary_dim) {
    return InvalidArgument(StrCat(kOp, ": x is ", Describe(args.x),
                                  ", want f32, f16 or bf16 [T, heads, D >= ", rotary_dim, "]"));
  }
  GDN_RETURN_IF_ERROR(
      CheckTensor(kOp, "x", args.x, args.x.dtype,
                  {{"T", args.x.dim(0)}, {"heads", args.x.dim(1)}, {"D", args.x.dim(2)}}));
  if (!HeadsLieApart(args.x)) {
    return InvalidArgument(StrCat(kOp, ": x ", args.x.shape.ToString(), " has strides ",
                                  args.x.stride(0), " and ", args.x.stride(1),
                                  ", want heads that share no element"));
  }
  GDN_RETURN_IF_ERROR(CheckAlias(kOp, "x", args.x, "table", args.table, Alias::kNone));
  if (static_cast<int64_t>(args.positions.size()) != args.x.dim(0)) {
    return InvalidArgument(
        StrCat(kOp, ": positions has ", args.positions.size(), " entries, want T=", args.x.dim(0)));
  }
  for (size_t t = 0; t < args.positions.size(); ++t) {
    if (args.positions[t] < 0 || args.positions[t] >= num_positions) {
      return InvalidArgument(StrCat(kOp, ": positions[", t, "] is ", args.positions[t],
                                    ", want it in [0, P=", num_positions, ")"));
    }
  }
  return OkStatus();
}

const char* RefId(const RopeArgs& args) {
  static constexpr FloatKernelIds kIds{"rope_f32__ref", "rope_f16__ref", "rope_bf16__ref"};
  return kIds.Of(args.x.dtype);
}

const char* CpuId(const RopeArgs& args) {
  static const FloatKernelIds ids{KernelId("rope_f32"), KernelId("rope_f16"),
                                  KernelId("rope_bf16")};
  return ids.Of(args.x.dtype);
}

const char* VulkanId(const RopeArgs& args) {
  static constexpr FloatKernelIds kIds{"rope_f32__vulkan", "rope_f16__vulkan", "rope_bf16__vulkan"};
  return kIds.Of(args.x.dtype);
}

const char* GpuId(const RopeArgs& args) {
  static constexpr FloatKernelIds kIds{"rope_f32__gpu", "rope_f16__gpu", "rope_bf16__gpu"};
  return kIds.Of(args.x.dtype);
}

const char* Always(const RopeArgs& /*args*/) { return nullptr; }

constexpr Impl<RopeArgs> kTable[] = {
    {CpuId, KernelFamily::kCpu, Always, RopeCpu},
    {RefId, KernelFamily::kCpu, Always, RopeRef},
    {VulkanId, KernelFamily::kVulkan, Always, IfBuilt(GDN_IF_VULKAN(RopeVulkan))},
    {GpuId, KernelFamily::kGpu, Always, IfBuilt(GDN_IF_GPU(RopeGpu))},
};

}  // namespace

Status Rope(const ExecContext& ctx, const RopeArgs& args) {
  GDN_RETURN_IF_ERROR(Validate(args));
  return RunFirst<RopeArgs>(kOp, kTable, ctx, args);
}

}  // namespace gdn
