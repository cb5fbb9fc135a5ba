// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "ops/attention/attention_kernels.h"
#include "ops/common/scalar_math.h"

namespace gdn {
namespace {

// Softmax over keys 0 .. last of one query row, a block of keys at a time: m is the greatest score
// so far, sum and acc are relative to exp(m).
template <class T>
void AttendRow(const AttentionArgs& args, const T* q, int64_t seq, int64_t kv_head, int64_t last,
               T* out) {
  const int64_t head_dim = args.q.dim(2);
  float m = -std::numeric_limits<float>::infinity();
  float sum = 0;
  std::array<float, kMaxHeadDim> acc{};
  for (int64_t first = 0; first <= last; first += kKvBlockSize) {
    const int64_t count = std::min(kKvBlockSize, last + 1 - first);
    const int64_t offset = KvOffset(args.cache, args.index, seq, first, kv_head);
    const T* k = args.cache.k.As<T>() + offset;
    const T* v = args.cache.v.As<T>() + offset;
    std::array<float, kKvBlockSize> p;
    float block_max = m;
    for (int64_t j = 0; j < count; ++j) {
      float dot = 0;
      for (int64_t d = 0; d < head_dim; ++d) {
        dot = std::fma(ToF32(q[d]), ToF32(k[j * head_dim + d]), dot);
      }
      p[static_cast<size_t>(j)] = dot * args.scale;
      block_max = std::max(block_max, p[static_cast<size_t>(j)]);
    }
    const float alpha = ExpF32(m - block_max);
    m = block_max;
    float block_sum = 0;
    for (int64_t j = 0; j < count; ++j) {
      float& pj = p[static_cast<size_t>(j)];
      pj = ExpF32(pj - m);
      block_sum += pj;
    }
    sum = sum * alpha + block_sum;
    for (int64_t d = 0; d < head_dim; ++d) {
      float a = acc[static_cast<size_t>(d)] * alpha;
      for (int64_t j = 0; j < count; ++j) {
        a = std::fma(p[static_cast<size_t>(j)], ToF32(v[j * head_dim + d]), a);
      }
      acc[static_cast<size_t>(d)] = a;
    }
  }
  for (int64_t d = 0; d < head_dim; ++d) out[d] = FromF32<T>(acc[static_cast<size_t>(d)] / sum);
}

}  // namespace

void KvCacheStoreRef(const ExecContext& /*ctx*/, const KvCacheStoreArgs& args) {
  const PagedIndex& index = args.index;
  DispatchFloat(args.k.dtype, [&](auto element) {
    using T = decltype(element);
    for (size_t n = 0; n + 1 < index.cu_seqlens.size(); ++n) {
      for (int64_t t = index.cu_seqlens[n]; t < index.cu_seqlens[n + 1]; ++t) {
        for (int64_t h = 0; h < args.k.dim(1); ++h) {
          const int64_t offset = KvOffset(args.cache, index, static_cast<int64_t>(n),
                                          index.positions[static_cast<size_t>(t)], h);
          std::copy_n(args.k.Row<T>(t) + h * args.k.stride(1), args.k.dim(2),
                      args.cache.k.As<T>() + offset);
          std::copy_n(args.v.Row<T>(t) + h * args.v.stride(1), args.v.dim(2),
                      args.cache.v.As<T>() + offset);
        }
      }
    }
  });
}

void AttentionRef(const ExecContext& /*ctx*/, const AttentionArgs& args) {
  const PagedIndex& index = args.index;
  const int64_t num_heads = args.q.dim(1);
  const int64_t group = num_heads / args.cache.k.dim(1);
  DispatchFloat(args.q.dtype, [&](auto element) {
    using T = decltype(element);
    for (size_t n = 0; n + 1 < index.cu_seqlens.size(); ++n) {
      for (int64_t t = index.cu_seqlens[n]; t < index.cu_seqlens[n + 1]; ++t) {
        for (int64_t h = 0; h < num_heads; ++h) {
          AttendRow<T>(args, args.q.Row<T>(t) + h * args.q.stride(1), static_cast<int64_t>(n),
                       h / group, index.positions[static_cast<size_t>(t)],
                       args.out.Row<T>(t) + h * args.out.stride(1));
        }
      }
    }
  });
}

}  // namespace gdn
