// SPDX-License-Identifier: Apache-2.0
// Runs the operator that a golden case names, on the case's inputs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "backend/exec_context.h"
#include "parity/golden_case.h"
#include "parity/numerics.h"
#include "tensor/storage.h"

namespace gdn {

// What operators run with: the pool, scratch that grows as asked, the log of kernels.
class Workbench {
 public:
  // On the CPU; impl as in ExecContext.
  Workbench(std::string impl, int num_threads);
  // On any device. Errors: those of OpenBackend.
  static Result<std::unique_ptr<Workbench>> Open(const Device& device, std::string impl,
                                                 int num_threads,
                                                 const BackendOptions& options = {
                                                     .host_can_see_memory = true});

  Result<ExecContext> Context(size_t scratch_bytes = 0);
  // Without the forced kernel: for steps that only move data.
  ExecContext CopyContext();
  Device device() const { return backend_->device(); }
  // Memory that the operators see; the host too, where Open's options say so.
  MemorySource& memory() { return backend_->memory(); }
  // An operator's answer, once the device is done with it.
  Status Finish(const Status& status) { return status.ok() ? backend_->Finish() : status; }
  Backend& backend() { return *backend_; }
  const std::string& impl() const { return impl_; }
  int num_threads() const { return pool_->num_threads(); }
  ThreadPool& pool() { return *pool_; }
  KernelLog& log() { return log_; }

 private:
  Workbench(std::unique_ptr<Backend> backend, std::string impl, int num_threads);

  std::unique_ptr<Backend> backend_;  // outlives what lies in its memory
  std::string impl_;
  std::unique_ptr<ThreadPool> pool_;
  Storage scratch_;
  KernelLog log_;
};

struct Output {
  std::string name;    // of the row; that of the golden tensor, or of a stage
  std::string golden;  // the tensor that it is compared with
  OwnedTensor tensor;
};
using Outputs = std::vector<Output>;

// The names of RunGolden's operators.
std::vector<std::string> GoldenOps();

// Every output that the operator makes of the case. numerics other than the reference are for
// gdn_prefill of 16-bit inputs alone.
// Errors: kInvalidArgument for an op that is not known, tensors and arguments that are missing or
// wrong; what the operators themselves refuse; kUnsupported for an impl that is not there.
Result<Outputs> RunGolden(Workbench& bench, const GoldenCase& golden, const Numerics& numerics);

}  // namespace gdn
