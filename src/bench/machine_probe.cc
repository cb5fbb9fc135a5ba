// SPDX-License-Identifier: Apache-2.0
#include "bench/machine_probe.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/machine_probe.cc"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>

#include "ops/common/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gdn {
namespace HWY_NAMESPACE {

// Independent chains: at most 4 fma units with 4 cycles of latency each, less what 16 registers
// leave beside the operands.
#if HWY_ARCH_X86 && HWY_TARGET > HWY_AVX3
inline constexpr int kChains = 12;
#else
inline constexpr int kChains = 16;
#endif

// Returns the number of flops. The sums are stored, so that no compiler drops them.
double RunFma(int64_t steps, float* sums) {
  const DF df;
  VF acc[kChains];  // a C array: every index is a constant after unrolling
  HWY_UNROLL(16)
  for (int i = 0; i < kChains; ++i) acc[i] = hn::Set(df, static_cast<float>(i));
  const VF x = hn::Set(df, 0.999F);
  const VF y = hn::Set(df, 0.001F);
  for (int64_t step = 0; step < steps; ++step) {
    HWY_UNROLL(16)
    for (VF& chain : acc) chain = hn::MulAdd(chain, x, y);
  }
  VF sum = acc[0];
  HWY_UNROLL(16)
  for (int i = 1; i < kChains; ++i) sum = hn::Add(sum, acc[i]);
  hn::StoreU(sum, df, sums);
  return 2.0 * static_cast<double>(steps) * kChains * static_cast<double>(hn::Lanes(df));
}

// Reads bytes, a multiple of 256.
uint32_t RunRead(const std::byte* data, size_t bytes) {
  constexpr size_t kStep = 256;
  constexpr size_t kAhead = 4096;  // 1 to 8 KiB are equal within the noise (Zen 3, November 2026)
  const hn::ScalableTag<uint32_t> du;
  const size_t lanes = hn::Lanes(du);
  auto any = hn::Zero(du);
  for (size_t at = 0; at < bytes; at += kStep) {
    for (size_t line = 0; line < kStep; line += 64) hwy::Prefetch(data + at + line + kAhead);
    const auto* words = reinterpret_cast<const uint32_t*>(data + at);
    for (size_t i = 0; i < kStep / 4; i += lanes) any = hn::Or(any, hn::LoadU(du, words + i));
  }
  return hn::GetLane(hn::MaxOfLanes(du, any));
}

}  // namespace HWY_NAMESPACE
}  // namespace gdn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <utility>

namespace gdn {
namespace {

HWY_EXPORT(RunFma);
HWY_EXPORT(RunRead);

// A sample is many tasks, so that a thread that the host holds up takes fewer of them, as it does
// with the tasks of a kernel.
constexpr int64_t kFmaTasksPerThread = 40;
constexpr int64_t kFmaSteps = 100'000;  // 0.2 to 0.3 ms
constexpr size_t kReadTaskBytes = size_t{1} << 20;
constexpr size_t kReadSampleBytes = size_t{192} << 20;
constexpr size_t kMinBufferBytes = size_t{256} << 20;
constexpr size_t kMaxBufferBytes = size_t{2} << 30;

template <class F>
double Seconds(const F& body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

size_t MachineProbe::DefaultBufferBytes() {
  const long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);  // 0 or -1 where the system does not say
  const size_t wanted = 8 * static_cast<size_t>(std::max(cache, 0L));
  return std::clamp(wanted, kMinBufferBytes, kMaxBufferBytes);
}

Result<MachineProbe> MachineProbe::Create(ThreadPool& pool, size_t buffer_bytes) {
  const size_t wanted = buffer_bytes > 0 ? buffer_bytes : DefaultBufferBytes();
  const size_t whole = std::max<size_t>(1, wanted / kReadTaskBytes) * kReadTaskBytes;
  GDN_ASSIGN_OR_RETURN(Storage buffer, Storage::Allocate(whole, "the probe of the memory's speed"));
  // Written once: untouched pages are all one page of zeros, which stays in a cache.
  const auto tasks = static_cast<int64_t>(buffer.size_bytes() / kReadTaskBytes);
  pool.Run(tasks, [&](int64_t task, int) {
    std::memset(buffer.data() + static_cast<size_t>(task) * kReadTaskBytes, 1, kReadTaskBytes);
  });
  return MachineProbe(pool, std::move(buffer));
}

MachineProbe::MachineProbe(ThreadPool& pool, Storage buffer)
    : pool_(&pool), buffer_(std::move(buffer)) {}

double MachineProbe::MeasurePeak() {
  const int64_t tasks = kFmaTasksPerThread * pool_->num_threads();
  std::atomic<double> flops = 0;
  const double seconds = Seconds([&] {
    pool_->Run(tasks, [&](int64_t, int) {
      std::array<float, 64> sums;
      flops.store(HWY_DYNAMIC_DISPATCH(RunFma)(kFmaSteps, sums.data()), std::memory_order_relaxed);
    });
  });
  return 1e-9 * flops.load() * static_cast<double>(tasks) / seconds;
}

double MachineProbe::MeasureRead() {
  const size_t all = buffer_.size_bytes() / kReadTaskBytes;
  const size_t tasks = std::min(all, kReadSampleBytes / kReadTaskBytes);
  const double seconds = Seconds([&] {
    pool_->Run(static_cast<int64_t>(tasks), [&](int64_t task, int) {
      const size_t at = (next_task_ + static_cast<size_t>(task)) % all * kReadTaskBytes;
      GDN_CHECK(HWY_DYNAMIC_DISPATCH(RunRead)(buffer_.data() + at, kReadTaskBytes) != 0);
    });
  });
  next_task_ = (next_task_ + tasks) % all;
  return 1e-9 * static_cast<double>(tasks * kReadTaskBytes) / seconds;
}

MachineSpeed MachineProbe::Measure() {
  MachineSpeed out;
  out.peak_gflops = MeasurePeak();
  out.read_gbytes = MeasureRead();
  return out;
}

MachineSpeed Better(const MachineSpeed& before, const MachineSpeed& after) {
  return {std::max(before.peak_gflops, after.peak_gflops),
          std::max(before.read_gbytes, after.read_gbytes)};
}

}  // namespace gdn
#endif  // HWY_ONCE
