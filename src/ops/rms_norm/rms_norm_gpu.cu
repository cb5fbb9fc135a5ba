// SPDX-License-Identifier: Apache-2.0
// A block a row; see rms_norm.h. Reads x and the residual (the second time from a cache) and the
// weight, writes out and the residual: R * n elements each, side by side.
#include "ops/rms_norm/rms_norm_gpu.h"

#include "ops/common/gpu_rows.h"

namespace gdn::GDN_GPU_NAMESPACE {

using Params = gpu::RmsNormParams;

// An f16 sum with the residual is normalised before it is rounded.
template <class T>
GDN_DEVICE float RoundSum(float sum) {
  return Round<T>(sum);
}
template <>
GDN_DEVICE float RoundSum<F16>(float sum) {
  return sum;
}

template <class T>
GDN_GLOBAL(256)
void RmsNorm(Params p) {
  SharedMemory memory;
  const SharedArray<float> stage = memory.Take<float>(kRowSumStage);
  const SharedArray<float> sums = memory.Take<float>(16);
  const uint64_t row = RowOfBlock();
  if (row >= p.num_rows) return;
  const T* x = RowAt<T>(p.x, row);
  T* residual = p.residual.data == nullptr ? nullptr : RowAt<T>(p.residual, row);
  T* out = RowAt<T>(p.out, row);
  const auto sum_at = [&](uint32_t i) {
    const float value = ToF32(x[i]);
    return residual == nullptr ? value : RoundSum<T>(value + ToF32(residual[i]));
  };
  const auto square_at = [&](uint32_t i) {
    const float value = sum_at(i);
    return value * value;
  };
  const float squares = SumOfRow(p.n, stage, sums, square_at);
  const float inverse = 1.0F / Sqrt(squares / static_cast<float>(p.n) + p.eps);
  for (uint32_t i = ThreadIndex(); i < p.n; i += BlockThreads()) {
    const float s = sum_at(i);
    const float y = s * inverse;
    const float w = p.weight[i];
    // In this order: out may be x.
    if (residual != nullptr) residual[i] = FromF32<T>(s);
    out[i] = FromF32<T>(p.gemma != 0 ? y * (1.0F + w) : Round<T>(y) * w);
  }
}

GDN_GPU_INSTANCES(rms_norm) = {GDN_GPU_INSTANCE(Params, RmsNorm<float>),
                               GDN_GPU_INSTANCE(Params, RmsNorm<F16>),
                               GDN_GPU_INSTANCE(Params, RmsNorm<Bf16>)};

}  // namespace gdn::GDN_GPU_NAMESPACE
