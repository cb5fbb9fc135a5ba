// SPDX-License-Identifier: Apache-2.0
#include "model/device_weights.h"

#include <utility>

namespace gdn {

Result<Weight> DeviceWeights::ReadLinear(const std::string& name) {
  GDN_ASSIGN_OR_RETURN(Weight weight, source_.ReadLinear(name));
  if (stays()) return weight;
  if (backend_.has_vendor_gemm() && weight.layout() != WeightLayout::kRowMajor) {
    GDN_ASSIGN_OR_RETURN(weight, weight.RowMajor());
  }
  GDN_ASSIGN_OR_RETURN(Storage storage,
                       backend_.memory().Allocate(weight.size_bytes(), name.c_str()));
  GDN_RETURN_IF_ERROR(backend_.Write(storage.data(), weight.data(), weight.size_bytes()));
  return weight.In(std::move(storage));
}

Result<OwnedTensor> DeviceWeights::ReadF32(const std::string& name) {
  GDN_ASSIGN_OR_RETURN(OwnedTensor tensor, source_.ReadF32(name));
  return Move(std::move(tensor), name);
}

Result<OwnedTensor> DeviceWeights::ReadConv(const std::string& name, DType dtype) {
  GDN_ASSIGN_OR_RETURN(OwnedTensor tensor, source_.ReadConv(name, dtype));
  return Move(std::move(tensor), name);
}

Result<OwnedTensor> DeviceWeights::Move(OwnedTensor tensor, const std::string& name) {
  if (stays()) return tensor;
  GDN_ASSIGN_OR_RETURN(
      OwnedTensor moved,
      OwnedTensor::Allocate(tensor.view.dtype, tensor.view.shape, name.c_str(), backend_.memory()));
  GDN_RETURN_IF_ERROR(
      backend_.Write(moved.view.data, tensor.view.data, tensor.storage.size_bytes()));
  return moved;
}

}  // namespace gdn
