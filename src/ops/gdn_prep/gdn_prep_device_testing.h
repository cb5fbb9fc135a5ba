// SPDX-License-Identifier: Apache-2.0
// Tests of the op on a device (TestDevice).
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "ops/common/testing/device_tensor.h"
#include "ops/gdn_prep/gdn_prep.h"
#include "ops/gdn_prep/gdn_prep_testing.h"

namespace gdn {
namespace {

// Replaces the outputs of inputs by the device's.
void RunOnDevice(PrepInputs& inputs) {
  const DeviceTensor rows(inputs.rows);
  const DeviceTensor a(inputs.a);
  const DeviceTensor b(inputs.b);
  const DeviceTensor a_log(inputs.a_log);
  const DeviceTensor dt_bias(inputs.dt_bias);
  DeviceTensor q_out(inputs.q_out);
  DeviceTensor k_out(inputs.k_out);
  DeviceTensor log_decay(inputs.log_decay);
  DeviceTensor beta(inputs.beta);
  const int64_t heads = inputs.shape.num_key_heads;
  const int64_t keys = heads * inputs.shape.k_dim;
  GdnPrepArgs args = inputs.Args();
  args.q = ConstTensor(rows.view()).Columns(0, keys).SplitLast(heads, inputs.shape.k_dim);
  args.k = ConstTensor(rows.view()).Columns(keys, keys).SplitLast(heads, inputs.shape.k_dim);
  args.a = a.view();
  args.b = b.view();
  args.a_log = a_log.view();
  args.dt_bias = dt_bias.view();
  args.q_out = q_out.view();
  args.k_out = k_out.view();
  args.log_decay = log_decay.view();
  args.beta = beta.view();
  const Status status = GdnPrep(TestDevice::Context(), args);
  ASSERT_TRUE(status.ok()) << status.message();
  for (DeviceTensor* out : {&q_out, &k_out, &log_decay, &beta}) out->Fetch();
}

void RunReference(PrepInputs& inputs) {
  TestContext context;
  const Status status = GdnPrep(context("ref"), inputs.Args());
  ASSERT_TRUE(status.ok()) << status.message();
}

// The root and the quotient of a device are within a few ulp of f32.
void ExpectSameKeys(const TestTensor& got, const TestTensor& want, DType dtype) {
  const Distance distance = DistanceOf(got, want);
  EXPECT_LE(distance.nmse, dtype == DType::kF32 ? 1e-13 : 1e-5);
  if (dtype != DType::kF32) {
    EXPECT_LE(distance.differ, 1 + distance.count / 1000);
  }
}

void ExpectSameGates(const PrepInputs& got, const PrepInputs& want) {
  for (int64_t i = 0; i < want.log_decay.size(); ++i) {
    const double decay = want.log_decay.Get(i);
    // 1 + e^x may round to the next f32, which is all of its logarithm where e^x is tiny.
    const double rate = std::exp(want.a_log.Get(i % want.shape.num_value_heads));
    ASSERT_NEAR(got.log_decay.Get(i), decay, 0x1p-21 * std::abs(decay) + 0x1p-23 * rate) << i;
    ASSERT_LE(got.log_decay.Get(i), 0);
  }
  const bool rounded =
      want.shape.form == GdnForm::kDecode && want.decode_beta == DecodeBeta::kRounded;
  ExpectSameKeys(got.beta, want.beta, rounded ? want.shape.dtype : DType::kF32);
}

class GdnPrepDeviceCases : public testing::TestWithParam<std::tuple<DType, GdnForm>> {};

TEST_P(GdnPrepDeviceCases, AreThoseOfTheReference) {
  const auto [dtype, form] = GetParam();
  for (const int64_t k_dim : {1, 7, 16, 20, 128, 256}) {
    for (const int64_t tokens : {0, 1, 9, 130}) {
      for (const DecodeBeta beta : {DecodeBeta::kRounded, DecodeBeta::kF32}) {
        PrepInputs got({dtype, form, tokens, 2, 6, k_dim});
        got.decode_beta = beta;
        PrepInputs want = got;
        RunOnDevice(got);
        RunReference(want);
        if (TestDevice::HasReferenceBits()) {
          EXPECT_EQ(got.q_out, want.q_out);
          EXPECT_EQ(got.k_out, want.k_out);
          EXPECT_EQ(got.log_decay, want.log_decay);
          EXPECT_EQ(got.beta, want.beta);
        }
        const DType key_dtype = form == GdnForm::kDecode ? DType::kF32 : dtype;
        ExpectSameKeys(got.q_out, want.q_out, key_dtype);
        ExpectSameKeys(got.k_out, want.k_out, key_dtype);
        ExpectSameGates(got, want);
      }
    }
  }
}

TEST_P(GdnPrepDeviceCases, DoNotDependOnOtherTokens) {
  const auto [dtype, form] = GetParam();
  PrepInputs all({dtype, form, 17, 2, 6, 20});
  PrepInputs one({dtype, form, 1, 2, 6, 20});
  for (int64_t i = 0; i < one.rows.size(); ++i) one.rows.Set(i, all.rows.Get(16 * 91 + i));
  for (int64_t i = 0; i < 6; ++i) {
    one.a.Set(i, all.a.Get(16 * 6 + i));
    one.b.Set(i, all.b.Get(16 * 6 + i));
  }
  one.a_log = all.a_log;
  one.dt_bias = all.dt_bias;
  RunOnDevice(all);
  RunOnDevice(one);
  for (int64_t i = 0; i < 40; ++i) {
    ASSERT_EQ(one.q_out.Get(i), all.q_out.Get(16 * 40 + i));
    ASSERT_EQ(one.k_out.Get(i), all.k_out.Get(16 * 40 + i));
  }
  for (int64_t i = 0; i < 6; ++i) {
    ASSERT_EQ(one.log_decay.Get(i), all.log_decay.Get(16 * 6 + i));
    ASSERT_EQ(one.beta.Get(i), all.beta.Get(16 * 6 + i));
  }
}

INSTANTIATE_TEST_SUITE_P(Forms, GdnPrepDeviceCases,
                         testing::Combine(testing::Values(DType::kBf16, DType::kF16, DType::kF32),
                                          testing::Values(GdnForm::kPrefill, GdnForm::kDecode)),
                         [](const auto& test) {
                           return std::string(Name(std::get<0>(test.param))) + "_" +
                                  Name(std::get<1>(test.param));
                         });

}  // namespace
}  // namespace gdn
