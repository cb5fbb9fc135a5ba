// SPDX-License-Identifier: Apache-2.0
#include "model/weight_reader.h"

#include <utility>

namespace gdn {
namespace {

template <class From, class To>
void ConvertAll(const From* from, int64_t count, To* to) {
  for (int64_t i = 0; i < count; ++i) to[i] = FromF32<To>(ToF32(from[i]));
}

void Convert(const ConstTensor& from, const Tensor& to) {
  DispatchFloat(from.dtype, [&](auto from_type) {
    DispatchFloat(to.dtype, [&](auto to_type) {
      ConvertAll(from.As<decltype(from_type)>(), from.shape.NumElements(),
                 to.As<decltype(to_type)>());
    });
  });
}

size_t SizeBytes(const ConstTensor& tensor) {
  return static_cast<size_t>(tensor.shape.NumElements()) * SizeOf(tensor.dtype);
}

}  // namespace

void WeightReader::Advance(size_t bytes) {
  done_bytes_ += bytes;
  progress_(done_bytes_, total_bytes_);
}

Result<Weight> WeightReader::ReadLinear(const std::string& name) {
  GDN_ASSIGN_OR_RETURN(const ConstTensor source, checkpoint_.Find(name));
  return Weight::Pack(source, pool_, [&](int64_t first_row, int64_t num_rows) {
    const ConstTensor rows = source.Slice(first_row, num_rows);
    checkpoint_.DropPages(rows);
    Advance(SizeBytes(rows));
  });
}

Result<OwnedTensor> WeightReader::ReadF32(const std::string& name) {
  GDN_ASSIGN_OR_RETURN(const ConstTensor source, checkpoint_.Find(name));
  GDN_ASSIGN_OR_RETURN(OwnedTensor out,
                       OwnedTensor::Allocate(DType::kF32, source.shape, name.c_str()));
  Convert(source, out.view);
  Advance(SizeBytes(source));
  return out;
}

Result<OwnedTensor> WeightReader::ReadConv(const std::string& name, DType dtype) {
  GDN_ASSIGN_OR_RETURN(const ConstTensor source, checkpoint_.Find(name));
  GDN_ASSIGN_OR_RETURN(OwnedTensor out,
                       OwnedTensor::Allocate(dtype, {source.dim(0), source.dim(2)}, name.c_str()));
  Convert(source, out.view);
  Advance(SizeBytes(source));
  return out;
}

}  // namespace gdn
