// SPDX-License-Identifier: Apache-2.0
// Tests of the op on a device (TestDevice).
#pragma once

#include <gtest/gtest.h>

#include "ops/common/testing/device_testing.h"
#include "ops/sigmoid_mul/sigmoid_mul.h"

namespace gdn {
namespace {

class SigmoidMulDeviceCases : public testing::TestWithParam<RowsCase> {};

TEST_P(SigmoidMulDeviceCases, IsWithinARoundingOfTheReference) {
  const auto [dtype, rows, n] = GetParam();
  for (const bool in_place : {false, true}) {
    TestRows x(dtype, rows, n, n + 5);
    TestRows gate(dtype, rows, n, n + 3);
    TestRows out(dtype, rows, n, n + 2);
    x.FillNormal(1, 3);
    gate.FillNormal(2, 30);
    DeviceRows x_device(x);
    const DeviceRows gate_device(gate);
    DeviceRows out_device(out);
    TestRows want(dtype, rows, n);
    TestContext context;
    ASSERT_TRUE(SigmoidMul(context("ref"), {x.view(), gate.view(), want.view()}).ok());
    ASSERT_TRUE(SigmoidMul(TestDevice::Context(), {x_device.view(), gate_device.view(),
                                                   in_place ? x_device.view() : out_device.view()})
                    .ok());
    x_device.Fetch();
    out_device.Fetch();
    EXPECT_TRUE(out.GapsUntouched());
    EXPECT_TRUE(x.GapsUntouched());
    const Difference difference = Compare((in_place ? x : out).Values(), want.Values(), dtype);
    if (TestDevice::HasReferenceBits()) {
      EXPECT_EQ(difference.differ, 0U);
    }
    // The device's exp and its division.
    EXPECT_LE(difference.max_steps, dtype == DType::kF32 ? 6 : 1);
    const size_t count = want.Values().size();
    EXPECT_LE(difference.differ, dtype == DType::kF32 ? count : count / 500 + 1);
  }
}

INSTANTIATE_TEST_SUITE_P(All, SigmoidMulDeviceCases, AllRowsCases(), RowsCaseName);

}  // namespace
}  // namespace gdn
