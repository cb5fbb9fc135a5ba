// SPDX-License-Identifier: Apache-2.0
#include "ops/gdn_prep/gdn_prep.h"

#include <array>
#include <utility>

#include "base/str.h"
#include "ops/common/impl_table.h"
#include "ops/common/overlap.h"
#include "ops/common/simd_target.h"
#include "ops/common/validate.h"
#include "ops/gdn_prep/gdn_prep_ref.h"

namespace gdn {
namespace {

constexpr const char* kOp = "gdn_prep";

Status CheckShapes(const GdnPrepArgs& args) {
  if (args.q.shape.rank() != 3 || args.a.shape.rank() != 2) {
    return InvalidArgument(StrCat(kOp, ": q is ", Describe(args.q), ", a is ", Describe(args.a),
                                  ", want [T, H, K] and [T, HV]"));
  }
  const DType d = args.q.dtype;
  if (!IsFloat(d)) {
    return InvalidArgument(StrCat(kOp, ": q is ", Describe(args.q), ", want f32, f16 or bf16"));
  }
  const DType out_dtype = args.form == GdnForm::kDecode ? DType::kF32 : d;
  const NamedDim t{"T", args.q.dim(0)};
  const NamedDim h{"H", args.q.dim(1)};
  const NamedDim k{"K", args.q.dim(2)};
  const NamedDim hv{"HV", args.a.dim(1)};
  GDN_RETURN_IF_ERROR(CheckTensor(kOp, "q", args.q, d, {t, h, k}));
  GDN_RETURN_IF_ERROR(CheckTensor(kOp, "k", args.k, d, {t, h, k}));
  GDN_RETURN_IF_ERROR(CheckTensor(kOp, "a", args.a, d, {t, hv}));
  GDN_RETURN_IF_ERROR(CheckTensor(kOp, "b", args.b, d, {t, hv}));
  GDN_RETURN_IF_ERROR(CheckTensor(kOp, "a_log", args.a_log, DType::kF32, {hv}));
  GDN_RETURN_IF_ERROR(CheckTensor(kOp, "dt_bias", args.dt_bias, DType::kF32, {hv}));
  GDN_RETURN_IF_ERROR(CheckContiguous(kOp, "q_out", args.q_out, out_dtype, {t, h, k}));
  GDN_RETURN_IF_ERROR(CheckContiguous(kOp, "k_out", args.k_out, out_dtype, {t, h, k}));
  GDN_RETURN_IF_ERROR(CheckContiguous(kOp, "log_decay", args.log_decay, DType::kF32, {t, hv}));
  return CheckContiguous(kOp, "beta", args.beta, DType::kF32, {t, hv});
}

Status CheckAliases(const GdnPrepArgs& args) {
  using Named = std::pair<const char*, ConstTensor>;
  const std::array<Named, 6> inputs = {{{"q", args.q},
                                        {"k", args.k},
                                        {"a", args.a},
                                        {"b", args.b},
                                        {"a_log", args.a_log},
                                        {"dt_bias", args.dt_bias}}};
  const std::array<Named, 4> outputs = {{{"q_out", args.q_out},
                                         {"k_out", args.k_out},
                                         {"log_decay", args.log_decay},
                                         {"beta", args.beta}}};
  for (size_t i = 0; i < outputs.size(); ++i) {
    const auto& [name, tensor] = outputs[i];
    for (const auto& [in_name, in] : inputs) {
      GDN_RETURN_IF_ERROR(CheckNoOverlap(kOp, name, tensor, in_name, in));
    }
    for (size_t j = 0; j < i; ++j) {
      GDN_RETURN_IF_ERROR(CheckNoOverlap(kOp, name, tensor, outputs[j].first, outputs[j].second));
    }
  }
  return OkStatus();
}

const char* IdFor(DType dtype, const char* f32, const char* f16, const char* bf16) {
  return dtype == DType::kBf16 ? bf16 : dtype == DType::kF16 ? f16 : f32;
}

const char* CpuId(const GdnPrepArgs& args) {
  static const char* const f32 = KernelId("gdn_prep_f32");
  static const char* const f16 = KernelId("gdn_prep_f16");
  static const char* const bf16 = KernelId("gdn_prep_bf16");
  return IdFor(args.q.dtype, f32, f16, bf16);
}

const char* RefId(const GdnPrepArgs& args) {
  return IdFor(args.q.dtype, "gdn_prep_f32__ref", "gdn_prep_f16__ref", "gdn_prep_bf16__ref");
}

const char* VulkanId(const GdnPrepArgs& args) {
  return IdFor(args.q.dtype, "gdn_prep_f32__vulkan", "gdn_prep_f16__vulkan",
               "gdn_prep_bf16__vulkan");
}

const char* GpuId(const GdnPrepArgs& args) {
  return IdFor(args.q.dtype, "gdn_prep_f32__gpu", "gdn_prep_f16__gpu", "gdn_prep_bf16__gpu");
}

const char* Always(const GdnPrepArgs& /*args*/) { return nullptr; }

constexpr Impl<GdnPrepArgs> kTable[] = {
    {CpuId, KernelFamily::kCpu, Always, RunGdnPrepCpu},
    {RefId, KernelFamily::kCpu, Always, RunGdnPrepRef},
    {VulkanId, KernelFamily::kVulkan, Always, IfBuilt(GDN_IF_VULKAN(RunGdnPrepVulkan))},
    {GpuId, KernelFamily::kGpu, Always, IfBuilt(GDN_IF_GPU(RunGdnPrepGpu))}};

}  // namespace

Status GdnPrep(const ExecContext& ctx, const GdnPrepArgs& args) {
  GDN_RETURN_IF_ERROR(CheckShapes(args));
  GDN_RETURN_IF_ERROR(CheckAliases(args));
  if (ctx.device.type == DeviceType::kCpu && ctx.pool == nullptr) {
    return InvalidArgument(StrCat(kOp, ": the context has no thread pool"));
  }
  return RunFirst<GdnPrepArgs>(kOp, kTable, ctx, args);
}

}  // namespace gdn
