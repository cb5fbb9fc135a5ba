// SPDX-License-Identifier: Apache-2.0
// Speed of Linear against the machine's own limits, all the best of the same repetitions:
// ./linear_bench [threads] [N] [K]. With one thread its CPU time counts, so that other work on the
// machine disturbs little.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/linear/linear_bench.cc"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>

#include "ops/common/fma_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gdn {
namespace HWY_NAMESPACE {

// Multiply-adds on registers and one cache line: returns how many.
int64_t PeakFma(float* data) {
  constexpr int kRows = kTileMaxRows;
  constexpr int kVecs = TileVecs(kRows);
  constexpr int64_t kSteps = 200000;
  TileAccs<kRows, kVecs> acc;
  ZeroTile(acc);
  FmaTile<kRows, kVecs>(data, 0, 1, data, 0, kSteps, acc);
  StoreTile(acc, data + 64, kTileCols);
  return kSteps * kRows * kVecs * kTileLanes;
}

float ReadAll(const float* data, int64_t count) {
  VF sum0 = hn::Zero(DF());
  VF sum1 = sum0;
  for (int64_t i = 0; i < count; i += 2 * kTileLanes) {
    hwy::Prefetch(data + i + 512);
    sum0 = hn::Add(sum0, hn::LoadU(DF(), data + i));
    sum1 = hn::Add(sum1, hn::LoadU(DF(), data + i + kTileLanes));
  }
  return hn::GetLane(hn::SumOfLanes(DF(), hn::Add(sum0, sum1)));
}

}  // namespace HWY_NAMESPACE
}  // namespace gdn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

#include "base/rng.h"
#include "ops/common/simd_target.h"
#include "ops/linear/linear.h"

namespace gdn {
namespace {

HWY_EXPORT(PeakFma);
HWY_EXPORT(ReadAll);

double Now(const ThreadPool& pool) {
  timespec now;
  clock_gettime(pool.num_threads() == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

template <class F>
double Seconds(const ThreadPool& pool, const F& body) {
  const double start = Now(pool);
  body();
  return Now(pool) - start;
}

double PeakGflops(ThreadPool& pool) {
  std::vector<std::vector<float>> data(static_cast<size_t>(pool.num_threads()),
                                       std::vector<float>(1024));
  int64_t fmas = 0;
  const double seconds = Seconds(pool, [&] {
    pool.Run(pool.num_threads(), [&](int64_t task, int) {
      const int64_t count = HWY_DYNAMIC_DISPATCH(PeakFma)(data[static_cast<size_t>(task)].data());
      if (task == 0) fmas = count * pool.num_threads();
    });
  });
  return 2e-9 * static_cast<double>(fmas) / seconds;
}

double ReadGbytes(ThreadPool& pool, const Weight& weight) {
  constexpr int64_t kTask = 65536;
  const auto* data = static_cast<const float*>(weight.data());
  const auto tasks = static_cast<int64_t>(weight.size_bytes() / 4) / kTask;
  std::vector<float> sums(static_cast<size_t>(tasks));
  const double seconds = Seconds(pool, [&] {
    pool.Run(tasks, [&](int64_t task, int) {
      sums[static_cast<size_t>(task)] = HWY_DYNAMIC_DISPATCH(ReadAll)(data + task * kTask, kTask);
    });
  });
  return 4e-9 * static_cast<double>(tasks * kTask) / seconds;
}

template <class T>
void Bench(int threads, int64_t outs, int64_t cols) {
  Rng rng(1);
  std::vector<T> rows(static_cast<size_t>(outs * cols));
  for (T& value : rows) value = FromF32<T>(static_cast<float>(rng.NextUniform() - 0.5));
  ThreadPool pool(threads);
  const double pack_seconds = Seconds(pool, [&] {
    const auto warm =
        Weight::Pack(ConstTensor(rows.data(), Shape{outs, cols}), pool, [](int64_t, int64_t) {});
    if (!warm.ok()) std::abort();
  });
  const Weight weight =
      Weight::Pack(ConstTensor(rows.data(), Shape{outs, cols}), pool, [](int64_t, int64_t) {
      }).value();
  const auto gbytes = 1e-9 * static_cast<double>(weight.size_bytes());
  std::printf("%s, %s, %d threads, N %lld, K %lld; packed at %.1f GB/s\n", Name(weight.dtype()),
              SimdTarget(), threads, static_cast<long long>(outs), static_cast<long long>(cols),
              gbytes / pack_seconds);
  for (const int64_t m : {1, 2, 3, 4, 6, 8, 12, 16, 32, 64, 128, 512}) {
    const std::vector<T> x(static_cast<size_t>(m * cols), FromF32<T>(0.5F));
    std::vector<T> out(static_cast<size_t>(m * outs));
    std::vector<std::byte> scratch(LinearScratchBytes(m, cols, threads) + 64);
    ExecContext ctx;
    ctx.pool = &pool;
    ctx.scratch = Scratch(
        std::span(scratch).subspan((64 - reinterpret_cast<uintptr_t>(scratch.data()) % 64) % 64));
    LinearArgs args;
    args.x = ConstTensor(x.data(), Shape{m, cols});
    args.weight = &weight;
    args.round_to = DTypeOf<T>();
    args.out = Tensor(out.data(), Shape{m, outs});
    double time = 1e9;
    double peak = 0;
    double read = 0;
    for (int rep = 0; rep < 7; ++rep) {
      peak = std::max(peak, PeakGflops(pool));
      read = std::max(read, ReadGbytes(pool, weight));
      time = std::min(time, Seconds(pool, [&] {
                        if (!Linear(ctx, args).ok()) std::abort();
                      }));
    }
    const double gflops = 2e-9 * static_cast<double>(m * outs * cols) / time;
    std::printf("M %4lld  %8.3f ms  %6.1f GFLOP/s %3.0f%% of %.0f   %5.1f GB/s %3.0f%% of %.1f\n",
                static_cast<long long>(m), time * 1e3, gflops, 100 * gflops / peak, peak,
                gbytes / time, 100 * gbytes / time / read, read);
  }
}

}  // namespace
}  // namespace gdn

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 2;
  const int64_t outs = argc > 2 ? std::atoll(argv[2]) : 4096;
  const int64_t cols = argc > 3 ? std::atoll(argv[3]) : 4096;
  gdn::Bench<gdn::Bf16>(threads, outs, cols);
  gdn::Bench<gdn::F16>(threads, outs, cols);
  gdn::Bench<float>(threads, outs, cols);
  return 0;
}
#endif  // HWY_ONCE
