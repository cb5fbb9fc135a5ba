// SPDX-License-Identifier: Apache-2.0
// Tests of the op on a device (TestDevice).
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "ops/argmax/argmax.h"
#include "ops/argmax/argmax_cases_testing.h"
#include "ops/common/testing/device_testing.h"

namespace gdn {
namespace {

std::vector<int32_t> OnDevice(TestRows& rows, int64_t count) {
  const DeviceRows x(rows);
  std::vector<int32_t> index(static_cast<size_t>(count) + 1, -7);
  DeviceBytes on_device(std::as_writable_bytes(std::span(index)));
  const Tensor out = on_device(Tensor(index.data(), Shape{count}));
  const Status status = Argmax(TestDevice::Context(), {x.view(), out});
  EXPECT_TRUE(status.ok()) << status.message();
  on_device.Fetch();
  EXPECT_EQ(index.back(), -7);
  index.pop_back();
  return index;
}

TEST(ArgmaxDevice, FindsTheFirstLargestElement) {
  for (const ArgmaxCase& test : ArgmaxCases()) {
    TestRows rows(DType::kF32, 1, static_cast<int64_t>(test.row.size()));
    rows.SetAll(test.row);
    EXPECT_EQ(OnDevice(rows, 1), std::vector{test.want}) << test.row.size() << " elements";
  }
}

TEST(ArgmaxDevice, TakesEachRowByItself) {
  TestRows rows(DType::kF32, 5, 300, 311);
  rows.FillNormal(3);
  const std::vector<int32_t> want = {299, 0, 17, 256, 128};
  for (size_t row = 0; row < want.size(); ++row) {
    rows.Set(static_cast<int64_t>(row), want[row], 50.0F - static_cast<float>(row));
  }
  EXPECT_EQ(OnDevice(rows, 5), want);
}

TEST(ArgmaxDevice, NoRowIsNoWork) {
  TestRows rows(DType::kF32, 0, 8);
  EXPECT_TRUE(OnDevice(rows, 0).empty());
}

}  // namespace
}  // namespace gdn
