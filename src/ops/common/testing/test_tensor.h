// SPDX-License-Identifier: Apache-2.0
// What tests of ops share: tensors that own their memory, the distance of two of them, and a loop
// over the kernels of this CPU.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <vector>

#include "ops/common/tensor_access.h"
#include "ops/common/testing/simd_targets.h"
#include "tensor/dtype_testing.h"
#include "tensor/tensor.h"

namespace gdn {

// A tensor that owns its elements.
class TestTensor {
 public:
  TestTensor() = default;
  TestTensor(DType dtype, const Shape& shape)
      : bytes_(static_cast<size_t>(shape.NumElements()) * SizeOf(dtype)),
        dtype_(dtype),
        shape_(shape) {}

  Tensor view() { return Tensor(bytes_.data(), dtype_, shape_); }
  int64_t size() const { return shape_.NumElements(); }
  void Set(int64_t i, double value) { StoreAt(view(), i, static_cast<float>(value)); }
  float Get(int64_t i) const { return LoadAt(ConstTensor(bytes_.data(), dtype_, shape_), i); }
  void Fill(double value) {
    for (int64_t i = 0; i < size(); ++i) Set(i, value);
  }
  const std::vector<std::byte>& bytes() const { return bytes_; }
  friend bool operator==(const TestTensor& a, const TestTensor& b) { return a.bytes_ == b.bytes_; }

 private:
  std::vector<std::byte> bytes_;
  DType dtype_ = DType::kF32;
  Shape shape_;
};

struct Distance {
  int64_t differ = 0;  // elements with other bits; two NaNs are equal
  int64_t count = 0;
  double max_abs = 0;
  double nmse = 0;
};

inline Distance DistanceOf(const TestTensor& got, const TestTensor& want) {
  Distance d;
  double error = 0;
  double norm = 0;
  d.count = want.size();
  for (int64_t i = 0; i < want.size(); ++i) {
    const float a = got.Get(i);
    const float b = want.Get(i);
    if (std::isnan(a) && std::isnan(b)) continue;
    if (std::memcmp(&a, &b, sizeof a) != 0) ++d.differ;
    const double delta = static_cast<double>(a) - b;
    d.max_abs = std::isnan(delta) ? INFINITY : std::max(d.max_abs, std::abs(delta));
    error += delta * delta;
    norm += static_cast<double>(b) * b;
  }
  d.nmse = error == 0 ? 0 : error / norm;
  return d;
}

// Runs body(impl) for the scalar reference, then for the vector kernels on each target.
template <class Body>
void ForEachKernel(const Body& body) {
  {
    SCOPED_TRACE("ref");
    body(std::string_view("ref"));
  }
  ForEachSimdTarget([&] { body(std::string_view()); });
}

}  // namespace gdn
