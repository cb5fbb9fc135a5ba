// SPDX-License-Identifier: Apache-2.0
#include "base/thread_pool.h"

#include "base/check.h"

namespace gdn {
namespace {

// Workers poll this often before they sleep: steps of a decode follow one another within
// microseconds, and a wake-up through the kernel costs tens of them.
constexpr int kSpins = 4000;

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
    threads_.emplace_back([this, worker] { WorkerLoop(worker); });
  }
}

ThreadPool::~ThreadPool() {
  stopping_.store(true, std::memory_order_relaxed);
  generation_.fetch_add(1, std::memory_order_release);
  generation_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadPool::Drain(int worker) {
  for (;;) {
    const int64_t index = next_.fetch_add(1, std::memory_order_relaxed);
    if (index >= num_tasks_) return;
    (*task_)(index, worker);
  }
}

void ThreadPool::Run(int64_t num_tasks, FunctionRef<void(int64_t, int)> task) {
  if (num_tasks <= 0) return;
  if (threads_.empty() || num_tasks == 1) {
    for (int64_t index = 0; index < num_tasks; ++index) task(index, 0);
    return;
  }
  task_ = &task;
  num_tasks_ = num_tasks;
  next_.store(0, std::memory_order_relaxed);
  working_.store(static_cast<int>(threads_.size()), std::memory_order_relaxed);
  generation_.fetch_add(1, std::memory_order_release);
  generation_.notify_all();
  Drain(0);
  // Every worker reports back, even one that found no task left: only then may task_ be reused.
  for (int spins = 0;; ++spins) {
    const int working = working_.load(std::memory_order_acquire);
    if (working == 0) return;
    if (spins < kSpins) {
      Pause();
    } else {
      working_.wait(working, std::memory_order_acquire);
    }
  }
}

void ThreadPool::WorkerLoop(int worker) {
  uint32_t seen = 0;
  for (;;) {
    for (int spins = 0; spins < kSpins; ++spins) {
      if (generation_.load(std::memory_order_acquire) != seen) break;
      Pause();
    }
    generation_.wait(seen, std::memory_order_acquire);
    ++seen;
    if (stopping_.load(std::memory_order_relaxed)) return;
    Drain(worker);
    if (working_.fetch_sub(1, std::memory_order_acq_rel) == 1) working_.notify_all();
  }
}

}  // namespace gdn
