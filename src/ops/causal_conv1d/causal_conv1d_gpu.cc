// SPDX-License-Identifier: Apache-2.0
#include "ops/causal_conv1d/causal_conv1d_gpu.h"

#include "backend/gpu/batch.h"
#include "backend/gpu/gpu_backend.h"
#include "ops/causal_conv1d/causal_conv1d_ref.h"

GDN_GPU_KERNEL(causal_conv1d)

namespace gdn {

void RunCausalConv1dGpu(const ExecContext& ctx, const CausalConv1dArgs& args) {
  if (args.x.dim(0) == 0) return;
  gpu::Stream& stream = gpu::StreamOf(ctx);
  const int64_t num_segments = gpu::CountSegments(args.cu_seqlens, gpu::kConvSegment);
  const int64_t channels = args.x.dim(1);
  const int64_t channel_blocks = (channels + gpu::kBlockThreads - 1) / gpu::kBlockThreads;
  const bool rounds = args.x.dtype != DType::kF32 && args.product == ConvProduct::kRounded;
  const gpu::CausalConv1dParams params = {
      .sequences =
          gpu::UploadSequences(stream, args.cu_seqlens, args.state_slots, args.has_initial_state),
      .x = gpu::RowsOf(args.x),
      .weight = args.weight.data,
      .state = gpu::RowsOf(args.state),
      .out = args.out.data,
      .num_segments = static_cast<uint64_t>(num_segments),
      .channels = static_cast<uint64_t>(channels),
      .channel_blocks = static_cast<uint32_t>(channel_blocks),
      .rounds_products = rounds ? 1U : 0U};
  const auto taps = static_cast<uint32_t>(args.weight.dim(1));
  const uint32_t instance = gpu::DTypeInstance(args.x.dtype) * 3 + taps - 2;
  stream.Launch(gpu::kernels::causal_conv1d, instance, gpu::RowGrid(num_segments * channel_blocks),
                gpu::kBlockThreads, 0, params);
}

}  // namespace gdn
