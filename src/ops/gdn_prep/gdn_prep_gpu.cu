// SPDX-License-Identifier: Apache-2.0
// The first blocks take sixteen rows of q or k each, sixteen threads a row, the others 256 gates, a
// thread each; see gdn_prep.h. Every element is read twice, the second time out of a cache, and
// written once.
#include "ops/gdn_prep/gdn_prep_gpu.h"

#include "ops/common/gpu_rows.h"

namespace gdn::GDN_GPU_NAMESPACE {

using Params = gpu::GdnPrepParams;

template <bool kDecode>
GDN_DEVICE float Softplus(float x) {
  if (x > 20.0F) return x;
  const bool splits = !kDecode && x > 0;
  const float y = 1.0F + Exp(splits ? -x : x);
  return (splits ? x : 0.0F) + Log(y);
}

template <class T, bool kDecode>
GDN_DEVICE void Gate(const Params& p, uint64_t at) {
  const uint64_t token = at / p.num_value_heads;
  const uint32_t head = static_cast<uint32_t>(at % p.num_value_heads);
  if (token >= p.num_tokens) return;
  const float x = ToF32(RowAt<T>(p.a, token)[head]) + p.dt_bias[head];
  p.log_decay[at] = -Exp(p.a_log[head]) * Softplus<kDecode>(x);
  const float gate = Sigmoid(ToF32(RowAt<T>(p.b, token)[head]));
  p.beta[at] = p.rounds_beta != 0 ? Round<T>(gate) : gate;
}

// Rows in the order [T, 2, H]: those of q, those of k. All threads of the block take part.
template <class T, class Out>
GDN_DEVICE void Row(const Params& p, uint64_t row) {
  const uint32_t lane = ThreadIndex() % 16;
  const uint32_t head = static_cast<uint32_t>(row % p.num_heads);
  const bool is_k = row / p.num_heads % 2 == 1;
  const uint64_t token = row / p.num_heads / 2;
  const uint32_t count = token < p.num_tokens ? p.k_dim : 0;
  const T* in = HeadAt<T>(is_k ? p.k : p.q, token, head);
  float squares = 0;
  for (uint32_t d = lane; d < count; d += 16) {
    const float x = ToF32(in[d]);
    squares = Fma(x, x, squares);
  }
  const float inverse = 1.0F / Sqrt(SumOfSixteen(squares) + 1e-6F);
  Out* out = static_cast<Out*>(is_k ? p.k_out : p.q_out) + (token * p.num_heads + head) * p.k_dim;
  for (uint32_t d = lane; d < count; d += 16) out[d] = FromF32<Out>(ToF32(in[d]) * inverse);
}

template <class T, class Out, bool kDecode>
GDN_GLOBAL(256)
void GdnPrep(Params p) {
  const uint64_t block = RowOfBlock();
  if (block < p.num_row_blocks) {
    Row<T, Out>(p, block * 16 + ThreadIndex() / 16);
  } else {
    Gate<T, kDecode>(p, (block - p.num_row_blocks) * BlockThreads() + ThreadIndex());
  }
}

// Of each dtype, for prefill and decode.
GDN_GPU_INSTANCES(gdn_prep) = {GDN_GPU_INSTANCE(Params, GdnPrep<float, float, false>),
                               GDN_GPU_INSTANCE(Params, GdnPrep<float, float, true>),
                               GDN_GPU_INSTANCE(Params, GdnPrep<F16, F16, false>),
                               GDN_GPU_INSTANCE(Params, GdnPrep<F16, float, true>),
                               GDN_GPU_INSTANCE(Params, GdnPrep<Bf16, Bf16, false>),
                               GDN_GPU_INSTANCE(Params, GdnPrep<Bf16, float, true>)};

}  // namespace gdn::GDN_GPU_NAMESPACE
