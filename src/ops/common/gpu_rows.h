// SPDX-License-Identifier: Apache-2.0
// Rows and sequences in kernels.
#pragma once

#include "backend/gpu/operands.h"
#include "backend/gpu/port.h"
#include "ops/common/gpu_numerics.h"
#include "ops/common/gpu_row_sum.h"

namespace gdn::GDN_GPU_NAMESPACE {

// The row of a block that RowGrid() (backend/gpu/batch.h) started; it may be past the last.
GDN_DEVICE uint64_t RowOfBlock() { return static_cast<uint64_t>(BlockY()) * GridX() + BlockX(); }

template <class T>
GDN_DEVICE const T* RowAt(const gpu::Rows& rows, uint64_t row) {
  return static_cast<const T*>(rows.data) + static_cast<int64_t>(row) * rows.stride;
}
template <class T>
GDN_DEVICE T* RowAt(const gpu::MutableRows& rows, uint64_t row) {
  return static_cast<T*>(rows.data) + static_cast<int64_t>(row) * rows.stride;
}
template <class T>
GDN_DEVICE const T* HeadAt(const gpu::Heads& heads, uint64_t token, uint32_t head) {
  return static_cast<const T*>(heads.data) + static_cast<int64_t>(token) * heads.stride +
         static_cast<int64_t>(head) * heads.head_stride;
}

// Tokens [first, first + count) of the batch, the index-th piece of a sequence.
struct Segment {
  uint32_t sequence;
  uint32_t index;
  uint32_t first;
  uint32_t count;
};

GDN_DEVICE uint32_t FirstToken(const gpu::Sequences& s, uint32_t n) {
  return static_cast<uint32_t>(s.cu_seqlens[n]);
}
GDN_DEVICE uint32_t CountTokens(const gpu::Sequences& s, uint32_t n) {
  return FirstToken(s, n + 1) - FirstToken(s, n);
}
GDN_DEVICE uint32_t CountSegments(const gpu::Sequences& s, uint32_t n, uint32_t length) {
  return (CountTokens(s, n) + length - 1) / length;
}

// The segment of that number in the batch; there must be one.
GDN_DEVICE Segment SegmentAt(const gpu::Sequences& s, uint32_t number, uint32_t length) {
  uint32_t n = 0;
  for (; n + 1 < s.count; ++n) {
    const uint32_t segments = CountSegments(s, n, length);
    if (number < segments) break;
    number -= segments;
  }
  const uint32_t before = number * length;
  const uint32_t left = CountTokens(s, n) - before;
  return {n, number, FirstToken(s, n) + before, left < length ? left : length};
}

// The sum of partial over the sixteen threads of a row, threads [16 r, 16 r + 16) of the block, for
// all of them; folded in halves as by FoldSums. All threads of a warp take part.
GDN_DEVICE float SumOfSixteen(float partial) {
  GDN_UNROLL for (uint32_t half = 8; half > 0; half /= 2) partial += ShuffleXor(partial, half);
  return partial;
}

// The same for one row that a block of 256 threads has to itself. square_at(i) is an element's
// term; in the order of the scalar references (row_sum.h): sixteen sums by index mod 16. Memory is
// read by all threads, the additions are sixteen threads'. stage: kRowSumStage elements, sums: 16.
using gpu::kRowSumStage;
template <class TermAt>
GDN_DEVICE float SumOfRow(uint32_t n, const SharedArray<float>& stage,
                          const SharedArray<float>& sums, const TermAt& term_at) {
  const uint32_t self = ThreadIndex();
  float partial = 0;
  for (uint32_t first = 0; first < n; first += kRowSumStage) {
    const uint32_t count = n - first < kRowSumStage ? n - first : kRowSumStage;
    for (uint32_t i = self; i < count; i += BlockThreads()) stage[i] = term_at(first + i);
    Barrier();
    if (self < 16) {
      for (uint32_t i = self; i < count; i += 16) partial += stage[i];
    }
    Barrier();
  }
  if (self < 16) sums[self] = partial;
  Barrier();
  float partials[16];
  GDN_UNROLL for (uint32_t i = 0; i < 16; ++i) partials[i] = sums[i];
  return FoldSums(partials);
}

}  // namespace gdn::GDN_GPU_NAMESPACE
