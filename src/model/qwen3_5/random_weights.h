// SPDX-License-Identifier: Apache-2.0
// Weights of a dense Qwen3.5 model out of a seed, in memory: those of the checkpoint that
// WriteRandomCheckpoint writes for the same config, dtype and seed.
#pragma once

#include <map>
#include <string>

#include "base/thread_pool.h"
#include "model/config.h"
#include "model/model.h"
#include "model/qwen3_5/tensor_table.h"
#include "model/random_values.h"
#include "model/weight_source.h"

namespace gdn::qwen3_5 {

// The names' prefix in a checkpoint of this architecture.
std::string PrefixOf(const ModelConfig& config);

// random_checkpoint.h lists the distributions.
ValueDistribution DistributionOf(const TensorSpec& spec, bool tied);

class RandomWeights final : public WeightSource {
 public:
  // The pool and what progress refers to must outlive this. dtype is that of every tensor. Values
  // depend on the seed, a tensor's name and its shape, not on the number of threads.
  RandomWeights(const ModelConfig& config, DType dtype, uint64_t seed, ThreadPool& pool,
                LoadProgress progress);

  size_t total_bytes() const { return total_bytes_; }

  Result<Weight> ReadLinear(const std::string& name) override;
  Result<OwnedTensor> ReadF32(const std::string& name) override;
  Result<OwnedTensor> ReadConv(const std::string& name, DType dtype) override;

 private:
  Result<ConstTensor> Make(const std::string& name);

  DType dtype_;
  uint64_t seed_;
  bool tied_;
  ThreadPool& pool_;
  LoadProgress progress_;
  std::map<std::string, TensorSpec> specs_;
  Storage made_;  // the tensor that Make has made last
  size_t total_bytes_ = 0;
  size_t done_bytes_ = 0;
};

}  // namespace gdn::qwen3_5
