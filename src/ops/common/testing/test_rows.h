// SPDX-License-Identifier: Apache-2.0
// Matrices for tests of the ops over rows: any float dtype, any row stride, memory filled with NaN
// beforehand, so that what a kernel should not have touched or should have written is seen.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "backend/exec_context.h"
#include "base/rng.h"
#include "base/str.h"
#include "tensor/dtype_testing.h"
#include "tensor/tensor.h"

namespace gdn {

class TestRows {
 public:
  // stride 0: rows side by side.
  TestRows(DType dtype, int64_t rows, int64_t n, int64_t stride = 0)
      : dtype_(dtype),
        rows_(rows),
        n_(n),
        stride_(stride == 0 ? n : stride),
        bytes_(static_cast<size_t>(rows_ * stride_ + kGuard) * SizeOf(dtype), kNan) {}

  Tensor view() {
    Tensor tensor(bytes_.data(), dtype_, Shape{rows_, n_});
    tensor.strides[0] = stride_;
    return tensor;
  }
  float At(int64_t row, int64_t i) const {
    return DispatchFloat(dtype_, [&]<class T>(T value) {
      std::memcpy(&value, Element(row, i), sizeof(T));
      return ToF32(value);
    });
  }
  void Set(int64_t row, int64_t i, float x) {
    DispatchFloat(dtype_, [&]<class T>(T value) {
      value = FromF32<T>(x);
      std::memcpy(bytes_.data() + Offset(row, i), &value, sizeof(T));
    });
  }
  void SetAll(std::span<const float> values) {
    for (int64_t row = 0; row < rows_; ++row) {
      for (int64_t i = 0; i < n_; ++i) Set(row, i, values[static_cast<size_t>(row * n_ + i)]);
    }
  }
  void FillNormal(uint64_t seed, float deviation = 1) {
    Rng rng(seed);
    for (int64_t row = 0; row < rows_; ++row) {
      for (int64_t i = 0; i < n_; ++i) {
        Set(row, i, deviation * static_cast<float>(rng.NextNormal()));
      }
    }
  }
  std::vector<float> Values() const {
    std::vector<float> values;
    for (int64_t row = 0; row < rows_; ++row) {
      for (int64_t i = 0; i < n_; ++i) values.push_back(At(row, i));
    }
    return values;
  }
  // All memory, the gaps between rows included.
  const std::vector<std::byte>& bytes() const { return bytes_; }
  std::span<std::byte> memory() { return bytes_; }
  std::vector<std::byte> RowBytes(int64_t row) const {
    return {Element(row, 0), Element(row, 0) + static_cast<size_t>(n_) * SizeOf(dtype_)};
  }
  bool GapsUntouched() const {
    for (int64_t row = 0; row < rows_; ++row) {
      const std::byte* end = row + 1 < rows_ ? Element(row + 1, 0) : bytes_.data() + bytes_.size();
      if (!std::all_of(Element(row, n_), end, [](std::byte b) { return b == kNan; })) return false;
    }
    return true;
  }

 private:
  static constexpr std::byte kNan{0xFF};
  static constexpr int64_t kGuard = 16;

  size_t Offset(int64_t row, int64_t i) const {
    return static_cast<size_t>(row * stride_ + i) * SizeOf(dtype_);
  }
  const std::byte* Element(int64_t row, int64_t i) const { return bytes_.data() + Offset(row, i); }

  DType dtype_;
  int64_t rows_;
  int64_t n_;
  int64_t stride_;
  std::vector<std::byte> bytes_;
};

// [n] f32 around mean.
inline std::vector<float> TestVector(int64_t n, uint64_t seed, float mean) {
  Rng rng(seed);
  std::vector<float> values(static_cast<size_t>(n));
  for (float& x : values) x = mean + 0.2F * static_cast<float>(rng.NextNormal());
  return values;
}

inline ConstTensor VectorView(const std::vector<float>& values) {
  return ConstTensor(values.data(), Shape{static_cast<int64_t>(values.size())});
}

// The context of a test, with a pool of its own.
class TestContext {
 public:
  explicit TestContext(int num_threads = 1) : pool_(num_threads) {}
  ExecContext operator()(std::string_view impl = "") {
    ExecContext ctx;
    ctx.pool = &pool_;
    ctx.impl = impl;
    return ctx;
  }

 private:
  ThreadPool pool_;
};

struct Difference {
  size_t differ = 0;     // elements that are not equal
  double max_abs = 0;    // of the difference
  double max_steps = 0;  // the difference in units of the last place of want, in dtype
};

inline Difference Compare(std::span<const float> got, std::span<const float> want,
                          DType dtype = DType::kF32) {
  Difference out;
  const int bits = dtype == DType::kF32 ? 23 : dtype == DType::kF16 ? 10 : 7;
  const double smallest = dtype == DType::kF16 ? 0x1p-14 : 0x1p-126;
  for (size_t i = 0; i < want.size(); ++i) {
    const double w = want[i];
    const double d = std::abs(got[i] - w);
    if (!(got[i] == want[i])) ++out.differ;
    out.max_abs = std::max(out.max_abs, std::isnan(d) ? INFINITY : d);
    const double ulp = std::ldexp(1.0, std::ilogb(std::max(std::abs(w), smallest)) - bits);
    out.max_steps = std::max(out.max_steps, std::isnan(d) ? INFINITY : d / ulp);
  }
  return out;
}

using RowsCase = std::tuple<DType, int64_t, int64_t>;  // dtype, R, n

inline auto AllRowsCases() {
  return testing::Combine(testing::Values(DType::kF32, DType::kF16, DType::kBf16),
                          testing::Values<int64_t>(0, 1, 2, 65),
                          testing::Values<int64_t>(1, 3, 16, 127, 128, 256, 1024));
}

inline std::string DTypeCaseName(const testing::TestParamInfo<DType>& info) {
  return Name(info.param);
}

inline std::string RowsCaseName(const testing::TestParamInfo<RowsCase>& info) {
  const auto& [dtype, rows, n] = info.param;
  return StrCat(Name(dtype), "_R", rows, "_n", n);
}

}  // namespace gdn
