// SPDX-License-Identifier: Apache-2.0
#include "ops/rope/rope_gpu.h"

#include "backend/gpu/batch.h"
#include "backend/gpu/gpu_backend.h"
#include "ops/rope/rope_kernels.h"

GDN_GPU_KERNEL(rope)

namespace gdn {

void RopeGpu(const ExecContext& ctx, const RopeArgs& args) {
  const int64_t num_heads = args.x.dim(1);
  const int64_t half_dim = args.table.dim(1) / 2;
  if (args.positions.empty() || num_heads == 0) return;
  gpu::Stream& stream = gpu::StreamOf(ctx);
  const gpu::RopeParams params = {.positions = stream.Upload(args.positions),
                                  .table = gpu::RowsOf(args.table),
                                  .x = gpu::RowsOf(args.x),
                                  .x_head_stride = args.x.stride(1),
                                  .num_tokens = static_cast<uint64_t>(args.x.dim(0)),
                                  .num_heads = static_cast<uint32_t>(num_heads),
                                  .half_dim = static_cast<uint32_t>(half_dim)};
  stream.Launch(gpu::kernels::rope, gpu::DTypeInstance(args.x.dtype),
                gpu::ElementGrid(args.x.dim(0) * num_heads * half_dim), gpu::kBlockThreads, 0,
                params);
}

}  // namespace gdn
