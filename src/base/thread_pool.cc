// SPDX-License-Identifier: Apache-2.0
#include "base/thread_pool.h"

#include <exception>

#include "base/check.h"
#include "base/log.h"
#include "base/str.h"

namespace gdn {
namespace {

// Workers poll this often before they sleep: steps of a decode follow one another within
// microseconds, and a wake-up through the kernel costs tens of them.
constexpr int kSpins = 4000;

// A next task that no run has.
constexpr uint32_t kClosed = 0xFFFFFFFF;

inline void Pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

ThreadPool::ThreadPool(int num_threads) {
  GDN_CHECK(num_threads >= 1);
  threads_.reserve(static_cast<size_t>(num_threads) - 1);
  for (int worker = 1; worker < num_threads; ++worker) {
    // Fewer threads than asked for give the same results, so a system that has no more is no error.
    try {
      threads_.emplace_back([this, worker] { WorkerLoop(worker); });
    } catch (const std::exception& error) {
      Log(LogLevel::kWarning, StrCat("no more than ", worker, " threads: ", error.what()));
      break;
    }
  }
}

ThreadPool::~ThreadPool() {
  stopping_.store(true, std::memory_order_relaxed);
  run_.fetch_add(1, std::memory_order_release);
  run_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadPool::Drain(uint32_t run, int worker) {
  for (;;) {
    uint64_t ticket = ticket_.load(std::memory_order_acquire);
    if (ticket >> 32 != run) return;
    const uint32_t num_tasks = num_tasks_.load(std::memory_order_acquire);
    const auto index = static_cast<uint32_t>(ticket);
    if (index >= num_tasks) return;
    if (!ticket_.compare_exchange_weak(ticket, ticket + 1, std::memory_order_acq_rel)) continue;
    // From here the run cannot end before this task does.
    (*task_.load(std::memory_order_relaxed))(index, worker);
    if (completed_.fetch_add(1, std::memory_order_acq_rel) + 1 == num_tasks) {
      completed_.notify_all();
    }
  }
}

void ThreadPool::Run(int64_t num_tasks, Task task) {
  if (num_tasks <= 0) return;
  if (threads_.empty() || num_tasks == 1) {
    for (int64_t index = 0; index < num_tasks; ++index) task(index, 0);
    return;
  }
  GDN_CHECK(num_tasks < kClosed);
  const auto count = static_cast<uint32_t>(num_tasks);
  const uint32_t run = run_.load(std::memory_order_relaxed) + 1;
  // The last run's ticket is void before anything of this run shows: a late worker that sees the
  // new number of tasks must not find the old ticket good for one more.
  ticket_.store((uint64_t{run} << 32) | kClosed, std::memory_order_release);
  task_.store(&task, std::memory_order_relaxed);
  completed_.store(0, std::memory_order_relaxed);
  num_tasks_.store(count, std::memory_order_release);
  ticket_.store(uint64_t{run} << 32, std::memory_order_release);
  run_.store(run, std::memory_order_release);
  run_.notify_all();
  Drain(run, 0);
  for (int spins = 0;; ++spins) {
    const uint32_t completed = completed_.load(std::memory_order_acquire);
    if (completed == count) return;
    if (spins < kSpins) {
      Pause();
    } else {
      completed_.wait(completed, std::memory_order_acquire);
    }
  }
}

void ThreadPool::WorkerLoop(int worker) {
  uint32_t seen = 0;
  for (;;) {
    for (int spins = 0; spins < kSpins; ++spins) {
      if (run_.load(std::memory_order_acquire) != seen) break;
      Pause();
    }
    run_.wait(seen, std::memory_order_acquire);
    seen = run_.load(std::memory_order_acquire);
    if (stopping_.load(std::memory_order_relaxed)) return;
    Drain(seen, worker);
  }
}

}  // namespace gdn
