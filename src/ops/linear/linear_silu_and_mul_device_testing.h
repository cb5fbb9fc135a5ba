// SPDX-License-Identifier: Apache-2.0
// Tests of the op on a device (TestDevice).
#pragma once

#include <gtest/gtest.h>

#include "ops/linear/linear.h"
#include "ops/linear/linear_on_device_testing.h"
#include "ops/linear/linear_silu_and_mul.h"
#include "ops/silu_and_mul/silu_and_mul.h"

namespace gdn {
namespace {

class LinearSiluAndMulDeviceTypes : public testing::TestWithParam<DType> {};
INSTANTIATE_TEST_SUITE_P(All, LinearSiluAndMulDeviceTypes,
                         testing::Values(DType::kF32, DType::kF16, DType::kBf16), DTypeCaseName);

TEST_P(LinearSiluAndMulDeviceTypes, AreLinearTwiceAndSiluAndMulAndNearTheReference) {
  const DType dtype = GetParam();
  constexpr int64_t kOutputs = 71;
  constexpr int64_t kInputs = 131;
  for (const WeightLayout layout : {WeightLayout::kPanel32, WeightLayout::kRowMajor}) {
    const TestWeight gate(dtype, kOutputs, kInputs, layout, 2);
    const TestWeight up(dtype, kOutputs, kInputs, layout, 3);
    for (const int64_t num_rows : {0, 1, 8, 9, 65}) {
      SCOPED_TRACE(num_rows);
      TestRows x(dtype, num_rows, kInputs, kInputs + 3);
      x.FillNormal(1);
      const DeviceRows x_device(x);
      TestRows got(dtype, num_rows, kOutputs, kOutputs + 5);
      TestRows parts = got;
      TestRows want = got;
      DeviceRows got_device(got);
      DeviceRows parts_device(parts);
      TestRows up_out(dtype, num_rows, kOutputs);
      const DeviceRows up_device(up_out);
      const ExecContext ctx = TestDevice::Context();
      LinearSiluAndMulArgs args;
      args.x = x_device.view();
      args.gate = &gate.device();
      args.up = &up.device();
      args.out = got_device.view();
      ASSERT_TRUE(LinearSiluAndMul(ctx, args).ok());
      ASSERT_TRUE(Linear(ctx, {x_device.view(), args.gate, dtype, parts_device.view()}).ok());
      ASSERT_TRUE(Linear(ctx, {x_device.view(), args.up, dtype, up_device.view()}).ok());
      ASSERT_TRUE(
          SiluAndMul(ctx, {parts_device.view(), up_device.view(), parts_device.view()}).ok());
      got_device.Fetch();
      parts_device.Fetch();
      EXPECT_EQ(got.bytes(), parts.bytes());

      args.x = x.view();
      args.gate = &gate.host();
      args.up = &up.host();
      args.out = want.view();
      TestContext context;
      ASSERT_TRUE(LinearSiluAndMul(context("ref"), args).ok());
      EXPECT_TRUE(got.GapsUntouched());
      // A step of either product moves the result by about one of its own, and so does a step of
      // silu.
      EXPECT_EQ(FarApart(got.Values(), want.Values(), dtype, 4, 4e-6), 0U);
      const size_t count = want.Values().size();
      const size_t most = dtype == DType::kF32 ? count : count / 25 + 1;
      EXPECT_LE(Compare(got.Values(), want.Values()).differ, most);
    }
  }
}

}  // namespace
}  // namespace gdn
