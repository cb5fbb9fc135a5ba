// SPDX-License-Identifier: Apache-2.0
// Kernels that are right and kernels that break a rule: the emulation says which.
#define GDN_GPU_WARP 32
#define GDN_GPU_NAMESPACE gpu_test

#include "backend/gpu/emu/emulator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "backend/gpu/port.h"

namespace gdn::gpu_test {
namespace {

using Order = gpu::emu::Options::Order;
using testing::HasSubstr;

constexpr uint32_t kThreads = 128;

struct Params {
  float* out = nullptr;
  uint32_t mistake = 0;  // of a kernel; 0: none
};

template <void (*kKernel)(Params)>
Status RunKernel(const Params& params, const gpu::emu::Options& options = {.check_races = true},
                 uint32_t shared_bytes = 2048, uint32_t threads = kThreads) {
  ThreadPool pool(2);
  constexpr gpu::KernelEntry entry = MakeEntry<Params, kKernel>();
  return gpu::emu::Run({.name = "kernel",
                        .run = entry.run,
                        .params = &params,
                        .grid = {.x = 3, .y = 2},
                        .threads = threads,
                        .shared_bytes = shared_bytes},
                       options, pool);
}

uint64_t BlockNumber() { return BlockY() * GridX() + BlockX(); }

// The block's values, each thread's from the one on the other side. Mistake: no barrier between.
void Swap(Params p) {
  SharedMemory shared;
  const auto values = shared.Take<float>(kThreads);
  values[ThreadIndex()] = static_cast<float>(ThreadIndex());
  if (p.mistake == 0) Barrier();
  p.out[BlockNumber() * kThreads + ThreadIndex()] = values[kThreads - 1 - ThreadIndex()];
}

std::vector<float> Swapped(const gpu::emu::Options& options, uint32_t mistake, Status& status) {
  std::vector<float> out(6 * kThreads);
  status = RunKernel<Swap>({out.data(), mistake}, options);
  return out;
}

TEST(Emulator, GivesTheSameInEveryOrder) {
  std::vector<float> want(6 * kThreads);
  for (size_t i = 0; i < want.size(); ++i) {
    want[i] = static_cast<float>(kThreads - 1 - i % kThreads);
  }
  for (const uint32_t warp : {32U, 64U}) {
    for (const Order order : {Order::kForward, Order::kReversed, Order::kShuffled}) {
      for (const bool check : {false, true}) {
        Status status;
        EXPECT_EQ(Swapped({.warp_size = warp, .order = order, .check_races = check}, 0, status),
                  want);
        EXPECT_TRUE(status.ok()) << status.message();
      }
    }
  }
}

TEST(Emulator, FindsAMissingBarrierByItsRace) {
  for (const Order order : {Order::kForward, Order::kReversed, Order::kShuffled}) {
    Status status;
    Swapped({.order = order, .check_races = true}, 1, status);
    ASSERT_FALSE(status.ok());
    EXPECT_THAT(
        std::string(status.message()),
        testing::AnyOf(HasSubstr("no barrier orders"), HasSubstr("that nothing has written")));
    EXPECT_THAT(std::string(status.message()), HasSubstr("emulator_gpu_test.cc:"));
  }
}

TEST(Emulator, ShowsAMissingBarrierInTheResults) {
  Status status;
  const std::vector<float> forward = Swapped({.order = Order::kForward}, 1, status);
  const std::vector<float> reversed = Swapped({.order = Order::kReversed}, 1, status);
  EXPECT_NE(forward, reversed);
}

// Mistakes: 1 no barrier after the last reading of a round, 2 neighbours write one element.
void Rounds(Params p) {
  SharedMemory shared;
  const auto values = shared.Take<float>(kThreads);
  float sum = 0;
  for (uint32_t round = 0; round < 2; ++round) {
    const uint32_t at = p.mistake == 2 ? ThreadIndex() / 2 : ThreadIndex();
    values[at] = static_cast<float>(round);
    Barrier();
    sum += values[(at + 1) % kThreads / (p.mistake == 2 ? 2 : 1)];
    if (p.mistake != 1) Barrier();
  }
  p.out[BlockNumber() * kThreads + ThreadIndex()] = sum;
}

TEST(Emulator, FindsWritesThatNothingOrders) {
  std::vector<float> out(6 * kThreads);
  EXPECT_TRUE(RunKernel<Rounds>({out.data(), 0}).ok());
  for (const uint32_t mistake : {1U, 2U}) {
    const Status status = RunKernel<Rounds>({out.data(), mistake});
    ASSERT_FALSE(status.ok()) << mistake;
    EXPECT_THAT(std::string(status.message()), HasSubstr("race: shared memory is written"));
  }
}

// Inside a warp its own barrier is enough, between warps it is not.
void WarpSwap(Params p) {
  SharedMemory shared;
  const auto values = shared.Take<float>(kThreads);
  values[ThreadIndex()] = static_cast<float>(ThreadIndex());
  WarpBarrier();
  const uint32_t from = p.mistake == 0 ? ThreadIndex() ^ 1U : (ThreadIndex() + 32) % kThreads;
  p.out[BlockNumber() * kThreads + ThreadIndex()] = values[from];
}

TEST(Emulator, KnowsWhatABarrierOfAWarpOrders) {
  std::vector<float> out(6 * kThreads);
  EXPECT_TRUE(RunKernel<WarpSwap>({out.data(), 0}).ok());
  EXPECT_EQ(out[6], 7);
  EXPECT_FALSE(RunKernel<WarpSwap>({out.data(), 1}).ok());
}

// A sum over the warp. Mistakes: 1 a wrong lane, 2 a lane outside of it, 3 half of the lanes.
void WarpSum(Params p) {
  float sum = static_cast<float>(ThreadIndex() % kWarpSize);
  if (p.mistake == 3 && ThreadIndex() % kWarpSize >= 16) return;
  for (uint32_t mask = kWarpSize / 2; mask > 0; mask /= 2) {
    sum += p.mistake == 1 && mask == 4   ? ShuffleXor(sum, 8)
           : p.mistake == 2 && mask == 4 ? Shuffle(sum, kWarpSize + 3)
                                         : ShuffleXor(sum, mask);
  }
  p.out[BlockNumber() * kThreads + ThreadIndex()] = sum;
}

TEST(Emulator, FindsAWrongLane) {
  std::vector<float> right(6 * kThreads);
  EXPECT_TRUE(RunKernel<WarpSum>({right.data(), 0}).ok());
  EXPECT_EQ(right, std::vector<float>(6 * kThreads, 31 * 16));
  std::vector<float> wrong(6 * kThreads);
  EXPECT_TRUE(RunKernel<WarpSum>({wrong.data(), 1}).ok());
  EXPECT_NE(wrong, right);
  EXPECT_THAT(std::string(RunKernel<WarpSum>({wrong.data(), 2}).message()),
              HasSubstr("lane is outside of the warp: 35 of 32"));
  EXPECT_THAT(std::string(RunKernel<WarpSum>({wrong.data(), 3}).message()),
              HasSubstr("lane has ended"));
}

// Mistakes: 1 an element past the end, 2 one from a part of it, 3 a pair at an odd index, 4 more
// than the launch gave, 5 one that nobody wrote.
void Shared(Params p) {
  SharedMemory shared;
  const auto values = shared.Take<uint16_t>(p.mistake == 4 ? 2000 : kThreads);
  const auto part = values + 100;
  values[p.mistake == 1 && ThreadIndex() == 5 ? kThreads : ThreadIndex()] = uint16_t{1};
  Barrier();
  const uint32_t last = ThreadIndex() == kThreads - 1 ? 28 : 27;
  uint32_t sum = part[p.mistake == 2 ? last : 27];
  sum += LoadPair<uint16_t>(values, p.mistake == 3 ? 3 : 2);
  if (p.mistake == 5) sum += shared.Take<uint16_t>(8)[3];
  p.out[BlockNumber() * kThreads + ThreadIndex()] = static_cast<float>(sum);
}

TEST(Emulator, FindsIndicesOutOfSharedMemory) {
  std::vector<float> out(6 * kThreads);
  EXPECT_TRUE(RunKernel<Shared>({out.data(), 0}).ok());
  EXPECT_EQ(out[0], 1 + 65537);
  const auto message = [&](uint32_t mistake) {
    return std::string(RunKernel<Shared>({out.data(), mistake}).message());
  };
  EXPECT_THAT(message(1), HasSubstr("index in shared memory: 128 of 128 at emulator_gpu_test.cc:"));
  EXPECT_THAT(message(1), HasSubstr("thread 5)"));
  EXPECT_THAT(message(2), HasSubstr("index in shared memory: 28 of 28"));
  EXPECT_THAT(message(3), HasSubstr("pair in shared memory: 3 of 128"));
  EXPECT_THAT(message(4), HasSubstr("shared memory is used up: 4000 of 2048"));
  EXPECT_THAT(message(5), HasSubstr("read that nothing has written"));
}

TEST(Emulator, PoisonsSharedMemory) {
  std::vector<float> out(6 * kThreads);
  EXPECT_TRUE(RunKernel<Shared>({out.data(), 5}, {.check_races = false}).ok());
  EXPECT_EQ(out[0], 1 + 65537 + 65535);
}

// Mistakes: 1 two places, 2 some wait for the block and some for the warp.
void Barriers(Params p) {
  if (ThreadIndex() >= 96) return;  // who has ended is not waited for
  if (p.mistake == 1 && ThreadIndex() >= 64) Barrier();
  if (p.mistake == 2 && ThreadIndex() % kWarpSize == 0) WarpBarrier();
  Barrier();
  p.out[BlockNumber() * kThreads + ThreadIndex()] = 1;
}

TEST(Emulator, NamesDivergentBarriersAndDeadlocks) {
  std::vector<float> out(6 * kThreads);
  EXPECT_TRUE(RunKernel<Barriers>({out.data(), 0}).ok());
  const std::string divergent(RunKernel<Barriers>({out.data(), 1}).message());
  EXPECT_THAT(divergent,
              HasSubstr("barrier of the block: others of it wait at emulator_gpu_test.cc:"));
  const std::string deadlock(RunKernel<Barriers>({out.data(), 2}).message());
  EXPECT_THAT(deadlock, HasSubstr("deadlock: thread 0 waits at emulator_gpu_test.cc:"));
  EXPECT_THAT(deadlock, HasSubstr("thread 1 waits at emulator_gpu_test.cc:"));
}

TEST(Emulator, WantsWholeWarps) {
  std::vector<float> out(6 * kThreads);
  for (const uint32_t threads : {0U, 16U, 100U, 2048U}) {
    EXPECT_THAT(std::string(RunKernel<Barriers>({out.data(), 0}, {}, 0, threads).message()),
                HasSubstr("no number of warps"));
  }
}

}  // namespace
}  // namespace gdn::gpu_test
