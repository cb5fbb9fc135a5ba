// SPDX-License-Identifier: Apache-2.0
#include "ops/rms_norm/rms_norm.h"

#include <gmock/gmock.h>

#include "ops/common/testing/simd_targets.h"
#include "ops/common/testing/test_rows.h"

namespace gdn {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

struct Outcome {
  TestRows out;
  TestRows residual;
};

struct Problem {
  DType dtype;
  int64_t rows;
  int64_t n;
  RmsNormStyle style = RmsNormStyle::kGemma;
  bool with_residual = false;
  int64_t gap = 0;  // between rows, in elements
  int threads = 1;
};

Outcome RunCase(const Problem& problem, std::string_view impl) {
  TestRows x(problem.dtype, problem.rows, problem.n, problem.n + problem.gap);
  x.FillNormal(1, 3);
  Outcome outcome{TestRows(problem.dtype, problem.rows, problem.n, problem.n + 2 * problem.gap),
                  TestRows(problem.dtype, problem.rows, problem.n, problem.n + 3 * problem.gap)};
  outcome.residual.FillNormal(2, 3);
  const std::vector<float> weight = TestVector(problem.n, 3, 0.5F);
  RmsNormArgs args;
  args.x = x.view();
  args.weight = VectorView(weight);
  args.style = problem.style;
  if (problem.with_residual) args.residual = outcome.residual.view();
  args.out = outcome.out.view();
  TestContext context(problem.threads);
  const Status status = RmsNorm(context(impl), args);
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_TRUE(outcome.out.GapsUntouched());
  EXPECT_TRUE(outcome.residual.GapsUntouched());
  return outcome;
}

class RmsNormCases : public testing::TestWithParam<RowsCase> {};

TEST_P(RmsNormCases, EveryTargetHasTheBitsOfTheReference) {
  const auto dtype = std::get<0>(GetParam());
  const auto rows = std::get<1>(GetParam());
  const auto n = std::get<2>(GetParam());
  for (const RmsNormStyle style : {RmsNormStyle::kGemma, RmsNormStyle::kPlain}) {
    for (const bool with_residual : {false, true}) {
      for (const int64_t gap : {0, 5}) {
        const Problem problem{dtype, rows, n, style, with_residual, gap};
        const Outcome want = RunCase(problem, "ref");
        ForEachSimdTarget([&] {
          const Outcome got = RunCase(problem, "rms_norm_");
          EXPECT_EQ(got.out.bytes(), want.out.bytes());
          EXPECT_EQ(got.residual.bytes(), want.residual.bytes());
        });
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, RmsNormCases, AllRowsCases(), RowsCaseName);

TEST(RmsNorm, ReferenceFollowsTheFormula) {
  TestRows x(DType::kF32, 3, 1000);
  x.FillNormal(4);
  TestRows out(DType::kF32, 3, 1000);
  const std::vector<float> weight = TestVector(1000, 5, 0.5F);
  TestContext context;
  for (const float eps : {1e-6F, 0.5F}) {
    ASSERT_TRUE(RmsNorm(context("ref"), {x.view(), VectorView(weight), eps, RmsNormStyle::kGemma,
                                         Tensor(), out.view()})
                    .ok());
    std::vector<float> want;
    for (int64_t row = 0; row < 3; ++row) {
      double sum = 0;
      for (int64_t i = 0; i < 1000; ++i) sum += static_cast<double>(x.At(row, i)) * x.At(row, i);
      for (int64_t i = 0; i < 1000; ++i) {
        want.push_back(static_cast<float>(x.At(row, i) / std::sqrt(sum / 1000 + eps) *
                                          (1.0 + weight[static_cast<size_t>(i)])));
      }
    }
    EXPECT_LE(Compare(out.Values(), want).max_steps, 4);
  }
}

TEST(RmsNorm, RowsDoNotDependOnTheBatchOrTheThreads) {
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kBf16}) {
    const Outcome one = RunCase({dtype, 65, 1024, RmsNormStyle::kGemma, true, 0, 1}, "");
    const Outcome three = RunCase({dtype, 65, 1024, RmsNormStyle::kGemma, true, 0, 3}, "");
    EXPECT_EQ(one.out.bytes(), three.out.bytes());
    EXPECT_EQ(one.residual.bytes(), three.residual.bytes());
    // The first rows of the same numbers.
    const Outcome few = RunCase({dtype, 2, 1024, RmsNormStyle::kGemma, true}, "");
    EXPECT_EQ(few.out.RowBytes(1), one.out.RowBytes(1));
  }
}

TEST(RmsNorm, OutMayBeX) {
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kBf16}) {
    const std::vector<float> weight = TestVector(127, 6, 0);
    TestContext context;
    for (const bool with_residual : {false, true}) {
      TestRows x(dtype, 3, 127, 130);
      TestRows out(dtype, 3, 127, 130);
      TestRows residual(dtype, 3, 127);
      x.FillNormal(7);
      RmsNormArgs args;
      args.x = x.view();
      args.weight = VectorView(weight);
      args.out = out.view();
      residual.FillNormal(8);
      if (with_residual) args.residual = residual.view();
      ASSERT_TRUE(RmsNorm(context(), args).ok());
      args.out = x.view();
      residual.FillNormal(8);
      ASSERT_TRUE(RmsNorm(context(), args).ok());
      EXPECT_EQ(x.bytes(), out.bytes());
    }
  }
}

// Rounding points: the op equals the formula with them, and differs from the one without.
TEST(RmsNorm, GemmaRoundsOnceAndPlainRoundsTheRow) {
  TestRows x(DType::kBf16, 4, 512);
  x.FillNormal(9);
  const std::vector<float> weight = TestVector(512, 10, 0.3F);
  std::vector<float> weight_plus_one = weight;
  for (float& w : weight_plus_one) w += 1.0F;
  TestRows gemma(DType::kBf16, 4, 512);
  TestRows plain(DType::kBf16, 4, 512);
  TestContext context;
  ASSERT_TRUE(RmsNorm(context(), {x.view(), VectorView(weight), 1e-6F, RmsNormStyle::kGemma,
                                  Tensor(), gemma.view()})
                  .ok());
  ASSERT_TRUE(RmsNorm(context(), {x.view(), VectorView(weight_plus_one), 1e-6F,
                                  RmsNormStyle::kPlain, Tensor(), plain.view()})
                  .ok());
  const Difference d = Compare(plain.Values(), gemma.Values(), DType::kBf16);
  EXPECT_GT(d.differ, 200U);
  EXPECT_LE(d.max_steps, 2);
}

TEST(RmsNorm, Bf16NormalisesTheRoundedSumAndF16TheExactOne) {
  for (const DType dtype : {DType::kBf16, DType::kF16}) {
    const std::vector<float> weight(512, 0.0F);
    TestRows x(dtype, 4, 512);
    TestRows residual(dtype, 4, 512);
    x.FillNormal(11);
    residual.FillNormal(12);
    std::vector<float> sum = x.Values();
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += residual.Values()[i];
    TestRows rounded_sum(dtype, 4, 512);
    rounded_sum.SetAll(sum);
    TestRows exact_sum(DType::kF32, 4, 512);
    exact_sum.SetAll(sum);

    TestContext context;
    const auto norm = [&](TestRows& in, Tensor res, TestRows& out) {
      ASSERT_TRUE(RmsNorm(context(), {in.view(), VectorView(weight), 1e-6F, RmsNormStyle::kGemma,
                                      res, out.view()})
                      .ok());
    };
    TestRows fused(dtype, 4, 512);
    TestRows of_rounded(dtype, 4, 512);
    TestRows of_exact_f32(DType::kF32, 4, 512);
    TestRows of_exact(dtype, 4, 512);
    norm(x, residual.view(), fused);
    norm(rounded_sum, Tensor(), of_rounded);
    norm(exact_sum, Tensor(), of_exact_f32);
    of_exact.SetAll(of_exact_f32.Values());
    EXPECT_EQ(residual.bytes(), rounded_sum.bytes());
    EXPECT_EQ(fused.bytes() == of_rounded.bytes(), dtype == DType::kBf16);
    EXPECT_EQ(fused.bytes() == of_exact.bytes(), dtype == DType::kF16);
  }
}

TEST(RmsNorm, SpecialValuesStayInTheirRow) {
  for (const std::string_view impl : {"ref", "rms_norm_"}) {
    TestRows x(DType::kF32, 4, 40);
    TestRows out(DType::kF32, 4, 40);
    x.FillNormal(13);
    for (int64_t i = 0; i < 40; ++i) x.Set(0, i, 0);
    for (int64_t i = 0; i < 40; ++i) x.Set(1, i, 1e18F);
    x.Set(2, 39, NAN);
    const std::vector<float> weight(40, 0.0F);
    TestContext context;
    ASSERT_TRUE(RmsNorm(context(impl), {x.view(), VectorView(weight), 1e-6F, RmsNormStyle::kGemma,
                                        Tensor(), out.view()})
                    .ok());
    for (int64_t i = 0; i < 40; ++i) {
      EXPECT_EQ(out.At(0, i), 0);
      EXPECT_NEAR(out.At(1, i), 1, 1e-6);
      EXPECT_TRUE(std::isnan(out.At(2, i)));
      EXPECT_TRUE(std::isfinite(out.At(3, i)));
    }
  }
}

class RmsNormErrors : public testing::Test {
 protected:
  void SetUp() override {
    args_.x = x_.view();
    args_.weight = VectorView(weight_);
    args_.residual = residual_.view();
    args_.out = out_.view();
    ASSERT_TRUE(RmsNorm(context_(), args_).ok());
  }
  void ExpectError(const std::string& text) {
    const Status status = RmsNorm(context_(), args_);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), StartsWith("rms_norm: "));
    EXPECT_THAT(status.message(), HasSubstr(text));
  }

  TestContext context_;
  TestRows x_{DType::kBf16, 3, 8};
  TestRows residual_{DType::kBf16, 3, 8};
  TestRows out_{DType::kBf16, 3, 8};
  std::vector<float> weight_ = std::vector<float>(8, 1.0F);
  RmsNormArgs args_;
};

TEST_F(RmsNormErrors, X) {
  args_.x.dtype = DType::kI32;
  ExpectError("x is i32 [3, 8], want f32, f16 or bf16 [R, n >= 1]");
  args_.x = ConstTensor(x_.view().data, DType::kBf16, Shape{24});
  ExpectError("x is bf16 [24], want");
  args_.x = x_.view();
  args_.x.data = nullptr;
  ExpectError("x has no data");
  args_.x = x_.view();
  args_.x.strides[1] = 2;
  ExpectError("x has stride 2 on its last axis, want 1");
  args_.x = x_.view();
  args_.x.strides[0] = -8;
  ExpectError("x has row stride -8, want at least 0");
}

TEST_F(RmsNormErrors, Weight) {
  args_.weight = ConstTensor(weight_.data(), Shape{7});
  ExpectError("weight is f32 [7], want f32 [n=8]");
  args_.weight = ConstTensor(weight_.data(), DType::kBf16, Shape{8});
  ExpectError("weight is bf16 [8], want f32 [n=8]");
}

TEST_F(RmsNormErrors, Out) {
  args_.out = out_.view().Slice(0, 2);
  ExpectError("out is bf16 [2, 8], want bf16 [R=3, n=8]");
  args_.out = out_.view();
  args_.out.dtype = DType::kF16;
  ExpectError("out is f16 [3, 8], want bf16");
  args_.out = out_.view();
  args_.out.strides[0] = 7;
  ExpectError("out has row stride 7, want at least 8");
}

TEST_F(RmsNormErrors, Residual) {
  args_.residual.shape = Shape{3, 7};
  ExpectError("residual is bf16 [3, 7], want bf16 [R=3, n=8]");
}

TEST_F(RmsNormErrors, Aliasing) {
  args_.residual = out_.view();
  ExpectError("out overlaps residual, want memory of its own");
  args_.residual = x_.view();
  ASSERT_NE(args_.residual.data, nullptr);
  ExpectError("residual overlaps x, want memory of its own");
  args_.residual = Tensor();
  TestRows buffer(DType::kBf16, 4, 8);
  args_.x = buffer.view().Slice(0, 3);
  args_.out = buffer.view().Slice(1, 3);
  ExpectError("out overlaps x, want it exactly equal or apart");
}

TEST_F(RmsNormErrors, Eps) {
  for (const float eps : {0.0F, -1e-6F, NAN, INFINITY}) {
    args_.eps = eps;
    ExpectError("eps is ");
  }
}

TEST_F(RmsNormErrors, ColumnsOfOneBufferAreNoOverlap) {
  TestRows buffer(DType::kBf16, 3, 24);
  args_.x = buffer.view().Columns(0, 8);
  args_.out = buffer.view().Columns(8, 8);
  args_.residual = buffer.view().Columns(16, 8);
  EXPECT_TRUE(RmsNorm(context_(), args_).ok());
  args_.out = buffer.view().Columns(7, 8);
  ExpectError("out overlaps x");
}

TEST_F(RmsNormErrors, UnknownKernel) {
  const Status status = RmsNorm(context_("sve9"), args_);
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
}

}  // namespace
}  // namespace gdn
