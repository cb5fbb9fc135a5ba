// SPDX-License-Identifier: Apache-2.0
// A thread an element; see sigmoid_mul.h. Reads 2 and writes 1 of R * n elements, side by side.
#include "ops/common/gpu_rows.h"
#include "ops/sigmoid_mul/sigmoid_mul_gpu.h"

namespace gdn::GDN_GPU_NAMESPACE {

using Params = gpu::SigmoidMulParams;

template <class T>
GDN_GLOBAL(256)
void SigmoidMul(Params p) {
  const uint64_t index = RowOfBlock() * BlockThreads() + ThreadIndex();
  const uint64_t row = index / p.n;
  const uint32_t i = static_cast<uint32_t>(index % p.n);
  if (row >= p.num_rows) return;
  const float x = ToF32(RowAt<T>(p.x, row)[i]);
  const float gate = ToF32(RowAt<T>(p.gate, row)[i]);
  RowAt<T>(p.out, row)[i] = FromF32<T>(x * Sigmoid(gate));
}

GDN_GPU_INSTANCES(sigmoid_mul) = {GDN_GPU_INSTANCE(Params, SigmoidMul<float>),
                                  GDN_GPU_INSTANCE(Params, SigmoidMul<F16>),
                                  GDN_GPU_INSTANCE(Params, SigmoidMul<Bf16>)};

}  // namespace gdn::GDN_GPU_NAMESPACE
