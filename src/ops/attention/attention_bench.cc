// SPDX-License-Identifier: Apache-2.0
// Speed of Attention in CPU time of one thread: prefill by flops of the causal half, decode by
// bytes of the cache.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

#include "base/rng.h"
#include "ops/attention/attention.h"
#include "ops/common/simd_target.h"

namespace gdn {
namespace {

double Now() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// The last num_tokens of a context of length.
void Bench(int64_t num_heads, int64_t num_kv_heads, int64_t head_dim, int64_t length,
           int64_t num_tokens) {
  const int64_t blocks = (length + kKvBlockSize - 1) / kKvBlockSize;
  const auto random = [](int64_t count) {
    Rng rng(1);
    std::vector<Bf16> out(static_cast<size_t>(count));
    for (Bf16& x : out) x = FromF32<Bf16>(static_cast<float>(rng.NextUniform() - 0.5));
    return out;
  };
  const Shape cache_shape{blocks + 1, num_kv_heads, kKvBlockSize, head_dim};
  std::vector<Bf16> k = random(cache_shape.NumElements());
  std::vector<Bf16> v = k;
  const std::vector<Bf16> q = random(num_tokens * num_heads * head_dim);
  std::vector<Bf16> out(q.size());
  std::vector<int32_t> positions, table;
  for (int64_t t = length - num_tokens; t < length; ++t) {
    positions.push_back(static_cast<int32_t>(t));
  }
  for (int64_t b = 1; b <= blocks; ++b) table.push_back(static_cast<int32_t>(b));
  const std::vector<int32_t> cu_seqlens = {0, static_cast<int32_t>(num_tokens)};
  ThreadPool pool(1);
  std::vector<std::byte> scratch(AttentionScratchBytes(num_heads, head_dim, 1));
  ExecContext ctx;
  ctx.pool = &pool;
  ctx.scratch = Scratch(scratch);
  AttentionArgs args;
  args.q = ConstTensor(q.data(), Shape{num_tokens, num_heads, head_dim});
  args.cache = {Tensor(k.data(), cache_shape), Tensor(v.data(), cache_shape)};
  args.index = {positions, cu_seqlens, table, blocks};
  args.scale = 0.0625F;
  args.out = Tensor(out.data(), Shape{num_tokens, num_heads, head_dim});
  double seconds = 1e9;
  for (int rep = 0; rep < 5; ++rep) {
    const double start = Now();
    if (!Attention(ctx, args).ok()) std::abort();
    seconds = std::min(seconds, Now() - start);
  }
  double pairs = 0;
  for (const int32_t position : positions) pairs += position + 1;
  const double flops = 4 * pairs * static_cast<double>(num_heads * head_dim);
  const double bytes = 4 * static_cast<double>(length * num_kv_heads * head_dim);
  std::printf(
      "bf16 %s Hq %lld Hkv %lld D %lld context %lld tokens %lld: %.3f ms, %.1f GFLOP/s, %.1f "
      "GB/s\n",
      SimdTarget(), static_cast<long long>(num_heads), static_cast<long long>(num_kv_heads),
      static_cast<long long>(head_dim), static_cast<long long>(length),
      static_cast<long long>(num_tokens), seconds * 1e3, 1e-9 * flops / seconds,
      1e-9 * bytes / seconds);
}

}  // namespace
}  // namespace gdn

int main() {
  gdn::Bench(24, 4, 256, 1024, 1024);
  gdn::Bench(8, 2, 256, 1024, 1024);
  gdn::Bench(24, 4, 256, 4096, 1);
  gdn::Bench(8, 2, 256, 4096, 1);
  gdn::Bench(8, 2, 256, 4096, 8);
  return 0;
}
