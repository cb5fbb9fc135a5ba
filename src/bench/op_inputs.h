// SPDX-License-Identifier: Apache-2.0
// The inputs of a measured operator: random tensors and what owns their memory.
#pragma once

#include <deque>
#include <span>
#include <vector>

#include "backend/backend.h"
#include "base/function_ref.h"
#include "base/status.h"
#include "base/thread_pool.h"
#include "ops/linear/weight.h"
#include "tensor/storage.h"

namespace gdn {

// They lie on the backend's device. The first error sticks; tensors that were asked for afterwards
// are empty. The same calls give the same values, whatever the number of threads.
class OpInputs {
 public:
  // cold_bytes: what inputs that a model reads from memory should span together; 0: one copy does.
  OpInputs(ThreadPool& pool, Backend& backend, size_t cold_bytes)
      : pool_(pool), backend_(backend), cold_bytes_(cold_bytes) {}

  const Status& status() const { return status_; }
  // How many copies of an input of so many bytes are cold when it is their turn again; of tiny ones
  // fewer.
  int64_t NumCopies(size_t bytes) const;

  // Nearly normal (model/random_values.h), within 3.5 std of mean.
  Tensor Random(DType dtype, const Shape& shape, float std = 1, float mean = 0);
  // Rows of the last axis have length 1.
  Tensor UnitRows(DType dtype, const Shape& shape);
  Tensor Zeros(DType dtype, const Shape& shape);
  // copies of one such tensor, along axis 0: [copies * shape[0], ...].
  Tensor RandomCopies(int64_t copies, DType dtype, const Shape& shape, float std = 1);
  // copies of a packed matrix [outs, cols], N(0, 1 / cols).
  std::vector<const Weight*> Matrices(int64_t copies, DType dtype, int64_t outs, int64_t cols);
  std::span<const int32_t> Ints(std::vector<int32_t> values);
  std::span<const uint8_t> Flags(size_t count, bool value);

  // first, first + step, ...
  std::span<const int32_t> Range(int64_t first, int64_t count, int64_t step = 1);

 private:
  // False, with a status, where so much memory is not there.
  bool Fits(size_t bytes);
  bool OnHost() const { return backend_.device().type == DeviceType::kCpu; }
  // Zeros; empty, with a status, where there is no memory.
  OwnedTensor NewTensor(DType dtype, const Shape& shape, MemorySource& memory);
  // A tensor that fill writes on the host, moved to the device.
  Tensor Filled(DType dtype, const Shape& shape, FunctionRef<void(const Tensor&)> fill);
  Result<Storage> Moved(const void* data, size_t bytes);

  ThreadPool& pool_;
  Backend& backend_;
  size_t cold_bytes_;
  Status status_;
  uint64_t next_seed_ = 1;
  std::vector<OwnedTensor> tensors_;
  std::deque<Weight> weights_;  // their addresses stay
  std::deque<std::vector<int32_t>> ints_;
  std::deque<std::vector<uint8_t>> flags_;
};

}  // namespace gdn
