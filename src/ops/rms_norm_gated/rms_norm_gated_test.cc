// SPDX-License-Identifier: Apache-2.0
#include "ops/rms_norm_gated/rms_norm_gated.h"

#include <gmock/gmock.h>

#include "ops/common/testing/simd_targets.h"
#include "ops/common/testing/test_rows.h"

namespace gdn {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TestRows RunCase(const RowsCase& size, GateActivation activation, int64_t gap, int threads,
                 std::string_view impl) {
  const auto [dtype, rows, n] = size;
  TestRows x(dtype, rows, n, n + gap);
  TestRows gate(dtype, rows, n, n + 2 * gap);
  TestRows out(dtype, rows, n, n + 3 * gap);
  x.FillNormal(1, 3);
  gate.FillNormal(2, 4);
  const std::vector<float> weight = TestVector(n, 3, 1);
  TestContext context(threads);
  const Status status = RmsNormGated(
      context(impl), {x.view(), gate.view(), VectorView(weight), 1e-6F, activation, out.view()});
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_TRUE(out.GapsUntouched());
  return out;
}

class RmsNormGatedCases : public testing::TestWithParam<RowsCase> {};

TEST_P(RmsNormGatedCases, EveryTargetIsWithinTheErrorOfExp) {
  const DType dtype = std::get<0>(GetParam());
  for (const GateActivation activation : {GateActivation::kSilu, GateActivation::kSigmoid}) {
    for (const int64_t gap : {0, 5}) {
      const TestRows want = RunCase(GetParam(), activation, gap, 1, "ref");
      ForEachSimdTarget([&] {
        const TestRows got = RunCase(GetParam(), activation, gap, 1, "rms_norm_gated_");
        const Difference d = Compare(got.Values(), want.Values(), dtype);
        // exp differs by 1.5 ulp of f32; that moves a 16-bit result only across a rounding edge.
        EXPECT_LE(d.max_steps, dtype == DType::kF32 ? 5 : 1);
        if (dtype != DType::kF32) {
          EXPECT_LE(d.differ, want.Values().size() / 500 + 1);
        }
      });
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, RmsNormGatedCases, AllRowsCases(), RowsCaseName);

TEST(RmsNormGated, ReferenceFollowsTheFormula) {
  TestRows x(DType::kF32, 3, 500);
  TestRows gate(DType::kF32, 3, 500);
  TestRows out(DType::kF32, 3, 500);
  x.FillNormal(4);
  gate.FillNormal(5, 4);
  const std::vector<float> weight = TestVector(500, 6, 1);
  TestContext context;
  for (const GateActivation activation : {GateActivation::kSilu, GateActivation::kSigmoid}) {
    ASSERT_TRUE(RmsNormGated(context("ref"), {x.view(), gate.view(), VectorView(weight), 0.25F,
                                              activation, out.view()})
                    .ok());
    std::vector<float> want;
    for (int64_t row = 0; row < 3; ++row) {
      double sum = 0;
      for (int64_t i = 0; i < 500; ++i) sum += static_cast<double>(x.At(row, i)) * x.At(row, i);
      for (int64_t i = 0; i < 500; ++i) {
        const double z = gate.At(row, i);
        const double sigmoid = 1 / (1 + std::exp(-z));
        want.push_back(static_cast<float>(
            x.At(row, i) / std::sqrt(sum / 500 + 0.25) * weight[static_cast<size_t>(i)] *
            (activation == GateActivation::kSilu ? z * sigmoid : sigmoid)));
      }
    }
    EXPECT_LE(Compare(out.Values(), want).max_steps, 6);
  }
}

TEST(RmsNormGated, RowsDoNotDependOnTheBatchOrTheThreads) {
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kBf16}) {
    const TestRows one = RunCase({dtype, 65, 1024}, GateActivation::kSilu, 0, 1, "");
    const TestRows three = RunCase({dtype, 65, 1024}, GateActivation::kSilu, 0, 3, "");
    const TestRows few = RunCase({dtype, 2, 1024}, GateActivation::kSilu, 0, 1, "");
    EXPECT_EQ(one.bytes(), three.bytes());
    EXPECT_EQ(few.RowBytes(1), one.RowBytes(1));
  }
}

TEST(RmsNormGated, OutMayBeX) {
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kBf16}) {
    TestRows x(dtype, 3, 127, 130);
    TestRows gate(dtype, 3, 127);
    TestRows out(dtype, 3, 127, 130);
    x.FillNormal(7);
    gate.FillNormal(8);
    const std::vector<float> weight = TestVector(127, 9, 1);
    TestContext context;
    RmsNormGatedArgs args{x.view(), gate.view(),           VectorView(weight),
                          1e-6F,    GateActivation::kSilu, out.view()};
    ASSERT_TRUE(RmsNormGated(context(), args).ok());
    args.out = x.view();
    ASSERT_TRUE(RmsNormGated(context(), args).ok());
    EXPECT_EQ(x.bytes(), out.bytes());
  }
}

// The one rounding: f32 inside, so an intermediate rounding would show.
TEST(RmsNormGated, RoundsOnceAtTheEnd) {
  TestRows x(DType::kBf16, 4, 512);
  TestRows gate(DType::kBf16, 4, 512);
  TestRows out(DType::kBf16, 4, 512);
  x.FillNormal(10);
  gate.FillNormal(11, 2);
  const std::vector<float> weight = TestVector(512, 12, 1);
  TestContext context;
  ASSERT_TRUE(RmsNormGated(context("ref"), {x.view(), gate.view(), VectorView(weight), 1e-6F,
                                            GateActivation::kSilu, out.view()})
                  .ok());
  // The same in f32, rounded at the end; and with the normalised row rounded before the gate.
  TestRows x32(DType::kF32, 4, 512);
  TestRows gate32(DType::kF32, 4, 512);
  TestRows out32(DType::kF32, 4, 512);
  x32.SetAll(x.Values());
  gate32.SetAll(gate.Values());
  ASSERT_TRUE(RmsNormGated(context("ref"), {x32.view(), gate32.view(), VectorView(weight), 1e-6F,
                                            GateActivation::kSilu, out32.view()})
                  .ok());
  TestRows once(DType::kBf16, 4, 512);
  once.SetAll(out32.Values());
  EXPECT_EQ(out.bytes(), once.bytes());
  std::vector<float> twice = out32.Values();
  for (size_t i = 0; i < twice.size(); ++i) {
    const float z = gate.Values()[i];
    const float act = z / (1.0F + std::exp(-z));
    twice[i] = RoundTo<Bf16>(RoundTo<Bf16>(twice[i] / act) * act);
  }
  EXPECT_GT(Compare(twice, out.Values()).differ, 200U);
}

TEST(RmsNormGated, SpecialValues) {
  for (const std::string_view impl : {"ref", "rms_norm_gated_"}) {
    TestRows x(DType::kF32, 3, 20);
    TestRows gate(DType::kF32, 3, 20);
    TestRows out(DType::kF32, 3, 20);
    x.FillNormal(13);
    for (int64_t i = 0; i < 20; ++i) {
      x.Set(0, i, 0);
      gate.Set(0, i, 1);
      gate.Set(1, i, -200);
      gate.Set(2, i, 200);
    }
    const std::vector<float> weight(20, 1.0F);
    TestContext context;
    ASSERT_TRUE(RmsNormGated(context(impl), {x.view(), gate.view(), VectorView(weight), 1e-6F,
                                             GateActivation::kSilu, out.view()})
                    .ok());
    for (int64_t i = 0; i < 20; ++i) {
      EXPECT_EQ(out.At(0, i), 0);
      EXPECT_EQ(out.At(1, i), 0);
      EXPECT_TRUE(std::isfinite(out.At(2, i)));
      EXPECT_NE(out.At(2, i), 0);
    }
  }
}

class RmsNormGatedErrors : public testing::Test {
 protected:
  void SetUp() override {
    args_.x = x_.view();
    args_.gate = gate_.view();
    args_.weight = VectorView(weight_);
    args_.out = out_.view();
    ASSERT_TRUE(RmsNormGated(context_(), args_).ok());
  }
  void ExpectError(const std::string& text) {
    const Status status = RmsNormGated(context_(), args_);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), StartsWith("rms_norm_gated: "));
    EXPECT_THAT(status.message(), HasSubstr(text));
  }

  TestContext context_;
  TestRows x_{DType::kBf16, 3, 8};
  TestRows gate_{DType::kBf16, 3, 8};
  TestRows out_{DType::kBf16, 3, 8};
  std::vector<float> weight_ = std::vector<float>(8, 1.0F);
  RmsNormGatedArgs args_;
};

TEST_F(RmsNormGatedErrors, ShapesAndDtypes) {
  args_.x.dtype = DType::kI32;
  ExpectError("x is i32 [3, 8], want f32, f16 or bf16 [R, n >= 1]");
  args_.x = x_.view();
  args_.gate.shape = Shape{3, 7};
  ExpectError("gate is bf16 [3, 7], want bf16 [R=3, n=8]");
  args_.gate = gate_.view();
  args_.gate.dtype = DType::kF16;
  ExpectError("gate is f16 [3, 8], want bf16");
  args_.gate = gate_.view();
  args_.gate.strides[0] = -8;
  ExpectError("gate has row stride -8, want at least 0");
  args_.gate = gate_.view();
  args_.weight.shape = Shape{7};
  ExpectError("weight is f32 [7], want f32 [n=8]");
  args_.weight = VectorView(weight_);
  args_.out.shape = Shape{2, 8};
  ExpectError("out is bf16 [2, 8], want bf16 [R=3, n=8]");
}

TEST_F(RmsNormGatedErrors, Aliasing) {
  args_.out = gate_.view();
  ExpectError("out overlaps gate, want memory of its own");
  TestRows buffer(DType::kBf16, 4, 8);
  args_.x = buffer.view().Slice(0, 3);
  args_.out = buffer.view().Slice(1, 3);
  ExpectError("out overlaps x, want it exactly equal or apart");
}

TEST_F(RmsNormGatedErrors, Eps) {
  for (const float eps : {0.0F, -1e-6F, NAN, INFINITY}) {
    args_.eps = eps;
    ExpectError("eps is ");
  }
}

}  // namespace
}  // namespace gdn
