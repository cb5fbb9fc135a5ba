// SPDX-License-Identifier: Apache-2.0
// Checks an operator against its scalar reference, then measures it.
#pragma once

#include <string>

#include "bench/machine_probe.h"
#include "bench/op_case.h"
#include "bench/stats.h"
#include "parity/distance.h"
#include "parity/runner.h"

namespace gdn {

struct OpResult {
  std::string name;    // of the operator
  std::string shape;   // OpCase::shape
  std::string kernel;  // id of the kernel that ran
  Summary ms;          // a call
  int64_t calls = 0;   // a repetition
  double gflops = 0;   // needed flops over the median time
  double gbytes = 0;   // needed bytes over the median time
  // Medians over the repetitions, each against the machine's speed beside it.
  double pct_peak = 0;
  double pct_bw = 0;
  MachineSpeed machine;  // medians
};

// Runs the small instance (SmallDims) with the kernel that the table chooses, or bench.impl(), and
// with the scalar reference on the CPU. Errors: kInternal where an output is too far from it, with
// the distance; what the operator refuses.
Status CheckOp(const OpKind& kind, const OpDims& dims, Workbench& bench);

// repetitions >= 1, after one warm-up. The operator has been checked.
Result<OpResult> MeasureOp(const OpKind& kind, const OpDims& dims, int repetitions,
                           Workbench& bench, MachineProbe& probe);

// The same on a device other than the CPU, whose memory it is worth measuring (Workbench::Open
// without host_can_see_memory). A repetition is a step of as many calls as fill it; pct_bw is the
// share of copy_gbytes (device_probe.h), and no peak is known.
Result<OpResult> MeasureOpOnDevice(const OpKind& kind, const OpDims& dims, int repetitions,
                                   Workbench& bench, double copy_gbytes);

}  // namespace gdn
