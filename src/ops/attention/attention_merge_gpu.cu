// SPDX-License-Identifier: Apache-2.0
// Joins the chunks that attention_gpu.cu left in scratch, in order: a block a row (a token and a
// query head), a thread a dim. Reads (head_dim + 2) f32 a chunk, writes head_dim elements.
#include "ops/attention/attention_chunks_gpu.h"

namespace gdn::GDN_GPU_NAMESPACE {

using Params = gpu::AttentionParams;

template <class T>
GDN_GLOBAL(256)
void AttentionMerge(Params p) {
  const uint64_t row = RowOfBlock();
  if (row >= p.num_rows) return;
  const uint32_t last_key = static_cast<uint32_t>(p.sequences.positions[row / p.num_heads]);
  const float* partial = p.partial + row * p.max_chunks * (p.head_dim + 2);
  T* out = static_cast<T*>(p.out) + row * p.head_dim;
  for (uint32_t d = ThreadIndex(); d < p.head_dim; d += BlockThreads()) {
    float total = 0;
    float total_sum = 0;
    float total_max = MinusInfinity();
    for (uint32_t chunk = 0; chunk <= last_key / gpu::kKeyChunk; ++chunk) {
      const float* sums = partial + uint64_t{chunk} * (p.head_dim + 2);
      const float chunk_max = sums[p.head_dim];
      const MergeFactors factors = FactorsOf(total_max, chunk_max);
      total = Merge(total, sums[d], factors);
      total_sum = Merge(total_sum, sums[p.head_dim + 1], factors);
      total_max = Max(total_max, chunk_max);
    }
    out[d] = FromF32<T>(total / total_sum);
  }
}

GDN_GPU_INSTANCES(attention_merge) = {GDN_GPU_INSTANCE(Params, AttentionMerge<float>),
                                      GDN_GPU_INSTANCE(Params, AttentionMerge<F16>),
                                      GDN_GPU_INSTANCE(Params, AttentionMerge<Bf16>)};

}  // namespace gdn::GDN_GPU_NAMESPACE
