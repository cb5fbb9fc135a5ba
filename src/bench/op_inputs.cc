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

OwnedTensor OpInputs::NewTensor(DType dtype, const Shape& shape, MemorySource& memory) {
  OwnedTensor none{.view = {static_cast<void*>(nullptr), dtype, shape}};
  if (!Fits(static_cast<size_t>(shape.NumElements()) * SizeOf(dtype))) return none;
  Result<OwnedTensor> tensor = OwnedTensor::Allocate(dtype, shape, "an operator's tensor", memory);
  if (tensor.ok()) return std::move(*tensor);
  status_ = tensor.status();
  return none;
}

Result<Storage> OpInputs::Moved(const void* data, size_t bytes) {
  GDN_ASSIGN_OR_RETURN(Storage out, backend_.memory().Allocate(bytes, "an operator's tensor"));
  GDN_RETURN_IF_ERROR(backend_.Write(out.data(), data, bytes));
  return out;
}

Tensor OpInputs::Filled(DType dtype, const Shape& shape, FunctionRef<void(const Tensor&)> fill) {
  OwnedTensor tensor = NewTensor(dtype, shape, HostMemory());
  if (!status_.ok()) return tensor.view;
  fill(tensor.view);
  if (!OnHost()) {
    Result<Storage> moved = Moved(tensor.view.data, tensor.storage.size_bytes());
    status_ = moved.status();
    if (moved.ok()) tensor.storage = std::move(*moved);
    tensor.view.data = moved.ok() ? tensor.storage.data() : nullptr;
  }
  tensors_.push_back(std::move(tensor));
  return tensors_.back().view;
}

Tensor OpInputs::Zeros(DType dtype, const Shape& shape) {
  tensors_.push_back(NewTensor(dtype, shape, backend_.memory()));
  return tensors_.back().view;
}

Tensor OpInputs::Random(DType dtype, const Shape& shape, float std, float mean) {
  return Filled(dtype, shape, [&](const Tensor& out) {
    FillTensor(Rng(next_seed_++), {mean, std, false}, pool_, out);
  });
}

Tensor OpInputs::UnitRows(DType dtype, const Shape& shape) {
  return Filled(dtype, shape, [&](const Tensor& out) {
    FillTensor(Rng(next_seed_++), {0, 1, false}, pool_, out);
    const int64_t count = shape[-1];
    DispatchFloat(dtype, [&]<class T>(T) {
      pool_.Run(shape.NumElements() / count,
                [&](int64_t row, int) { Normalise(out.As<T>() + row * count, count); });
    });
  });
}

Tensor OpInputs::RandomCopies(int64_t copies, DType dtype, const Shape& shape, float std) {
  Shape all;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    all.Append(axis == 0 ? copies * shape[0] : shape[axis]);
  }
  return Filled(dtype, all, [&](const Tensor& out) {
    const Tensor first = out.Slice(0, shape[0]);
    FillTensor(Rng(next_seed_++), {0, std, false}, pool_, first);
    const size_t bytes = static_cast<size_t>(shape.NumElements()) * SizeOf(dtype);
    pool_.Run(copies - 1, [&](int64_t copy, int) {
      std::memcpy(static_cast<std::byte*>(out.data) + static_cast<size_t>(copy + 1) * bytes,
                  first.data, bytes);
    });
  });
}

std::vector<const Weight*> OpInputs::Matrices(int64_t copies, DType dtype, int64_t outs,
                                              int64_t cols) {
  const auto std = static_cast<float>(1 / std::sqrt(static_cast<double>(cols)));
  std::vector<const Weight*> out;
  if (!Fits(static_cast<size_t>((copies + 1) * outs * cols) * SizeOf(dtype))) return out;
  const OwnedTensor rows = NewTensor(dtype, {outs, cols}, HostMemory());
  if (!status_.ok()) return out;
  FillTensor(Rng(next_seed_++), {0, std, false}, pool_, rows.view);
  for (int64_t i = 0; i < copies && status_.ok(); ++i) {
    Result<Weight> weight = Weight::Pack(rows.view, pool_, [](int64_t, int64_t) {});
    if (weight.ok() && !OnHost()) {
      Result<Storage> moved = Moved(weight->data(), weight->size_bytes());
      weight = moved.ok() ? Result<Weight>(weight->In(std::move(*moved))) : moved.status();
    }
    status_ = weight.status();
    if (weight.ok()) out.push_back(&weights_.emplace_back(std::move(*weight)));
  }
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
