// SPDX-License-Identifier: Apache-2.0
// Tests of the op on a device (TestDevice).
#pragma once

#include <gtest/gtest.h>

#include "ops/common/testing/device_testing.h"
#include "ops/silu_and_mul/silu_and_mul.h"

namespace gdn {
namespace {

class SiluAndMulDeviceCases : public testing::TestWithParam<RowsCase> {};

TEST_P(SiluAndMulDeviceCases, IsWithinARoundingOfTheReference) {
  const auto [dtype, rows, n] = GetParam();
  enum class Into { kOut, kGate, kUp };
  for (const Into into : {Into::kOut, Into::kGate, Into::kUp}) {
    TestRows gate(dtype, rows, n, n + 5);
    TestRows up(dtype, rows, n, n + 3);
    TestRows out(dtype, rows, n, n + 2);
    gate.FillNormal(1, 30);
    up.FillNormal(2, 3);
    TestRows want(dtype, rows, n);
    TestContext context;
    ASSERT_TRUE(SiluAndMul(context("ref"), {gate.view(), up.view(), want.view()}).ok());
    DeviceRows gate_device(gate);
    DeviceRows up_device(up);
    DeviceRows out_device(out);
    DeviceRows& target = into == Into::kGate ? gate_device
                         : into == Into::kUp ? up_device
                                             : out_device;
    ASSERT_TRUE(
        SiluAndMul(TestDevice::Context(), {gate_device.view(), up_device.view(), target.view()})
            .ok());
    target.Fetch();
    TestRows& got = into == Into::kGate ? gate : into == Into::kUp ? up : out;
    EXPECT_TRUE(got.GapsUntouched());
    const Difference difference = Compare(got.Values(), want.Values(), dtype);
    if (TestDevice::HasReferenceBits()) {
      EXPECT_EQ(difference.differ, 0U);
    }
    // A step of silu is passed on by the product, as up to two of its own.
    EXPECT_LE(difference.max_steps, dtype == DType::kF32 ? 6 : 2);
    const size_t count = want.Values().size();
    EXPECT_LE(difference.differ, dtype == DType::kF32 ? count : count / 500 + 1);
  }
}

INSTANTIATE_TEST_SUITE_P(All, SiluAndMulDeviceCases, AllRowsCases(), RowsCaseName);

}  // namespace
}  // namespace gdn
