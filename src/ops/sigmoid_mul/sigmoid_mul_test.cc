// SPDX-License-Identifier: Apache-2.0
#include "ops/sigmoid_mul/sigmoid_mul.h"

#include <gmock/gmock.h>

#include "ops/common/testing/simd_targets.h"
#include "ops/common/testing/test_rows.h"

namespace gdn {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TestRows RunCase(const RowsCase& size, int64_t gap, int threads, std::string_view impl) {
  const auto [dtype, rows, n] = size;
  TestRows x(dtype, rows, n, n + gap);
  TestRows gate(dtype, rows, n, n + 2 * gap);
  TestRows out(dtype, rows, n, n + 3 * gap);
  x.FillNormal(1);
  gate.FillNormal(2, 4);
  TestContext context(threads);
  const Status status = SigmoidMul(context(impl), {x.view(), gate.view(), out.view()});
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_TRUE(out.GapsUntouched());
  return out;
}

class SigmoidMulCases : public testing::TestWithParam<RowsCase> {};

TEST_P(SigmoidMulCases, EveryTargetIsWithinTheErrorOfExp) {
  const DType dtype = std::get<0>(GetParam());
  for (const int64_t gap : {0, 5}) {
    const TestRows want = RunCase(GetParam(), gap, 1, "ref");
    ForEachSimdTarget([&] {
      const TestRows got = RunCase(GetParam(), gap, 1, "sigmoid_mul_");
      const Difference d = Compare(got.Values(), want.Values(), dtype);
      // exp differs by 1.5 ulp of f32; that moves a 16-bit result only across a rounding edge.
      EXPECT_LE(d.max_steps, dtype == DType::kF32 ? 5 : 1);
      if (dtype != DType::kF32) {
        EXPECT_LE(d.differ, want.Values().size() / 500 + 1);
      }
    });
  }
}

INSTANTIATE_TEST_SUITE_P(All, SigmoidMulCases, AllRowsCases(), RowsCaseName);

TEST(SigmoidMul, ReferenceRoundsOnceAtTheEnd) {
  TestRows x(DType::kBf16, 4, 512);
  TestRows gate(DType::kBf16, 4, 512);
  TestRows out(DType::kBf16, 4, 512);
  x.FillNormal(3);
  gate.FillNormal(4, 2);
  TestContext context;
  ASSERT_TRUE(SigmoidMul(context("ref"), {x.view(), gate.view(), out.view()}).ok());
  std::vector<float> once;
  std::vector<float> twice;
  for (size_t i = 0; i < 2048; ++i) {
    const auto sigmoid = static_cast<float>(1 / (1 + std::exp(-double{gate.Values()[i]})));
    once.push_back(RoundTo<Bf16>(x.Values()[i] * sigmoid));
    twice.push_back(RoundTo<Bf16>(x.Values()[i] * RoundTo<Bf16>(sigmoid)));
  }
  EXPECT_EQ(Compare(out.Values(), once).differ, 0U);
  EXPECT_GT(Compare(out.Values(), twice).differ, 200U);
}

TEST(SigmoidMul, RowsDoNotDependOnTheBatchOrTheThreads) {
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kBf16}) {
    const TestRows one = RunCase({dtype, 65, 1024}, 0, 1, "");
    const TestRows three = RunCase({dtype, 65, 1024}, 0, 3, "");
    const TestRows few = RunCase({dtype, 2, 1024}, 0, 1, "");
    EXPECT_EQ(one.bytes(), three.bytes());
    EXPECT_EQ(few.RowBytes(1), one.RowBytes(1));
  }
}

TEST(SigmoidMul, OutMayBeX) {
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kBf16}) {
    TestRows x(dtype, 3, 127, 130);
    TestRows gate(dtype, 3, 127);
    TestRows out(dtype, 3, 127, 130);
    x.FillNormal(5);
    gate.FillNormal(6);
    TestContext context;
    ASSERT_TRUE(SigmoidMul(context(), {x.view(), gate.view(), out.view()}).ok());
    ASSERT_TRUE(SigmoidMul(context(), {x.view(), gate.view(), x.view()}).ok());
    EXPECT_EQ(x.bytes(), out.bytes());
  }
}

TEST(SigmoidMul, ExtremeGates) {
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kBf16}) {
    for (const std::string_view impl : {"ref", "sigmoid_mul_"}) {
      TestRows x(dtype, 1, 4);
      TestRows gate(dtype, 1, 4);
      TestRows out(dtype, 1, 4);
      x.SetAll(std::vector<float>{2, 2, 2, 2});
      gate.SetAll(std::vector<float>{-200, 200, 0, NAN});
      TestContext context;
      ASSERT_TRUE(SigmoidMul(context(impl), {x.view(), gate.view(), out.view()}).ok());
      EXPECT_EQ(out.At(0, 0), 0);
      EXPECT_EQ(out.At(0, 1), 2);
      EXPECT_EQ(out.At(0, 2), 1);
      EXPECT_TRUE(std::isnan(out.At(0, 3)));
    }
  }
}

class SigmoidMulErrors : public testing::Test {
 protected:
  void SetUp() override {
    args_ = {x_.view(), gate_.view(), out_.view()};
    ASSERT_TRUE(SigmoidMul(context_(), args_).ok());
  }
  void ExpectError(const std::string& text) {
    const Status status = SigmoidMul(context_(), args_);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), StartsWith("sigmoid_mul: "));
    EXPECT_THAT(status.message(), HasSubstr(text));
  }

  TestContext context_;
  TestRows x_{DType::kBf16, 3, 8};
  TestRows gate_{DType::kBf16, 3, 8};
  TestRows out_{DType::kBf16, 3, 8};
  SigmoidMulArgs args_;
};

TEST_F(SigmoidMulErrors, ShapesAndDtypes) {
  args_.x.dtype = DType::kI32;
  ExpectError("x is i32 [3, 8], want f32, f16 or bf16");
  args_.x = x_.view();
  args_.gate.shape = Shape{3, 7};
  ExpectError("gate is bf16 [3, 7], want bf16 [R=3, n=8]");
  args_.gate = gate_.view();
  args_.out.shape = Shape{2, 8};
  ExpectError("out is bf16 [2, 8], want bf16 [R=3, n=8]");
}

TEST_F(SigmoidMulErrors, Aliasing) {
  args_.out = gate_.view();
  ExpectError("out overlaps gate, want memory of its own");
  TestRows buffer(DType::kBf16, 4, 8);
  args_.x = buffer.view().Slice(0, 3);
  args_.out = buffer.view().Slice(1, 3);
  ExpectError("out overlaps x, want it exactly equal or apart");
}

}  // namespace
}  // namespace gdn
