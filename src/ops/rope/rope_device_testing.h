// SPDX-License-Identifier: Apache-2.0
// Tests of the op on a device (TestDevice).
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "ops/common/testing/device_testing.h"
#include "ops/rope/rope.h"

namespace gdn {
namespace {

class RopeDeviceTypes : public testing::TestWithParam<DType> {};
INSTANTIATE_TEST_SUITE_P(All, RopeDeviceTypes,
                         testing::Values(DType::kF32, DType::kF16, DType::kBf16), DTypeCaseName);

// Rows of a token: heads, with a gap before, between and after them.
TEST_P(RopeDeviceTypes, HaveTheBitsOfTheReference) {
  constexpr int64_t kPositions = 300;
  for (const int64_t rotary_dim : {2, 6, 64}) {
    TestRows table(DType::kF32, kPositions, rotary_dim);
    TestContext context;
    FillRopeTable(context(), 10000, table.view());
    const DeviceRows table_device(table);
    for (const int64_t num_tokens : {0, 1, 5, 67}) {
      for (const int64_t num_heads : {1, 3}) {
        const int64_t head_dim = rotary_dim + 3;
        TestRows got(GetParam(), num_tokens, 1 + num_heads * (head_dim + 1));
        got.FillNormal(1, 2);
        TestRows want = got;
        DeviceRows got_device(got);
        std::vector<int32_t> positions;
        for (int32_t t = 0; t < num_tokens; ++t)
          positions.push_back(static_cast<int32_t>(t * 7 % kPositions));
        const auto run = [&](const ExecContext& ctx, const Tensor& rows, const Tensor& angles) {
          RopeArgs args;
          args.table = angles;
          args.positions = positions;
          args.x = rows.Columns(1, num_heads * (head_dim + 1)).SplitLast(num_heads, head_dim + 1);
          args.x = args.x.Columns(0, head_dim);
          const Status status = Rope(ctx, args);
          ASSERT_TRUE(status.ok()) << status.message();
        };
        run(TestDevice::Context(), got_device.view(), table_device.view());
        run(context("ref"), want.view(), table.view());
        got_device.Fetch();
        EXPECT_EQ(got.bytes(), want.bytes());
      }
    }
  }
}

}  // namespace
}  // namespace gdn
