// SPDX-License-Identifier: Apache-2.0
// Where the weights of a model come from: a checkpoint (weight_reader.h), or random numbers.
#pragma once

#include <string>

#include "base/status.h"
#include "ops/linear/weight.h"
#include "tensor/storage.h"

namespace gdn {

// Names are those of the model's tensor table. Errors: kNotFound for a name that is not there,
// kOutOfMemory.
class WeightSource {
 public:
  virtual ~WeightSource() = default;

  // A matrix [N, K], packed for the linear kernels.
  virtual Result<Weight> ReadLinear(const std::string& name) = 0;
  // A small tensor of any float dtype, as f32 (exact).
  virtual Result<OwnedTensor> ReadF32(const std::string& name) = 0;
  // A convolution [C, 1, Kc] as [C, Kc] in dtype.
  virtual Result<OwnedTensor> ReadConv(const std::string& name, DType dtype) = 0;
};

}  // namespace gdn
