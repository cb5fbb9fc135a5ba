// SPDX-License-Identifier: Apache-2.0
// A thread an element; see silu_and_mul.h. Reads 2 and writes 1 of R * n elements, side by side.
#include "ops/common/gpu_rows.h"
#include "ops/silu_and_mul/silu_and_mul_gpu.h"

namespace gdn::GDN_GPU_NAMESPACE {

using Params = gpu::SiluAndMulParams;

template <class T>
GDN_GLOBAL(256)
void SiluAndMul(Params p) {
  const uint64_t index = RowOfBlock() * BlockThreads() + ThreadIndex();
  const uint64_t row = index / p.n;
  const uint32_t i = static_cast<uint32_t>(index % p.n);
  if (row >= p.num_rows) return;
  const float gate = ToF32(RowAt<T>(p.gate, row)[i]);
  const float up = ToF32(RowAt<T>(p.up, row)[i]);
  RowAt<T>(p.out, row)[i] = FromF32<T>(Round<T>(Silu(gate)) * up);
}

GDN_GPU_INSTANCES(silu_and_mul) = {GDN_GPU_INSTANCE(Params, SiluAndMul<float>),
                                   GDN_GPU_INSTANCE(Params, SiluAndMul<F16>),
                                   GDN_GPU_INSTANCE(Params, SiluAndMul<Bf16>)};

}  // namespace gdn::GDN_GPU_NAMESPACE
