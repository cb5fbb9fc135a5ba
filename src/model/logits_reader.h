// SPDX-License-Identifier: Apache-2.0
// Brings a step's logits from a device to the host: whole rows, or the id of the largest alone.
#pragma once

#include <span>
#include <vector>

#include "backend/exec_context.h"
#include "base/status.h"
#include "model/batch.h"
#include "tensor/storage.h"
#include "tensor/tensor.h"

namespace gdn {

class LogitsReader {
 public:
  // Allocates for steps within the limits. Errors: kOutOfMemory.
  Status Plan(const RunLimits& limits, int64_t vocab_size);

  // Waits for the step. Returns logits [M, vocab] f32 on the host, without the rows of which the
  // batch wants the largest alone; valid until the next call. largest [M] i32 is the device's
  // memory for their ids.
  Result<ConstTensor> Read(const ExecContext& exec, const Batch& batch, const ConstTensor& logits,
                           const Tensor& largest);
  // As Model::largest().
  std::span<const int32_t> largest() const { return largest_; }

 private:
  Status ReadRows(Backend& backend, std::span<const uint8_t> left_out, const ConstTensor& logits);

  Storage logits_;
  std::vector<int32_t> largest_;
};

}  // namespace gdn
