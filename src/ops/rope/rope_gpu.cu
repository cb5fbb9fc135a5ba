// SPDX-License-Identifier: Apache-2.0
// A thread a pair of elements; see rope.h. Reads and writes T * heads * rotary_dim elements, and
// reads a row of the table a token.
#include "ops/rope/rope_gpu.h"

#include "ops/common/gpu_rows.h"

namespace gdn::GDN_GPU_NAMESPACE {

using Params = gpu::RopeParams;

template <class T>
GDN_GLOBAL(256)
void Rope(Params p) {
  const uint64_t index = RowOfBlock() * BlockThreads() + ThreadIndex();
  const uint32_t i = static_cast<uint32_t>(index % p.half_dim);
  const uint32_t head = static_cast<uint32_t>(index / p.half_dim % p.num_heads);
  const uint64_t token = index / p.half_dim / p.num_heads;
  if (token >= p.num_tokens) return;
  const float* angles = RowAt<float>(p.table, static_cast<uint64_t>(p.positions[token]));
  const float c = angles[i];
  const float s = angles[p.half_dim + i];
  T* x = RowAt<T>(p.x, token) + static_cast<int64_t>(head) * p.x_head_stride;
  const float low = ToF32(x[i]);
  const float high = ToF32(x[p.half_dim + i]);
  x[i] = FromF32<T>(low * c - high * s);
  x[p.half_dim + i] = FromF32<T>(high * c + low * s);
}

GDN_GPU_INSTANCES(rope) = {GDN_GPU_INSTANCE(Params, Rope<float>),
                           GDN_GPU_INSTANCE(Params, Rope<F16>),
                           GDN_GPU_INSTANCE(Params, Rope<Bf16>)};

}  // namespace gdn::GDN_GPU_NAMESPACE
