// SPDX-License-Identifier: Apache-2.0
// The weights of another source, moved to a device as they come.
#pragma once

#include <string>

#include "backend/backend.h"
#include "model/weight_source.h"

namespace gdn {

class DeviceWeights final : public WeightSource {
 public:
  // Both outlive it. On the CPU the tensors stay where they are.
  DeviceWeights(WeightSource& source, Backend& backend) : source_(source), backend_(backend) {}

  Result<Weight> ReadLinear(const std::string& name) override;
  Result<OwnedTensor> ReadF32(const std::string& name) override;
  Result<OwnedTensor> ReadConv(const std::string& name, DType dtype) override;

 private:
  bool stays() const { return backend_.device().type == DeviceType::kCpu; }
  Result<OwnedTensor> Move(OwnedTensor tensor, const std::string& name);

  WeightSource& source_;
  Backend& backend_;
};

}  // namespace gdn
