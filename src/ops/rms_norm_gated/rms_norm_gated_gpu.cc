// SPDX-License-Identifier: Apache-2.0
#include "ops/rms_norm_gated/rms_norm_gated_gpu.h"

#include "backend/gpu/batch.h"
#include "backend/gpu/gpu_backend.h"
#include "ops/common/gpu_row_sum.h"
#include "ops/rms_norm_gated/rms_norm_gated_kernels.h"

GDN_GPU_KERNEL(rms_norm_gated)

namespace gdn {

void RmsNormGatedGpu(const ExecContext& ctx, const RmsNormGatedArgs& args) {
  const int64_t num_rows = args.x.dim(0);
  const gpu::RmsNormGatedParams params = {
      .x = gpu::RowsOf(args.x),
      .gate = gpu::RowsOf(args.gate),
      .weight = args.weight.As<float>(),
      .out = gpu::RowsOf(args.out),
      .num_rows = static_cast<uint64_t>(num_rows),
      .n = static_cast<uint32_t>(args.x.dim(1)),
      .eps = args.eps,
      .silu = args.activation == GateActivation::kSilu ? 1U : 0U};
  gpu::StreamOf(ctx).Launch(gpu::kernels::rms_norm_gated, gpu::DTypeInstance(args.x.dtype),
                            gpu::RowGrid(num_rows), gpu::kBlockThreads, gpu::kRowSumBytes, params);
}

}  // namespace gdn
