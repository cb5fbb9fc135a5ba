// SPDX-License-Identifier: Apache-2.0
// A block a row; see rms_norm_gated.h. Reads x (the second time from a cache) and the gate, writes
// out: 3 times R * n elements, side by side.
#include "ops/rms_norm_gated/rms_norm_gated_gpu.h"

#include "ops/common/gpu_rows.h"

namespace gdn::GDN_GPU_NAMESPACE {

using Params = gpu::RmsNormGatedParams;

template <class T>
GDN_GLOBAL(256)
void RmsNormGated(Params p) {
  SharedMemory memory;
  const SharedArray<float> stage = memory.Take<float>(kRowSumStage);
  const SharedArray<float> sums = memory.Take<float>(16);
  const uint64_t row = RowOfBlock();
  if (row >= p.num_rows) return;
  const T* x = RowAt<T>(p.x, row);
  const T* gate = RowAt<T>(p.gate, row);
  T* out = RowAt<T>(p.out, row);
  const auto square_at = [&](uint32_t i) {
    const float value = ToF32(x[i]);
    return value * value;
  };
  const float squares = SumOfRow(p.n, stage, sums, square_at);
  const float inverse = 1.0F / Sqrt(squares / static_cast<float>(p.n) + p.eps);
  for (uint32_t i = ThreadIndex(); i < p.n; i += BlockThreads()) {
    const float z = ToF32(gate[i]);
    const float act = p.silu != 0 ? Silu(z) : Sigmoid(z);
    out[i] = FromF32<T>(ToF32(x[i]) * inverse * p.weight[i] * act);
  }
}

GDN_GPU_INSTANCES(rms_norm_gated) = {GDN_GPU_INSTANCE(Params, RmsNormGated<float>),
                                     GDN_GPU_INSTANCE(Params, RmsNormGated<F16>),
                                     GDN_GPU_INSTANCE(Params, RmsNormGated<Bf16>)};

}  // namespace gdn::GDN_GPU_NAMESPACE
