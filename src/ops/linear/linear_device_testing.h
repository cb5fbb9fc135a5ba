// SPDX-License-Identifier: Apache-2.0
// Tests of the op on a device (TestDevice).
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "ops/linear/linear.h"
#include "ops/linear/linear_on_device_testing.h"

namespace gdn {
namespace {

struct Case {
  DType dtype;
  int64_t num_rows;
  int64_t num_outputs;
  int64_t num_inputs;
  WeightLayout layout;
};

// Rows of x, with a gap and an odd beginning, on both sides.
struct Inputs {
  Inputs(DType dtype, int64_t num_rows, int64_t num_inputs)
      : host(dtype, num_rows, num_inputs + 1, num_inputs + 4), num_cols(num_inputs) {
    host.FillNormal(1);
  }
  Tensor View(const Tensor& all) const { return all.Columns(1, num_cols); }
  TestRows host;
  int64_t num_cols;
};

void ExpectLikeReference(const Case& c, DType round_to, DType out_dtype) {
  SCOPED_TRACE(StrCat(Name(c.dtype), " M", c.num_rows, " N", c.num_outputs, " K", c.num_inputs));
  Inputs x(c.dtype, c.num_rows, c.num_inputs);
  const DeviceRows x_device(x.host);
  const TestWeight weight(c.dtype, c.num_outputs, c.num_inputs, c.layout, 2);
  TestRows got(out_dtype, c.num_rows, c.num_outputs, c.num_outputs + 5);
  TestRows want = got;
  DeviceRows got_device(got);
  LinearArgs args;
  args.x = x.View(x_device.view());
  args.weight = &weight.device();
  args.round_to = round_to;
  args.out = got_device.view();
  ASSERT_TRUE(Linear(TestDevice::Context(), args).ok());
  got_device.Fetch();
  args.x = x.View(x.host.view());
  args.weight = &weight.host();
  args.out = want.view();
  TestContext context;
  ASSERT_TRUE(Linear(context("ref"), args).ok());
  EXPECT_TRUE(got.GapsUntouched());
  // Sums near 1 in two orders: K roundings of about 2^-25 that add up as a random walk does, eight
  // deviations of it, and a step, rarely, of what is rounded then.
  const double slack = 8 * std::sqrt(static_cast<double>(c.num_inputs)) * 0x1p-25;
  EXPECT_EQ(FarApart(got.Values(), want.Values(), round_to, 1, slack), 0U);
  const size_t count = want.Values().size();
  const size_t most = round_to == DType::kF32 ? count : count / 50 + 1;
  EXPECT_LE(Compare(got.Values(), want.Values()).differ, most);
}

class LinearDeviceTypes : public testing::TestWithParam<DType> {};
INSTANTIATE_TEST_SUITE_P(All, LinearDeviceTypes,
                         testing::Values(DType::kF32, DType::kF16, DType::kBf16), DTypeCaseName);

TEST_P(LinearDeviceTypes, AreLikeTheReferenceInBothLayouts) {
  const DType dtype = GetParam();
  for (const int64_t num_rows : {0, 1, 2, 3, 8, 9, 17, 70}) {
    ExpectLikeReference({dtype, num_rows, 71, 67, WeightLayout::kPanel32}, dtype, dtype);
  }
  for (const WeightLayout layout : {WeightLayout::kPanel32, WeightLayout::kRowMajor}) {
    ExpectLikeReference({dtype, 1, 1, 1, layout}, dtype, dtype);
    ExpectLikeReference({dtype, 1, 71, 67, layout}, dtype, dtype);
    ExpectLikeReference({dtype, 1, 33, 1030, layout}, dtype, dtype);
    ExpectLikeReference({dtype, 65, 71, 67, layout}, dtype, dtype);
    ExpectLikeReference({dtype, 65, 64, 1030, layout}, dtype, dtype);
  }
}

TEST_P(LinearDeviceTypes, RoundAsTheyAreTold) {
  for (const int64_t num_rows : {5, 20}) {
    const Case c = {GetParam(), num_rows, 40, 100, WeightLayout::kPanel32};
    ExpectLikeReference(c, GetParam(), DType::kF32);
    ExpectLikeReference(c, DType::kF32, DType::kF32);
  }
}

TEST_P(LinearDeviceTypes, GiveARowTheSameBitsInAnyBatch) {
  constexpr int64_t kRows = 70;
  constexpr int64_t kOutputs = 96;
  for (const int64_t num_inputs : {67, 300, 1030}) {
    Inputs x(GetParam(), kRows, num_inputs);
    const DeviceRows x_device(x.host);
    const TestWeight weight(GetParam(), kOutputs, num_inputs, WeightLayout::kPanel32, 2);
    std::vector<std::vector<float>> results;
    for (const int64_t batch : {70, 32, 16, 8, 4, 1}) {
      TestRows out(DType::kF32, kRows, kOutputs);
      DeviceRows out_device(out);
      for (int64_t row = 0; row < kRows; row += batch) {
        const int64_t count = std::min(batch, kRows - row);
        LinearArgs args;
        args.x = x.View(x_device.view()).Slice(row, count);
        args.weight = &weight.device();
        args.out = out_device.view().Slice(row, count);
        ASSERT_TRUE(Linear(TestDevice::Context(), args).ok());
      }
      out_device.Fetch();
      results.push_back(out.Values());
      EXPECT_EQ(std::memcmp(results.front().data(), results.back().data(),
                            results.front().size() * sizeof(float)),
                0)
          << "batches of " << batch << ", K " << num_inputs;
    }
  }
}

}  // namespace
}  // namespace gdn
