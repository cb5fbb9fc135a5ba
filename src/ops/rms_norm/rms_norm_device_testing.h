// SPDX-License-Identifier: Apache-2.0
// Tests of the op on a device (TestDevice).
#pragma once

#include <gtest/gtest.h>

#include "ops/common/testing/device_testing.h"
#include "ops/rms_norm/rms_norm.h"

namespace gdn {
namespace {

class RmsNormDeviceCases : public testing::TestWithParam<RowsCase> {};

TEST_P(RmsNormDeviceCases, IsWithinARoundingOfTheReference) {
  const auto [dtype, rows, n] = GetParam();
  for (const RmsNormStyle style : {RmsNormStyle::kGemma, RmsNormStyle::kPlain}) {
    for (const bool with_residual : {false, true}) {
      TestRows x(dtype, rows, n, n + 5);
      TestRows residual(dtype, rows, n, n + 3);
      TestRows out(dtype, rows, n, n + 2);
      TestRows weight(DType::kF32, 1, n);
      x.FillNormal(1, 3);
      residual.FillNormal(2, 3);
      weight.FillNormal(3, 0.2F);
      DeviceRows x_device(x);
      DeviceRows residual_device(residual);
      DeviceRows out_device(out);
      DeviceRows weight_device(weight);
      const auto args = [&, width = n](const Tensor& x_view, const Tensor& weight_view,
                                       const Tensor& residual_view, const Tensor& out_view) {
        RmsNormArgs a;
        a.x = x_view;
        a.weight = weight_view.Reshape({width});
        a.style = style;
        if (with_residual) a.residual = residual_view;
        a.out = out_view;
        return a;
      };
      ASSERT_TRUE(RmsNorm(TestDevice::Context(), args(x_device.view(), weight_device.view(),
                                                      residual_device.view(), out_device.view()))
                      .ok());
      TestRows want_residual = residual;
      TestRows want(dtype, rows, n, n + 2);
      TestContext context;
      ASSERT_TRUE(
          RmsNorm(context("ref"), args(x.view(), weight.view(), want_residual.view(), want.view()))
              .ok());
      out_device.Fetch();
      residual_device.Fetch();
      EXPECT_TRUE(out.GapsUntouched());
      EXPECT_EQ(residual.bytes(), want_residual.bytes());
      const Difference difference = Compare(out.Values(), want.Values(), dtype);
      if (TestDevice::HasReferenceBits()) {
        EXPECT_EQ(difference.differ, 0U);
      }
      // A row that is rounded on the way may pass its step on.
      EXPECT_LE(difference.max_steps, dtype == DType::kF32 ? 4 : 2);
      const size_t most =
          dtype == DType::kF32 ? want.Values().size() : want.Values().size() / 500 + 1;
      EXPECT_LE(difference.differ, most);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, RmsNormDeviceCases, AllRowsCases(), RowsCaseName);

}  // namespace
}  // namespace gdn
