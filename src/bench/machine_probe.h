// SPDX-License-Identifier: Apache-2.0
// What this machine can do right now: f32 multiply-adds on registers, reads of main memory, each on
// all threads of a pool. Some 10 ms each, so that a measurement can be taken between two of them:
// on a shared machine both move by tens of percent from second to second, and only ratios hold.
#pragma once

#include <cstddef>

#include "base/status.h"
#include "base/thread_pool.h"
#include "tensor/storage.h"

namespace gdn {

struct MachineSpeed {
  double peak_gflops = 0;  // f32, an fma counts 2
  double read_gbytes = 0;  // 1e9 bytes a second
};

class MachineProbe {
 public:
  // 8 times the last-level cache, within 256 MiB and 2 GiB.
  static size_t DefaultBufferBytes();
  // buffer_bytes: of the memory that is read, in whole MiB; 0: the default. The pool must outlive
  // the probe.
  static Result<MachineProbe> Create(ThreadPool& pool, size_t buffer_bytes = 0);

  // One sample.
  MachineSpeed Measure();

  size_t buffer_bytes() const { return buffer_.size_bytes(); }
  // Data that a repetition between two samples meets once is cold: a sample reads this much and
  // more, over whatever the caches held.
  size_t cold_bytes() const { return buffer_bytes() / 2; }

 private:
  MachineProbe(ThreadPool& pool, Storage buffer);

  double MeasurePeak();
  double MeasureRead();

  ThreadPool* pool_;
  Storage buffer_;
  size_t next_task_ = 0;  // of the buffer, where the next sample reads on
};

// A repetition lies between two samples: the better of both, for a sample that the host disturbed
// says less than the machine can do.
MachineSpeed Better(const MachineSpeed& before, const MachineSpeed& after);

}  // namespace gdn
