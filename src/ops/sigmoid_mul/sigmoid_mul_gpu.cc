// SPDX-License-Identifier: Apache-2.0
#include "ops/sigmoid_mul/sigmoid_mul_gpu.h"

#include "backend/gpu/batch.h"
#include "backend/gpu/gpu_backend.h"
#include "ops/sigmoid_mul/sigmoid_mul_kernels.h"

GDN_GPU_KERNEL(sigmoid_mul)

namespace gdn {

void SigmoidMulGpu(const ExecContext& ctx, const SigmoidMulArgs& args) {
  const int64_t num_rows = args.x.dim(0);
  const int64_t n = args.x.dim(1);
  const gpu::SigmoidMulParams params = {.x = gpu::RowsOf(args.x),
                                        .gate = gpu::RowsOf(args.gate),
                                        .out = gpu::RowsOf(args.out),
                                        .num_rows = static_cast<uint64_t>(num_rows),
                                        .n = static_cast<uint32_t>(n)};
  gpu::StreamOf(ctx).Launch(gpu::kernels::sigmoid_mul, gpu::DTypeInstance(args.x.dtype),
                            gpu::ElementGrid(num_rows * n), gpu::kBlockThreads, 0, params);
}

}  // namespace gdn
