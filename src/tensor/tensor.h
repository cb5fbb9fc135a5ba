// SPDX-License-Identifier: Apache-2.0
// Views of tensors: a pointer, a dtype, a shape and strides. They own nothing (see storage.h).
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <type_traits>

#include "base/check.h"
#include "tensor/dtype.h"

namespace gdn {

inline constexpr int kMaxRank = 5;

// Extents, outermost first. Rank 0 is a scalar.
class Shape {
 public:
  constexpr Shape() = default;
  constexpr Shape(std::initializer_list<int64_t> dims) {
    GDN_CHECK(dims.size() <= kMaxRank);
    for (const int64_t dim : dims) dims_[static_cast<size_t>(rank_++)] = dim;
  }

  constexpr int rank() const { return rank_; }
  // Negative axes count from the end.
  constexpr int64_t operator[](int axis) const {
    GDN_DCHECK(axis < rank_ && axis >= -rank_);
    return dims_[static_cast<size_t>(axis < 0 ? axis + rank_ : axis)];
  }
  constexpr void Append(int64_t dim) {
    GDN_CHECK(rank_ < kMaxRank);
    dims_[static_cast<size_t>(rank_++)] = dim;
  }
  constexpr int64_t NumElements() const {
    int64_t count = 1;
    for (int i = 0; i < rank_; ++i) count *= dims_[static_cast<size_t>(i)];
    return count;
  }
  friend constexpr bool operator==(const Shape& a, const Shape& b) {
    if (a.rank_ != b.rank_) return false;
    for (int i = 0; i < a.rank_; ++i) {
      if (a[i] != b[i]) return false;
    }
    return true;
  }
  // "[7, 4]"
  std::string ToString() const;

 private:
  std::array<int64_t, kMaxRank> dims_{};
  int rank_ = 0;
};

namespace internal {

// Void is void or const void.
template <class Void>
struct BasicTensor {
  template <class T>
  using Element = std::conditional_t<std::is_const_v<Void>, const T, T>;

  Void* data = nullptr;
  DType dtype = DType::kF32;
  Shape shape;
  std::array<int64_t, kMaxRank> strides{};  // in elements, per axis of shape

  BasicTensor() = default;
  // Contiguous, row-major.
  BasicTensor(Void* data_in, DType dtype_in, const Shape& shape_in)
      : data(data_in), dtype(dtype_in), shape(shape_in) {
    int64_t stride = 1;
    for (int axis = shape.rank() - 1; axis >= 0; --axis) {
      strides[static_cast<size_t>(axis)] = stride;
      stride *= shape[axis];
    }
  }
  template <class T>
  requires(!std::is_void_v<T>) BasicTensor(T* data_in, const Shape& shape_in)
      : BasicTensor(data_in, DTypeOf<std::remove_const_t<T>>(), shape_in) {}
  // A mutable view is also a const one.
  template <class OtherVoid>
  requires(std::is_const_v<Void> && !std::is_const_v<OtherVoid>)
      // NOLINTNEXTLINE(google-explicit-constructor)
      BasicTensor(const BasicTensor<OtherVoid>& other)
      : data(other.data), dtype(other.dtype), shape(other.shape), strides(other.strides) {}

  template <class T>
  Element<T>* As() const {
    GDN_DCHECK(dtype == DTypeOf<T>());
    return static_cast<Element<T>*>(data);
  }
  // The element at [index, 0, 0, ...].
  template <class T>
  Element<T>* Row(int64_t index) const {
    return As<T>() + index * strides[0];
  }
  int64_t stride(int axis) const {
    return strides[static_cast<size_t>(axis < 0 ? axis + shape.rank() : axis)];
  }
  int64_t dim(int axis) const { return shape[axis]; }
  bool empty() const { return data == nullptr; }

  bool IsContiguous() const {
    int64_t stride = 1;
    for (int axis = shape.rank() - 1; axis >= 0; --axis) {
      if (shape[axis] != 1 && strides[static_cast<size_t>(axis)] != stride) return false;
      stride *= shape[axis];
    }
    return true;
  }
  // Rows [first, first + count) of axis 0.
  BasicTensor Slice(int64_t first, int64_t count) const {
    GDN_DCHECK(first >= 0 && count >= 0 && first + count <= shape[0]);
    BasicTensor out = *this;
    out.data = static_cast<Element<char>*>(data) +
               first * strides[0] * static_cast<int64_t>(SizeOf(dtype));
    out.shape = WithDim(0, count);
    return out;
  }
  // Columns [first, first + count) of the last axis.
  BasicTensor Columns(int64_t first, int64_t count) const {
    GDN_DCHECK(first >= 0 && count >= 0 && first + count <= shape[-1]);
    BasicTensor out = *this;
    out.data = static_cast<Element<char>*>(data) + first * static_cast<int64_t>(SizeOf(dtype));
    out.shape = WithDim(shape.rank() - 1, count);
    return out;
  }
  // The same bytes with another shape; contiguous views only.
  BasicTensor Reshape(const Shape& new_shape) const {
    GDN_DCHECK(IsContiguous() && new_shape.NumElements() == shape.NumElements());
    return BasicTensor(data, dtype, new_shape);
  }
  // Splits the last axis, [.., a * b] -> [.., a, b]; rows may be strided.
  BasicTensor SplitLast(int64_t a, int64_t b) const {
    GDN_DCHECK(shape[-1] == a * b && shape.rank() < kMaxRank && stride(-1) == 1);
    BasicTensor out = *this;
    out.shape = WithDim(shape.rank() - 1, a);
    out.shape.Append(b);
    out.strides[static_cast<size_t>(shape.rank()) - 1] = b;
    out.strides[static_cast<size_t>(shape.rank())] = 1;
    return out;
  }
  // [a, b, n] -> [a * b, n] where the rows lie at one stride.
  BasicTensor FlattenRows() const {
    GDN_DCHECK(shape.rank() == 3 && (shape[0] <= 1 || strides[0] == shape[1] * strides[1]));
    BasicTensor out = *this;
    out.shape = Shape{shape[0] * shape[1], shape[2]};
    out.strides[0] = strides[1];
    out.strides[1] = strides[2];
    return out;
  }

 private:
  Shape WithDim(int axis, int64_t dim) const {
    Shape out;
    for (int i = 0; i < shape.rank(); ++i) out.Append(i == axis ? dim : shape[i]);
    return out;
  }
};

}  // namespace internal

using Tensor = internal::BasicTensor<void>;
using ConstTensor = internal::BasicTensor<const void>;

// "bf16 [7, 4]"
std::string Describe(const ConstTensor& tensor);

}  // namespace gdn
