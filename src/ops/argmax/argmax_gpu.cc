// SPDX-License-Identifier: Apache-2.0
#include "ops/argmax/argmax_gpu.h"

#include "backend/gpu/batch.h"
#include "backend/gpu/gpu_backend.h"
#include "ops/argmax/argmax_kernels.h"

GDN_GPU_KERNEL(argmax)

namespace gdn {

void ArgmaxGpu(const ExecContext& ctx, const ArgmaxArgs& args) {
  const int64_t num_rows = args.x.dim(0);
  const gpu::ArgmaxParams params = {.x = gpu::RowsOf(args.x),
                                    .index = args.index.As<int32_t>(),
                                    .num_rows = static_cast<uint64_t>(num_rows),
                                    .n = static_cast<uint64_t>(args.x.dim(1))};
  gpu::StreamOf(ctx).Launch(gpu::kernels::argmax, 0, gpu::RowGrid(num_rows), gpu::kBlockThreads,
                            gpu::kArgmaxSharedBytes, params);
}

}  // namespace gdn
