// SPDX-License-Identifier: Apache-2.0
// Rows of q, k, v and out between the tensors and the chunk kernel's scratch.

#ifndef GDN_OPS_CHUNK_ROWS_SHARED_INL_H_
#define GDN_OPS_CHUNK_ROWS_SHARED_INL_H_
#include <algorithm>
#include <cstring>

#include "ops/common/tensor_access.h"
#include "ops/gated_delta_rule/head_tasks.h"

namespace gdn {

constexpr size_t RoundUp(size_t x, size_t multiple) {
  return (x + multiple - 1) / multiple * multiple;
}

// Rows and columns of C x C scratch.
inline constexpr auto kChunkStride = static_cast<size_t>(kChunkSize);
inline constexpr auto kTransposed = static_cast<size_t>(kTransposedStride);

}  // namespace gdn
#endif  // GDN_OPS_CHUNK_ROWS_SHARED_INL_H_

#if defined(GDN_OPS_CHUNK_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GDN_OPS_CHUNK_ROWS_INL_H_
#undef GDN_OPS_CHUNK_ROWS_INL_H_
#else
#define GDN_OPS_CHUNK_ROWS_INL_H_
#endif

#include <hwy/cache_control.h>

#include "ops/common/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gdn {
namespace HWY_NAMESPACE {

// One chunk of one value head: where its inputs lie and how large it is.
struct Chunk {
  int64_t first_token;
  size_t num_tokens;
  size_t num_rows;  // num_tokens rounded up to blocks of solve_tril, hence to whole tiles
  size_t k_dim, v_dim;
  size_t key_stride;  // between rows of K columns in scratch
  size_t padded_k;    // columns of those rows that tiles may touch; rows of a panel of state_t
};

// The first two members and num_rows are left to the caller.
inline Chunk ChunkOf(int64_t k_dim, int64_t v_dim) {
  Chunk chunk{};
  chunk.k_dim = static_cast<size_t>(k_dim);
  chunk.v_dim = static_cast<size_t>(v_dim);
  chunk.key_stride = static_cast<size_t>(KeyStride(k_dim));
  chunk.padded_k = static_cast<size_t>(PaddedColumns(k_dim));
  return chunk;
}

// Rows of q, k and v as they are, side by side: in the tensors each may lie on a page of its own, a
// power of two from the next, where they push each other out of the caches.
template <class T>
struct StagedRows {
  T* q;  // [C, K]
  T* k;
  T* v;  // [C, V]

  StagedRows(const Chunk& chunk, float* memory)
      : q(reinterpret_cast<T*>(memory)),
        k(q + kChunkStride * chunk.k_dim),
        v(k + kChunkStride * chunk.k_dim) {}
};

template <class T>
void PrefetchRows(const ConstTensor& tensor, int64_t first, int64_t last, int64_t head) {
  constexpr int64_t kLine = 64 / sizeof(T);
  for (int64_t token = first; token < last; ++token) {
    const T* row = tensor.As<T>() + OffsetOf(tensor, token, head, 0);
    for (int64_t c = 0; c < tensor.dim(2); c += kLine) hwy::Prefetch(row + c);
  }
}

template <class T>
void StageRows(const ConstTensor& tensor, int64_t first, int64_t last, int64_t head, T* out) {
  const auto dim = static_cast<size_t>(tensor.dim(2));
  for (int64_t token = first; token < last; ++token, out += dim) {
    std::memcpy(out, tensor.As<T>() + OffsetOf(tensor, token, head, 0), dim * sizeof(T));
  }
}

// Brings the rows of the chunk that begins at `begin` into the stage, a share of them a step: asked
// for in one step and copied in the next, between the products of the chunk before.
template <class T>
class Stager {
 public:
  Stager(const GatedDeltaRuleArgs& args, const HeadTask& task, int64_t begin, size_t num_steps,
         const StagedRows<T>& staged)
      : args_(args),
        task_(task),
        begin_(begin),
        end_(HWY_MIN(begin + kChunkSize, task.last_token)),
        share_((kChunkSize + static_cast<int64_t>(num_steps) - 1) /
               static_cast<int64_t>(num_steps)),
        staged_(staged) {}

  void Step() {
    const int64_t first = begin_ + asked_;
    const int64_t last = HWY_MIN(first + share_, end_);
    PrefetchRows<T>(args_.q, first, last, task_.key_head);
    PrefetchRows<T>(args_.k, first, last, task_.key_head);
    PrefetchRows<T>(args_.v, first, last, task_.value_head);
    Copy(asked_);
    asked_ += share_;
  }
  void Finish() { Copy(kChunkSize); }

 private:
  // Rows up to `until` of the chunk.
  void Copy(int64_t until) {
    const int64_t first = begin_ + copied_;
    const int64_t last = HWY_MIN(begin_ + until, end_);
    if (first >= last) return;
    StageRows(args_.q, first, last, task_.key_head, staged_.q + copied_ * args_.q.dim(2));
    StageRows(args_.k, first, last, task_.key_head, staged_.k + copied_ * args_.k.dim(2));
    StageRows(args_.v, first, last, task_.value_head, staged_.v + copied_ * args_.v.dim(2));
    copied_ = last - begin_;
  }

  const GatedDeltaRuleArgs& args_;
  const HeadTask& task_;
  int64_t begin_, end_, share_;
  StagedRows<T> staged_;
  int64_t asked_ = 0;
  int64_t copied_ = 0;
};

template <class T>
void StoreOutputs(const GatedDeltaRuleArgs& args, const HeadTask& task, const Chunk& chunk,
                  const T* rows, size_t stride) {
  for (size_t i = 0; i < chunk.num_tokens; ++i) {
    const int64_t token = chunk.first_token + static_cast<int64_t>(i);
    std::memcpy(args.out.As<T>() + OffsetOf(args.out, token, task.value_head, 0), rows + i * stride,
                chunk.v_dim * sizeof(T));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace gdn
HWY_AFTER_NAMESPACE();

#endif  // GDN_OPS_CHUNK_ROWS_INL_H_
