// SPDX-License-Identifier: Apache-2.0
#include "ops/embedding/embedding_gpu.h"

#include "backend/gpu/batch.h"
#include "backend/gpu/gpu_backend.h"
#include "ops/embedding/embedding_kernels.h"

GDN_GPU_KERNEL(embedding)

namespace gdn {

void EmbeddingGpu(const ExecContext& ctx, const EmbeddingArgs& args) {
  gpu::Stream& stream = gpu::StreamOf(ctx);
  const Weight& table = *args.table;
  const gpu::EmbeddingParams params = {
      .ids = stream.Upload(args.ids),
      .table = table.data(),
      .out = gpu::RowsOf(args.out),
      .num_tokens = args.ids.size(),
      .hidden = static_cast<uint32_t>(table.cols()),
      .row_major = table.layout() == WeightLayout::kRowMajor ? 1U : 0U};
  const uint32_t instance = SizeOf(table.dtype()) == 4 ? 0 : 1;
  stream.Launch(gpu::kernels::embedding, instance, gpu::RowGrid(args.out.dim(0)),
                gpu::kBlockThreads, 0, params);
}

}  // namespace gdn
