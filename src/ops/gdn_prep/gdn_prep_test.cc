// SPDX-License-Identifier: Apache-2.0
#include "ops/gdn_prep/gdn_prep.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "ops/gdn_prep/gdn_prep_testing.h"

namespace gdn {

namespace {

void RunPrep(PrepInputs& inputs, std::string_view impl, int num_threads = 1) {
  ThreadPool pool(num_threads);
  ExecContext ctx;
  ctx.pool = &pool;
  ctx.impl = impl;
  const Status status = GdnPrep(ctx, inputs.Args());
  ASSERT_TRUE(status.ok()) << status.message();
}

class GdnPrepKernels : public testing::TestWithParam<std::tuple<DType, GdnForm>> {};

TEST_P(GdnPrepKernels, MatchReference) {
  for (const int64_t k_dim : {1, 7, 16, 20, 64, 128, 256}) {
    for (const int64_t tokens : {0, 1, 8, 9, 17}) {
      const PrepInputs inputs(
          {std::get<0>(GetParam()), std::get<1>(GetParam()), tokens, 2, 6, k_dim});
      PrepInputs want = inputs;
      RunPrep(want, "ref");
      ForEachVectorTarget([&](int64_t target) {
        for (const int threads : {1, 3}) {
          PrepInputs got = inputs;
          RunPrep(got, "", threads);
          EXPECT_EQ(got.log_decay, want.log_decay);
          EXPECT_EQ(got.beta, want.beta);
          if (HasFma(target)) {
            EXPECT_EQ(got.q_out, want.q_out);
            EXPECT_EQ(got.k_out, want.k_out);
          } else {
            EXPECT_LE(DistanceOf(got.q_out, want.q_out).nmse, 1e-6);
            EXPECT_LE(DistanceOf(got.k_out, want.k_out).nmse, 1e-6);
          }
        }
      });
    }
  }
}

// Against f64, written out once more.
TEST_P(GdnPrepKernels, AreTheFormula) {
  const auto dtype = std::get<0>(GetParam());
  const auto form = std::get<1>(GetParam());
  PrepInputs inputs({dtype, form, 40, 2, 6, 128});
  inputs.decode_beta = DecodeBeta::kF32;
  ForEachKernel([&](std::string_view impl) {
    PrepInputs got = inputs;
    RunPrep(got, impl);
    const double key_ulp = form == GdnForm::kDecode || dtype == DType::kF32 ? 1e-6
                           : dtype == DType::kF16                           ? 0x1p-11
                                                                            : 0x1p-8;
    const double denormal = dtype == DType::kF16 ? 0x1p-25 : 0;  // half its smallest step
    for (int64_t row = 0; row < 80; ++row) {
      const int64_t first = row / 2 * (4 * 128 + 11) + row % 2 * 128;
      double sum = 1e-6;
      for (int64_t i = 0; i < 128; ++i) {
        const double x = got.rows.Get(first + i);
        sum += x * x;
      }
      for (int64_t i = 0; i < 128; ++i) {
        const double want = got.rows.Get(first + i) / std::sqrt(sum);
        ASSERT_NEAR(got.q_out.Get(row * 128 + i), want, std::abs(want) * key_ulp + denormal);
      }
    }
    for (int64_t i = 0; i < got.beta.size(); ++i) {
      const double b = got.b.Get(i);
      ASSERT_NEAR(got.beta.Get(i), 1 / (1 + std::exp(-b)), 1e-6);
      const double x = static_cast<double>(got.a.Get(i)) + got.dt_bias.Get(i % 6);
      const double want =
          -std::exp(static_cast<double>(got.a_log.Get(i % 6))) * std::log1p(std::exp(x));
      // log(1 + e^x) in f32 keeps 2^-24 of 1, whatever remains of e^x.
      ASSERT_NEAR(got.log_decay.Get(i), want, std::abs(want) * 1e-6 + 2e-6) << x;
      ASSERT_LE(got.log_decay.Get(i), 0);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Forms, GdnPrepKernels,
                         testing::Combine(testing::Values(DType::kBf16, DType::kF16, DType::kF32),
                                          testing::Values(GdnForm::kPrefill, GdnForm::kDecode)),
                         [](const auto& test) {
                           return std::string(Name(std::get<0>(test.param))) + "_" +
                                  Name(std::get<1>(test.param));
                         });

TEST(GdnPrep, BetaIsRoundedInDecodeOnlyAndOnlyOnDemand) {
  const auto rounded = [](GdnForm form, DecodeBeta beta) {
    PrepInputs inputs({DType::kBf16, form, 9, 2, 6, 16});
    inputs.decode_beta = beta;
    RunPrep(inputs, "");
    int64_t count = 0;
    for (int64_t i = 0; i < inputs.beta.size(); ++i) {
      const float x = inputs.beta.Get(i);
      count += RoundTo<Bf16>(x) == x ? 1 : 0;
    }
    return count;
  };
  EXPECT_EQ(rounded(GdnForm::kDecode, DecodeBeta::kRounded), 54);
  EXPECT_LT(rounded(GdnForm::kDecode, DecodeBeta::kF32), 10);
  EXPECT_LT(rounded(GdnForm::kPrefill, DecodeBeta::kRounded), 10);
}

TEST(GdnPrep, ZeroRowStaysZero) {
  PrepInputs inputs({DType::kBf16, GdnForm::kPrefill, 3, 1, 1, 64});
  for (int64_t i = 0; i < 64; ++i) inputs.rows.Set(i, 0);
  ForEachKernel([&](std::string_view impl) {
    RunPrep(inputs, impl);
    for (int64_t i = 0; i < 64; ++i) ASSERT_EQ(inputs.q_out.Get(i), 0.0F);
  });
}

TEST(GdnPrep, ErrorsAreReported) {
  struct Bad {
    std::function<void(GdnPrepArgs&)> spoil;
    const char* message;
  };
  const std::vector<Bad> cases = {
      {[](auto& a) {
         a.q.shape = {9, 32};
       },
       "want [T, H, K] and [T, HV]"},
      {[](auto& a) { a.q.dtype = DType::kI32; }, "want f32, f16 or bf16"},
      {[](auto& a) {
         a.k.shape = {9, 1, 16};
       },
       "k is bf16 [9, 1, 16], want bf16 [T=9, H=2, K=16]"},
      {[](auto& a) {
         a.a.shape = {8, 6};
       },
       "a is bf16 [8, 6]"},
      {[](auto& a) { a.b.dtype = DType::kF32; }, "b is f32"},
      {[](auto& a) { a.a_log.shape = {5}; }, "a_log is f32 [5]"},
      {[](auto& a) { a.dt_bias.dtype = DType::kBf16; }, "dt_bias is bf16"},
      {[](auto& a) { a.form = GdnForm::kDecode; }, "q_out is bf16 [9, 2, 16], want f32"},
      {[](auto& a) { a.k_out.strides[0] = 33; }, "k_out is strided"},
      {[](auto& a) { a.log_decay.data = nullptr; }, "log_decay has no data"},
      {[](auto& a) {
         a.beta.shape = {9, 5};
       },
       "beta is f32 [9, 5]"},
      {[](auto& a) { a.beta.data = a.log_decay.data; }, "beta overlaps log_decay"},
      {[](auto& a) { a.q_out.data = const_cast<void*>(a.q.data); }, "q_out overlaps q"},
  };
  for (const Bad& bad : cases) {
    SCOPED_TRACE(bad.message);
    PrepInputs inputs({DType::kBf16, GdnForm::kPrefill, 9, 2, 6, 16});
    GdnPrepArgs args = inputs.Args();
    bad.spoil(args);
    ThreadPool pool(1);
    ExecContext ctx;
    ctx.pool = &pool;
    const Status status = GdnPrep(ctx, args);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_NE(status.message().find(bad.message), std::string::npos) << status.message();
  }
}

}  // namespace
}  // namespace gdn
