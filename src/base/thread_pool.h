// SPDX-License-Identifier: Apache-2.0
// The one thread pool of the process.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "base/function_ref.h"

namespace gdn {

// Runs a numbered set of independent tasks. Which worker takes which task is not fixed, so a task
// must not depend on its worker but for scratch memory: the partition of work into tasks is the
// caller's and never depends on num_threads(), which is how results stay equal for any number of
// threads. No call allocates or takes a lock.
class ThreadPool {
 public:
  // num_threads >= 1, the caller included.
  explicit ThreadPool(int num_threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int num_threads() const { return static_cast<int>(threads_.size()) + 1; }

  // Calls task(index, worker) once for each index in [0, num_tasks), worker in [0, num_threads()),
  // and returns when all have returned. One call at a time; tasks must not call Run.
  void Run(int64_t num_tasks, FunctionRef<void(int64_t index, int worker)> task);

 private:
  void WorkerLoop(int worker);
  void Drain(int worker);

  std::vector<std::thread> threads_;
  const FunctionRef<void(int64_t, int)>* task_ = nullptr;
  int64_t num_tasks_ = 0;
  alignas(64) std::atomic<int64_t> next_{0};
  alignas(64) std::atomic<uint32_t> generation_{0};
  alignas(64) std::atomic<int> working_{0};
  std::atomic<bool> stopping_{false};
};

}  // namespace gdn
