// SPDX-License-Identifier: Apache-2.0
// Weights on the host and on a device, and how near results are, for tests of linear layers.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "ops/common/testing/device_testing.h"
#include "ops/linear/weight.h"

namespace gdn {

inline Weight OnTestDevice(const Weight& weight) {
  Backend& backend = TestDevice::Get();
  Result<Storage> storage = backend.memory().Allocate(weight.size_bytes(), "a weight of a test");
  GDN_CHECK(storage.ok());
  const Status written = backend.Write(storage->data(), weight.data(), weight.size_bytes());
  EXPECT_TRUE(written.ok()) << written.message();
  return weight.In(std::move(storage).value());
}

// The same matrix on both sides; values of a deviation that keeps outputs near 1.
class TestWeight {
 public:
  TestWeight(DType dtype, int64_t rows, int64_t cols, WeightLayout layout, uint64_t seed)
      : values_(dtype, rows, cols), host_(Weight::View(values_.view())) {
    values_.FillNormal(seed, 1 / std::sqrt(static_cast<float>(cols)));
    Weight source = Weight::View(values_.view());
    if (layout == WeightLayout::kPanel32) {
      ThreadPool pool(1);
      Result<Weight> packed = Weight::Pack(values_.view(), pool, [](int64_t, int64_t) {});
      GDN_CHECK(packed.ok());
      source = std::move(packed).value();
    }
    device_ = OnTestDevice(source);
  }
  const Weight& host() const { return host_; }
  const Weight& device() const { return device_; }

 private:
  TestRows values_;
  Weight host_;
  Weight device_;
};

// Elements that are more than steps of dtype and slack apart, or NaN in one alone.
inline size_t FarApart(std::span<const float> got, std::span<const float> want, DType dtype,
                       double steps, double slack) {
  const int bits = dtype == DType::kF32 ? 23 : dtype == DType::kF16 ? 10 : 7;
  size_t count = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    const double w = std::max(std::abs(static_cast<double>(want[i])), 0x1p-126);
    const double step = std::ldexp(1.0, std::ilogb(w) - bits);
    const double distance = std::abs(static_cast<double>(got[i]) - want[i]);
    if (!(distance <= steps * step + slack)) ++count;
  }
  return count;
}

}  // namespace gdn
