// SPDX-License-Identifier: Apache-2.0
#include "base/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

namespace gdn {
namespace {

class ThreadPoolOf : public testing::TestWithParam<int> {};

TEST_P(ThreadPoolOf, CallsEachIndexOnce) {
  ThreadPool pool(GetParam());
  EXPECT_EQ(pool.num_threads(), GetParam());
  for (const int64_t num_tasks : {0, 1, 2, 3, 7, 8, 9, 1000}) {
    std::vector<int> calls(static_cast<size_t>(num_tasks));  // plain: each index has one writer
    pool.Run(num_tasks, [&](int64_t index, int) { ++calls[static_cast<size_t>(index)]; });
    EXPECT_EQ(calls, std::vector<int>(calls.size(), 1)) << num_tasks;
  }
}

TEST_P(ThreadPoolOf, WorkersAreNumberedAndOwnTheirScratch) {
  ThreadPool pool(GetParam());
  const auto num_workers = static_cast<size_t>(pool.num_threads());
  std::vector<int64_t> sums(num_workers);  // plain: one worker runs one task at a time
  std::atomic<bool> in_range = true;
  pool.Run(5000, [&](int64_t index, int worker) {
    if (worker < 0 || worker >= pool.num_threads()) {
      in_range = false;
    } else {
      sums[static_cast<size_t>(worker)] += index;
    }
  });
  EXPECT_TRUE(in_range);
  int64_t total = 0;
  for (const int64_t sum : sums) total += sum;
  EXPECT_EQ(total, 5000 * 4999 / 2);
}

// More threads than cores and runs of changing size: workers come late to most of them.
TEST(ThreadPool, LateWorkersTakeNothingOfTheNextRun) {
  ThreadPool pool(16);
  for (int run = 0; run < 2000; ++run) {
    const int64_t num_tasks = 2 + run * 7 % 23;
    std::vector<std::atomic<int>> calls(static_cast<size_t>(num_tasks));
    pool.Run(num_tasks, [&](int64_t index, int) {
      calls[static_cast<size_t>(index)].fetch_add(1, std::memory_order_relaxed);
    });
    for (const auto& count : calls) ASSERT_EQ(count.load(), 1) << "run " << run;
  }
}

// Each run reads what the last one wrote: a run that returns early or starts late shows.
TEST_P(ThreadPoolOf, ManyRunsFollowOneAnother) {
  ThreadPool pool(GetParam());
  constexpr int64_t kTasks = 16;
  constexpr int kRuns = 300;
  std::vector<int64_t> values(kTasks);
  for (int run = 0; run < kRuns; ++run) {
    const std::vector<int64_t> before = values;
    pool.Run(kTasks, [&](int64_t index, int) {
      const auto i = static_cast<size_t>(index);
      values[i] = before[(i + 1) % kTasks] + 1;
    });
  }
  EXPECT_EQ(values, std::vector<int64_t>(kTasks, kRuns));
}

TEST_P(ThreadPoolOf, WakesWorkersThatWentToSleep) {
  ThreadPool pool(GetParam());
  std::atomic<int> calls = 0;
  for (int run = 0; run < 5; ++run) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));  // far beyond the polling
    pool.Run(64, [&](int64_t, int) { calls.fetch_add(1, std::memory_order_relaxed); });
  }
  EXPECT_EQ(calls, 5 * 64);
}

// The last task is the long one: the caller has to sleep until its worker is done.
TEST_P(ThreadPoolOf, WaitsForTheSlowestTask) {
  ThreadPool pool(GetParam());
  std::vector<int> done(8);
  pool.Run(8, [&](int64_t index, int) {
    std::this_thread::sleep_for(std::chrono::milliseconds(index == 7 ? 20 : 1));
    done[static_cast<size_t>(index)] = 1;
  });
  EXPECT_EQ(done, std::vector<int>(8, 1));
}

TEST_P(ThreadPoolOf, StartsAndStopsWithoutWork) {
  for (int i = 0; i < 20; ++i) const ThreadPool pool(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Threads, ThreadPoolOf, testing::Values(1, 2, 3, 4, 5, 6, 7, 8),
                         testing::PrintToStringParamName());

// A result that the partition alone decides: each task owns a slice and its order of additions.
TEST(ThreadPool, ResultsDoNotDependOnTheNumberOfThreads) {
  const auto sums = [](int num_threads) {
    ThreadPool pool(num_threads);
    std::vector<float> out(37);
    pool.Run(37, [&](int64_t index, int) {
      float sum = 0;
      for (int i = 1; i <= 500; ++i) sum += 1.0F / static_cast<float>(index * 500 + i);
      out[static_cast<size_t>(index)] = sum;
    });
    return out;
  };
  const std::vector<float> want = sums(1);
  for (int num_threads = 2; num_threads <= 8; ++num_threads) EXPECT_EQ(sums(num_threads), want);
}

TEST(ThreadPool, TwoPoolsDoNotDisturbEachOther) {
  ThreadPool outer(3);
  ThreadPool inner(2);
  std::atomic<int> calls = 0;
  for (int run = 0; run < 50; ++run) {
    outer.Run(10, [&](int64_t, int) { calls.fetch_add(1, std::memory_order_relaxed); });
    inner.Run(10, [&](int64_t, int) { calls.fetch_add(1, std::memory_order_relaxed); });
  }
  EXPECT_EQ(calls, 1000);
}

TEST(ThreadPoolDeathTest, NeedsAThread) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(ThreadPool(0), "num_threads >= 1 does not hold");
}

}  // namespace
}  // namespace gdn
