// SPDX-License-Identifier: Apache-2.0
// Launches the recurrence, and the chunk form in passes over as many chunks as scratch holds, each
// of three stages. Between two passes the state of a sequence lies in its slot, as it does between
// two calls.
#include "ops/gated_delta_rule/gated_delta_rule_gpu.h"

#include <algorithm>

#include "backend/gpu/batch.h"
#include "backend/gpu/gpu_backend.h"
#include "ops/gated_delta_rule/gated_delta_rule_device.h"

GDN_GPU_KERNEL(gated_delta_rule_recurrent)
GDN_GPU_KERNEL(gated_delta_rule_intra)
GDN_GPU_KERNEL(gated_delta_rule_state)
GDN_GPU_KERNEL(gated_delta_rule_output)

namespace gdn {
namespace {

gpu::GatedDeltaRuleParams ParamsOf(gpu::Stream& stream, const GatedDeltaRuleArgs& args) {
  return {.sequences = gpu::UploadSequences(stream, args.cu_seqlens, args.state_slots,
                                            args.has_initial_state),
          .q = gpu::HeadsOf(args.q),
          .k = gpu::HeadsOf(args.k),
          .v = gpu::HeadsOf(args.v),
          .log_decay = gpu::RowsOf(args.log_decay),
          .beta = gpu::RowsOf(args.beta),
          .state = args.state.data,
          .slot_stride = args.state.stride(0),
          .out = args.out.data,
          .num_value_heads = static_cast<uint32_t>(args.v.dim(1)),
          .heads_per_key = static_cast<uint32_t>(args.v.dim(1) / args.k.dim(1)),
          .k_dim = static_cast<uint32_t>(args.k.dim(2)),
          .v_dim = static_cast<uint32_t>(args.v.dim(2)),
          .scale = args.scale,
          .has_wide_keys = args.k.dtype == DType::kF32 ? 1U : 0U,
          .has_wide_state = args.state.dtype == DType::kF32 ? 1U : 0U};
}

// Instances of kernels for keys of up to 64, 128 and 256 elements.
uint32_t KeyInstance(DType dtype, uint32_t k_dim) {
  return gpu::DTypeInstance(dtype) * 3 + (k_dim <= 64 ? 0 : k_dim <= 128 ? 1 : 2);
}
uint32_t KeyColumns(uint32_t k_dim) { return k_dim <= 64 ? 64 : k_dim <= 128 ? 128 : 256; }

uint32_t CeilDiv(uint32_t a, uint32_t b) { return (a + b - 1) / b; }

bool HasPairs(const GatedDeltaRuleArgs& args) {
  const auto is_even = [](const ConstTensor& tensor) {
    return tensor.stride(0) % 2 == 0 && tensor.stride(1) % 2 == 0 &&
           reinterpret_cast<uintptr_t>(tensor.data) % 4 == 0;
  };
  return SizeOf(args.v.dtype) == 2 && args.k.dim(2) % 2 == 0 && args.v.dim(2) % 2 == 0 &&
         is_even(args.q) && is_even(args.k) && is_even(args.v);
}

// Where in scratch the parts lie, for num_tiles chunks of a value head.
void DivideScratch(std::byte* scratch, const DeviceChunkBytes& bytes, size_t num_tiles,
                   gpu::GatedDeltaRuleParams& params) {
  const auto take = [&](size_t tile_bytes) {
    std::byte* part = scratch;
    scratch += DevicePartBytes(tile_bytes * num_tiles);
    return part;
  };
  params.cum = reinterpret_cast<float*>(take(bytes.cum));
  params.w = take(bytes.w);
  params.u = take(bytes.u);
  params.h = take(bytes.a_or_h);
}

void RunPass(gpu::Stream& stream, DType dtype, const gpu::GatedDeltaRuleParams& params) {
  const uint32_t instance = gpu::DTypeInstance(dtype);
  const auto element_bytes = static_cast<uint32_t>(SizeOf(dtype));
  const uint32_t heads = params.num_value_heads;
  stream.Launch(gpu::kernels::gated_delta_rule_intra, instance, {heads, params.num_chunks},
                gpu::kGdrIntraThreads, gpu::GdrIntraSharedBytes(element_bytes), params);
  stream.Launch(gpu::kernels::gated_delta_rule_state, KeyInstance(dtype, params.k_dim),
                {CeilDiv(params.v_dim, gpu::kGdrStateRows), heads, params.sequences.count},
                gpu::kGdrStateThreads,
                gpu::GdrStateSharedBytes(element_bytes, KeyColumns(params.k_dim)), params);
  stream.Launch(
      gpu::kernels::gated_delta_rule_output, instance,
      {heads, params.num_chunks, CeilDiv(params.v_dim, gpu::GdrOutputColumns(element_bytes))},
      gpu::kGdrOutputThreads, gpu::GdrOutputSharedBytes(element_bytes), params);
}

}  // namespace

void RunRecurrentGpu(const ExecContext& ctx, const GatedDeltaRuleArgs& args) {
  if (args.v.dim(0) == 0) return;
  gpu::Stream& stream = gpu::StreamOf(ctx);
  const gpu::GatedDeltaRuleParams params = ParamsOf(stream, args);
  stream.Launch(gpu::kernels::gated_delta_rule_recurrent, KeyInstance(args.v.dtype, params.k_dim),
                {CeilDiv(params.v_dim, gpu::kGdrRecurrentRows), params.num_value_heads,
                 params.sequences.count},
                gpu::kGdrRecurrentRows * 16, 0, params);
}

void RunChunkGpu(const ExecContext& ctx, const GatedDeltaRuleArgs& args) {
  if (args.v.dim(0) == 0) return;
  const int64_t heads = args.v.dim(1);
  const DeviceChunkBytes bytes(args.v.dtype, args.k.dim(2), args.v.dim(2));
  const int64_t most = ChunksOfAPass(ctx, bytes, heads);
  gpu::Stream& stream = gpu::StreamOf(ctx);
  gpu::GatedDeltaRuleParams params = ParamsOf(stream, args);
  const bool is_tf32 = args.v.dtype != DType::kF32 && args.kkt_operand == KktOperand::kTf32;
  params.is_tf32 = is_tf32 ? 1 : 0;
  params.has_pairs = HasPairs(args) ? 1 : 0;
  DivideScratch(ctx.scratch.Take(DeviceScratchBytes(bytes, heads, most)), bytes,
                static_cast<size_t>(heads * most), params);
  const int64_t num_chunks = gpu::CountSegments(args.cu_seqlens, kChunkSize);
  for (int64_t first = 0; first < num_chunks; first += most) {
    params.first_chunk = static_cast<uint32_t>(first);
    params.num_chunks = static_cast<uint32_t>(std::min(most, num_chunks - first));
    RunPass(stream, args.v.dtype, params);
  }
}

}  // namespace gdn
