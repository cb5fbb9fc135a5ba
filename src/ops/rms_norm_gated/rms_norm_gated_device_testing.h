// SPDX-License-Identifier: Apache-2.0
// Tests of the op on a device (TestDevice).
#pragma once

#include <gtest/gtest.h>

#include "ops/common/testing/device_testing.h"
#include "ops/rms_norm_gated/rms_norm_gated.h"

namespace gdn {
namespace {

class RmsNormGatedDeviceCases : public testing::TestWithParam<RowsCase> {};

TEST_P(RmsNormGatedDeviceCases, IsWithinARoundingOfTheReference) {
  const auto [dtype, rows, n] = GetParam();
  for (const GateActivation activation : {GateActivation::kSilu, GateActivation::kSigmoid}) {
    for (const bool in_place : {false, true}) {
      TestRows x(dtype, rows, n, n + 5);
      TestRows gate(dtype, rows, n, n + 3);
      TestRows out(dtype, rows, n, n + 2);
      TestRows weight(DType::kF32, 1, n);
      x.FillNormal(1, 3);
      gate.FillNormal(2, 10);
      weight.FillNormal(3);
      DeviceRows x_device(x);
      const DeviceRows gate_device(gate);
      DeviceRows out_device(out);
      const DeviceRows weight_device(weight);
      RmsNormGatedArgs args;
      args.activation = activation;
      args.x = x.view();
      args.gate = gate.view();
      args.weight = weight.view().Reshape({n});
      TestRows want(dtype, rows, n);
      args.out = want.view();
      TestContext context;
      ASSERT_TRUE(RmsNormGated(context("ref"), args).ok());
      args.x = x_device.view();
      args.gate = gate_device.view();
      args.weight = weight_device.view().Reshape({n});
      args.out = in_place ? x_device.view() : out_device.view();
      ASSERT_TRUE(RmsNormGated(TestDevice::Context(), args).ok());
      x_device.Fetch();
      out_device.Fetch();
      EXPECT_TRUE(out.GapsUntouched());
      EXPECT_TRUE(x.GapsUntouched());
      const Difference difference = Compare((in_place ? x : out).Values(), want.Values(), dtype);
      if (TestDevice::HasReferenceBits()) {
        EXPECT_EQ(difference.differ, 0U);
      }
      EXPECT_LE(difference.max_steps, dtype == DType::kF32 ? 10 : 1);
      const size_t count = want.Values().size();
      EXPECT_LE(difference.differ, dtype == DType::kF32 ? count : count / 250 + 1);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, RmsNormGatedDeviceCases, AllRowsCases(), RowsCaseName);

}  // namespace
}  // namespace gdn
