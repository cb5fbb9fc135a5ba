// SPDX-License-Identifier: Apache-2.0
// What the stages of the chunk form share in kernels: where things lie, and tiles 64 deep in shared
// memory.
#pragma once

#include "ops/common/gpu_rows.h"
#include "ops/common/gpu_tile.h"
#include "ops/gated_delta_rule/gated_delta_rule_gpu.h"

namespace gdn::GDN_GPU_NAMESPACE {

using GdrParams = gpu::GatedDeltaRuleParams;
constexpr uint32_t kChunk = gpu::kGdrChunk;
constexpr uint32_t kPitch = gpu::kGdrPitch;

// Element 0 of a chunk of a head in a part of scratch that has size elements each.
template <class T>
GDN_DEVICE T* PartAt(const GdrParams& p, void* part, uint32_t chunk, uint32_t head, uint32_t size) {
  return static_cast<T*>(part) + (static_cast<uint64_t>(chunk) * p.num_value_heads + head) * size;
}

// Rows of memory, the first of them at data: 0 from row num_rows and from column num_columns on.
template <class T>
struct GlobalRows {
  const T* data;
  int64_t stride;
  uint32_t num_rows;
  uint32_t num_columns;

  GDN_DEVICE T At(uint32_t i, uint32_t m) const {
    return i < num_rows && m < num_columns ? data[static_cast<int64_t>(i) * stride + m]
                                           : FromF32<T>(0);
  }
  GDN_DEVICE const T* Row(uint32_t i) const { return data + static_cast<int64_t>(i) * stride; }
};

// tile[i, m] = rows[i, first + m] for i < kRows, m < 64. With pairs, of 16 bits, two at a time.
template <uint32_t kRows, uint32_t kThreads, class T>
GDN_DEVICE void FillRows(const SharedArray<T>& tile, const GlobalRows<T>& rows, uint32_t first,
                         bool has_pairs) {
  if constexpr (sizeof(T) == 2) {
    if (has_pairs) {
      GDN_UNROLL for (uint32_t e = 0; e < kRows * kChunk / 2 / kThreads; ++e) {
        const uint32_t at = e * kThreads + ThreadIndex();
        const uint32_t i = at / (kChunk / 2);
        const uint32_t m = at % (kChunk / 2) * 2;
        uint32_t pair = 0;
        if (i < rows.num_rows && first + m < rows.num_columns) {
          pair = *reinterpret_cast<const uint32_t*>(rows.Row(i) + first + m);
        }
        StorePair<T>(tile, i * kPitch + m, pair);
      }
      return;
    }
  }
  for (uint32_t at = ThreadIndex(); at < kRows * kChunk; at += kThreads) {
    tile[at / kChunk * kPitch + at % kChunk] = rows.At(at / kChunk, first + at % kChunk);
  }
}

// tile[c, m] = value(c, m), c < kColumns, m < 64, for values whose memory has c innermost.
template <uint32_t kColumns, uint32_t kThreads, class T, class Value>
GDN_DEVICE void FillColumns(const SharedArray<T>& tile, const Value& value) {
  for (uint32_t at = ThreadIndex(); at < kColumns * kChunk; at += kThreads) {
    tile[at % kColumns * kPitch + at / kColumns] = value(at % kColumns, at / kColumns);
  }
}

// cum[i] = the sum of a chunk's log decays up to i, added in lane-shift order: 1, 2, 4, .. 32
// apart. For all threads, who see it when it returns.
GDN_DEVICE void CumulateLogDecay(const GdrParams& p, const Segment& chunk, uint32_t head,
                                 const SharedArray<float>& cum) {
  const uint32_t i = ThreadIndex();
  if (i < kChunk) {
    cum[i] = i < chunk.count ? RowAt<float>(p.log_decay, chunk.first + i)[head] : 0.0F;
  }
  for (uint32_t shift = 1; shift < kChunk; shift *= 2) {
    Barrier();
    const bool has_left = i >= shift && i < kChunk;
    const float left = has_left ? cum[i - shift] : 0.0F;
    Barrier();
    if (has_left) cum[i] += left;
  }
  Barrier();
}

// Tiles of 16 x 16 on and below the diagonal of 64 x 64, by number.
constexpr uint32_t kLowerTiles = 10;
GDN_DEVICE uint32_t LowerRow(uint32_t number) {
  return number < 1 ? 0 : number < 3 ? 1 : number < 6 ? 2 : 3;
}
GDN_DEVICE uint32_t LowerColumn(uint32_t number) {
  const uint32_t row = LowerRow(number);
  return number - row * (row + 1) / 2;
}

}  // namespace gdn::GDN_GPU_NAMESPACE
