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
  // num_threads >= 1, the caller included. Has fewer where the system gives no more.
  explicit ThreadPool(int num_threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int num_threads() const { return static_cast<int>(threads_.size()) + 1; }

  // Calls task(index, worker) once for each index in [0, num_tasks), worker in [0, num_threads()),
  // and returns when all have returned. num_tasks < 2^32 - 1. One call at a time; tasks must not
  // call Run.
  void Run(int64_t num_tasks, FunctionRef<void(int64_t index, int worker)> task);

 private:
  using Task = FunctionRef<void(int64_t index, int worker)>;

  void WorkerLoop(int worker);
  void Drain(uint32_t run, int worker);

  std::vector<std::thread> threads_;
  // Of the run under way. Written between runs alone; read by workers that may be late, who then
  // find the run's number changed and use nothing of what they read.
  std::atomic<const Task*> task_{nullptr};
  std::atomic<uint32_t> num_tasks_{0};
  // High half: the run's number; low half: the next task. One word, so that a worker that slept
  // through a run cannot take a task of the next one by mistake, and nobody has to wait for it.
  alignas(64) std::atomic<uint64_t> ticket_{0};
  alignas(64) std::atomic<uint32_t> completed_{0};
  alignas(64) std::atomic<uint32_t> run_{0};  // what idle workers wait for to change
  std::atomic<bool> stopping_{false};
};

}  // namespace gdn
