// SPDX-License-Identifier: Apache-2.0
#include "ops/rms_norm/rms_norm_gpu.h"

#include "backend/gpu/batch.h"
#include "backend/gpu/gpu_backend.h"
#include "ops/common/gpu_row_sum.h"
#include "ops/rms_norm/rms_norm_kernels.h"

GDN_GPU_KERNEL(rms_norm)

namespace gdn {

void RmsNormGpu(const ExecContext& ctx, const RmsNormArgs& args) {
  const int64_t num_rows = args.x.dim(0);
  const gpu::RmsNormParams params = {.x = gpu::RowsOf(args.x),
                                     .weight = args.weight.As<float>(),
                                     .residual = gpu::RowsOf(args.residual),
                                     .out = gpu::RowsOf(args.out),
                                     .num_rows = static_cast<uint64_t>(num_rows),
                                     .n = static_cast<uint32_t>(args.x.dim(1)),
                                     .eps = args.eps,
                                     .gemma = args.style == RmsNormStyle::kGemma ? 1U : 0U};
  gpu::StreamOf(ctx).Launch(gpu::kernels::rms_norm, gpu::DTypeInstance(args.x.dtype),
                            gpu::RowGrid(num_rows), gpu::kBlockThreads, gpu::kRowSumBytes, params);
}

}  // namespace gdn
