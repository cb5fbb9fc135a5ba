// SPDX-License-Identifier: Apache-2.0
#include "ops/gdn_prep/gdn_prep_gpu.h"

#include "backend/gpu/batch.h"
#include "backend/gpu/gpu_backend.h"
#include "ops/gdn_prep/gdn_prep_ref.h"

GDN_GPU_KERNEL(gdn_prep)

namespace gdn {

void RunGdnPrepGpu(const ExecContext& ctx, const GdnPrepArgs& args) {
  constexpr int64_t kRowsPerBlock = 16;
  constexpr int64_t kGatesPerBlock = gpu::kBlockThreads;
  const int64_t num_tokens = args.q.dim(0);
  const int64_t num_rows = 2 * num_tokens * args.q.dim(1);
  const int64_t num_gates = num_tokens * args.a.dim(1);
  const int64_t row_blocks = (num_rows + kRowsPerBlock - 1) / kRowsPerBlock;
  const int64_t gate_blocks = (num_gates + kGatesPerBlock - 1) / kGatesPerBlock;
  const bool is_decode = args.form == GdnForm::kDecode;
  const bool rounds_beta = is_decode && args.decode_beta == DecodeBeta::kRounded;
  const gpu::GdnPrepParams params = {.q = gpu::HeadsOf(args.q),
                                     .k = gpu::HeadsOf(args.k),
                                     .a = gpu::RowsOf(args.a),
                                     .b = gpu::RowsOf(args.b),
                                     .a_log = args.a_log.As<float>(),
                                     .dt_bias = args.dt_bias.As<float>(),
                                     .q_out = args.q_out.data,
                                     .k_out = args.k_out.data,
                                     .log_decay = args.log_decay.As<float>(),
                                     .beta = args.beta.As<float>(),
                                     .num_tokens = static_cast<uint64_t>(num_tokens),
                                     .num_row_blocks = static_cast<uint64_t>(row_blocks),
                                     .num_heads = static_cast<uint32_t>(args.q.dim(1)),
                                     .k_dim = static_cast<uint32_t>(args.q.dim(2)),
                                     .num_value_heads = static_cast<uint32_t>(args.a.dim(1)),
                                     .rounds_beta = rounds_beta ? 1U : 0U};
  const uint32_t instance = gpu::DTypeInstance(args.q.dtype) * 2 + (is_decode ? 1 : 0);
  gpu::StreamOf(ctx).Launch(gpu::kernels::gdn_prep, instance,
                            gpu::RowGrid(row_blocks + gate_blocks), gpu::kBlockThreads, 0, params);
}

}  // namespace gdn
