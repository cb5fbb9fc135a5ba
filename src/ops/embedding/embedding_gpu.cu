// SPDX-License-Identifier: Apache-2.0
// A block a token; see embedding.h. Reads and writes T * hidden elements. In a panel the dwords of
// a row lie 128 bytes apart, so that each costs a sector of memory.
#include "ops/embedding/embedding_gpu.h"

#include "ops/common/gpu_rows.h"

namespace gdn::GDN_GPU_NAMESPACE {

using Params = gpu::EmbeddingParams;

constexpr uint32_t kPanelRows = 32;

// Bits are copied, whatever they mean.
template <class Bits>
GDN_GLOBAL(256)
void Embedding(Params p) {
  constexpr uint32_t kPerDword = 4 / sizeof(Bits);
  const uint64_t token = RowOfBlock();
  if (token >= p.num_tokens) return;
  const uint64_t row = static_cast<uint64_t>(p.ids[token]);
  const uint64_t row_dwords = (p.hidden + kPerDword - 1) / kPerDword;
  const Bits* table = static_cast<const Bits*>(p.table);
  const Bits* flat = table + row * p.hidden;
  const Bits* panel =
      table + (row / kPanelRows * row_dwords * kPanelRows + row % kPanelRows) * kPerDword;
  Bits* out = RowAt<Bits>(p.out, token);
  for (uint32_t k = ThreadIndex(); k < p.hidden; k += BlockThreads()) {
    const uint64_t in_panel =
        static_cast<uint64_t>(k / kPerDword) * kPanelRows * kPerDword + k % kPerDword;
    out[k] = p.row_major != 0 ? flat[k] : panel[in_panel];
  }
}

GDN_GPU_INSTANCES(embedding) = {GDN_GPU_INSTANCE(Params, Embedding<uint32_t>),
                                GDN_GPU_INSTANCE(Params, Embedding<uint16_t>)};

}  // namespace gdn::GDN_GPU_NAMESPACE
