// SPDX-License-Identifier: Apache-2.0
// Reads weights out of a checkpoint, tensor by tensor, giving its pages back as it goes.
#pragma once

#include <string>

#include "base/thread_pool.h"
#include "io/safetensors.h"
#include "model/model.h"
#include "model/weight_source.h"

namespace gdn {

class WeightReader final : public WeightSource {
 public:
  // All must outlive the reader.
  WeightReader(const SafetensorsCheckpoint& checkpoint, ThreadPool& pool, LoadProgress progress,
               size_t total_bytes)
      : checkpoint_(checkpoint), pool_(pool), progress_(progress), total_bytes_(total_bytes) {}

  Result<Weight> ReadLinear(const std::string& name) override;
  Result<OwnedTensor> ReadF32(const std::string& name) override;
  Result<OwnedTensor> ReadConv(const std::string& name, DType dtype) override;

 private:
  void Advance(size_t bytes);

  const SafetensorsCheckpoint& checkpoint_;
  ThreadPool& pool_;
  LoadProgress progress_;
  size_t total_bytes_;
  size_t done_bytes_ = 0;
};

}  // namespace gdn
