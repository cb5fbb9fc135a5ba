// SPDX-License-Identifier: Apache-2.0
#include "bench/op_inputs.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/str.h"
#include "base/system_info.h"
#include "model/random_values.h"

namespace gdn {
namespace {

// Of tiny inputs: more would take long to make, and tell nothing.
constexpr int64_t kMaxCopies = 1024;

template <class T>
void Normalise(T* row, int64_t count) {
  double squares = 0;
  for (int64_t i = 0; i < count; ++i) squares += double{ToF32(row[i])} * ToF32(row[i]);
  const auto factor = static_cast<float>(1 / std::sqrt(squares));
  for (int64_t i = 0; i < count; ++i) row[i] = FromF32<T>(ToF32(row[i]) * factor);
}

}  // namespace

int64_t OpInputs::NumCopies(size_t bytes) const {
  if (cold_bytes_ == 0 || bytes == 0) return 1;
  return std::min(static_cast<int64_t>((cold_bytes_ + bytes - 1) / bytes), kMaxCopies);
}

bool OpInputs::Fits(size_t bytes) {
  const size_t available = AvailableMemoryBytes();
  if (!status_.ok() || available == 0 || bytes <= available) return status_.ok();
  status_ = OutOfMemory(StrCat("an operator's inputs need ", HumanBytes(bytes),
                               " of memory, available are ", HumanBytes(available)));
  return false;
}

Tensor OpInputs::Zeros(DType dtype, const Shape& shape) {
  const Tensor none = {static_cast<void*>(nullptr), dtype, shape};
  if (!Fits(static_cast<size_t>(shape.NumElements()) * SizeOf(dtype))) return none;
  Result<OwnedTensor> tensor = OwnedTensor::Allocate(dtype, shape, "an operator's tensor");
  if (!tensor.ok()) {
    status_ = tensor.status();
    return none;
  }
  tensors_.push_back(std::move(*tensor));
  return tensors_.back().view;
}

Tensor OpInputs::Random(DType dtype, const Shape& shape, float std, float mean) {
  const Tensor out = Zeros(dtype, shape);
  if (status_.ok()) FillTensor(Rng(next_seed_++), {mean, std, false}, pool_, out);
  return out;
}

Tensor OpInputs::UnitRows(DType dtype, const Shape& shape) {
  const Tensor out = Random(dtype, shape);
  if (!status_.ok()) return out;
  const int64_t count = shape[-1];
  DispatchFloat(dtype, [&]<class T>(T) {
    pool_.Run(shape.NumElements() / count,
              [&](int64_t row, int) { Normalise(out.As<T>() + row * count, count); });
  });
  return out;
}

Tensor OpInputs::RandomCopies(int64_t copies, DType dtype, const Shape& shape, float std) {
  Shape all;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    all.Append(axis == 0 ? copies * shape[0] : shape[axis]);
  }
  const Tensor out = Zeros(dtype, all);
  if (!status_.ok()) return out;
  const Tensor first = out.Slice(0, shape[0]);
  FillTensor(Rng(next_seed_++), {0, std, false}, pool_, first);
  const size_t bytes = static_cast<size_t>(shape.NumElements()) * SizeOf(dtype);
  pool_.Run(copies - 1, [&](int64_t copy, int) {
    std::memcpy(static_cast<std::byte*>(out.data) + static_cast<size_t>(copy + 1) * bytes,
                first.data, bytes);
  });
  return out;
}

std::vector<const Weight*> OpInputs::Matrices(int64_t copies, DType dtype, int64_t outs,
                                              int64_t cols) {
  const auto std = static_cast<float>(1 / std::sqrt(static_cast<double>(cols)));
  std::vector<const Weight*> out;
  if (!Fits(static_cast<size_t>((copies + 1) * outs * cols) * SizeOf(dtype))) return out;
  const Tensor rows = Random(dtype, {outs, cols}, std);
  if (!status_.ok()) return out;
  for (int64_t i = 0; i < copies && status_.ok(); ++i) {
    Result<Weight> weight = Weight::Pack(rows, pool_, [](int64_t, int64_t) {});
    status_ = weight.status();
    if (weight.ok()) out.push_back(&weights_.emplace_back(std::move(*weight)));
  }
  tensors_.pop_back();  // the rows
  return out;
}

std::span<const int32_t> OpInputs::Ints(std::vector<int32_t> values) {
  ints_.push_back(std::move(values));
  return ints_.back();
}

std::span<const int32_t> OpInputs::Range(int64_t first, int64_t count, int64_t step) {
  std::vector<int32_t> values(static_cast<size_t>(count));
  std::ranges::generate(values,
                        [&] { return static_cast<int32_t>(std::exchange(first, first + step)); });
  return Ints(std::move(values));
}

std::span<const uint8_t> OpInputs::Flags(size_t count, bool value) {
  flags_.emplace_back(count, value ? 1 : 0);
  return flags_.back();
}

}  // namespace gdn
