// SPDX-License-Identifier: Apache-2.0
#include "ops/silu_and_mul/silu_and_mul_gpu.h"

#include "backend/gpu/batch.h"
#include "backend/gpu/gpu_backend.h"
#include "ops/silu_and_mul/silu_and_mul_kernels.h"

GDN_GPU_KERNEL(silu_and_mul)

namespace gdn {

void SiluAndMulGpu(const ExecContext& ctx, const SiluAndMulArgs& args) {
  const int64_t num_rows = args.gate.dim(0);
  const int64_t n = args.gate.dim(1);
  const gpu::SiluAndMulParams params = {.gate = gpu::RowsOf(args.gate),
                                        .up = gpu::RowsOf(args.up),
                                        .out = gpu::RowsOf(args.out),
                                        .num_rows = static_cast<uint64_t>(num_rows),
                                        .n = static_cast<uint64_t>(n)};
  gpu::StreamOf(ctx).Launch(gpu::kernels::silu_and_mul, gpu::DTypeInstance(args.gate.dtype),
                            gpu::ElementGrid(num_rows * n), gpu::kBlockThreads, 0, params);
}

}  // namespace gdn
