// SPDX-License-Identifier: Apache-2.0
#include "ops/linear/linear.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include "base/rng.h"
#include "ops/common/testing/simd_targets.h"
#include "tensor/dtype_testing.h"

namespace gdn {
namespace {

using testing::HasSubstr;

// A problem with normal data, its packed weight, and outputs that start as NaN.
template <class T>
struct Problem {
  Problem(int64_t m, int64_t n, int64_t k, uint64_t seed = 1)
      : rows(m), outs(n), cols(k), x(Random(m * k, seed)), w(Random(n * k, seed + 1)) {}

  static std::vector<T> Random(int64_t count, uint64_t seed) {
    Rng rng(seed);
    std::vector<T> out(static_cast<size_t>(count));
    for (T& value : out) value = FromF32<T>(static_cast<float>(rng.NextNormal()));
    return out;
  }

  Weight Packed(ThreadPool& pool) const {
    return Weight::Pack(ConstTensor(w.data(), Shape{outs, cols}), pool, [](int64_t, int64_t) {})
        .value();
  }
  Weight Rows() const { return Weight::View(ConstTensor(w.data(), Shape{outs, cols})); }

  // Rows [first, first + count) of out = x W^T, as f32.
  std::vector<float> Run(const Weight& weight, int threads, std::string_view impl,
                         DType round_to = DType::kF32, int64_t first = 0, int64_t count = -1) {
    if (count < 0) count = rows;
    ThreadPool pool(threads);
    std::vector<std::byte> scratch(LinearScratchBytes(count, cols, threads) + 64);
    const auto skip = (64 - reinterpret_cast<uintptr_t>(scratch.data()) % 64) % 64;
    ExecContext ctx;
    ctx.pool = &pool;
    ctx.scratch = Scratch(std::span(scratch).subspan(skip));
    ctx.impl = impl;
    std::vector<float> out(static_cast<size_t>(count * outs), NAN);
    LinearArgs args;
    args.x = ConstTensor(x.data(), Shape{rows, cols}).Slice(first, count);
    args.weight = &weight;
    args.round_to = round_to;
    args.out = Tensor(out.data(), Shape{count, outs});
    const Status status = Linear(ctx, args);
    EXPECT_TRUE(status.ok()) << status.message();
    return out;
  }

  int64_t rows, outs, cols;
  std::vector<T> x, w;
};

// Index of the first bit that differs, or -1.
int64_t FirstDifference(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::bit_cast<uint32_t>(a[i]) != std::bit_cast<uint32_t>(b[i])) {
      return static_cast<int64_t>(i);
    }
  }
  return -1;
}

// ---- against the reference ----

class LinearShapes
    : public testing::TestWithParam<std::tuple<DType, std::tuple<int64_t, int64_t, int64_t>>> {};

TEST_P(LinearShapes, MatchReferenceBitForBit) {
  const auto dtype = std::get<0>(GetParam());
  const auto shape = std::get<1>(GetParam());
  const auto [m, n, k] = shape;
  DispatchFloat(dtype, [m = m, n = n, k = k](auto element) {
    using T = decltype(element);
    Problem<T> problem(m, n, k);
    ThreadPool pool(2);
    const Weight weight = problem.Packed(pool);
    const std::vector<float> want = problem.Run(problem.Rows(), 1, "ref");
    EXPECT_EQ(FirstDifference(problem.Run(weight, 1, "ref"), want), -1);
    ForEachVectorTarget([&](int64_t target) {
      const std::vector<float> got = problem.Run(weight, 2, "linear_panel");
      if (HasFma(target)) {
        EXPECT_EQ(FirstDifference(got, want), -1);
        return;
      }
      // Every product is rounded once more than with fma: k roundings of values below |x||w|.
      for (size_t i = 0; i < got.size(); ++i) {
        ASSERT_NEAR(got[i], want[i], 1e-6 * (4 + static_cast<double>(k)));
      }
    });
  });
}

INSTANTIATE_TEST_SUITE_P(
    Linear, LinearShapes,
    testing::Combine(testing::Values(DType::kF32, DType::kF16, DType::kBf16),
                     testing::Values(std::tuple(1, 1, 1), std::tuple(1, 32, 2),
                                     std::tuple(1, 100, 257), std::tuple(2, 33, 129),
                                     std::tuple(3, 64, 1025), std::tuple(5, 31, 640),
                                     std::tuple(6, 65, 128), std::tuple(7, 64, 127),
                                     std::tuple(8, 96, 256), std::tuple(13, 40, 515),
                                     std::tuple(33, 70, 130), std::tuple(129, 37, 259))),
    [](const auto& param) {
      const auto& shape = std::get<1>(param.param);
      return std::string(Name(std::get<0>(param.param))) + "_M" +
             std::to_string(std::get<0>(shape)) + "_N" + std::to_string(std::get<1>(shape)) + "_K" +
             std::to_string(std::get<2>(shape));
    });

// ---- one order whatever the batch, the threads, the vector width ----

template <class T>
class LinearOrder : public testing::Test {};
using ElementTypes = testing::Types<float, F16, Bf16>;
TYPED_TEST_SUITE(LinearOrder, ElementTypes);

TYPED_TEST(LinearOrder, RowsHaveTheBitsThatTheyHaveAlone) {
  Problem<TypeParam> problem(512, 72, 385);
  ThreadPool pool(2);
  const Weight weight = problem.Packed(pool);
  ForEachSimdTarget([&] {
    const std::vector<float> all = problem.Run(weight, 2, "linear_panel");
    for (const int64_t m : {1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 17, 64, 127, 200}) {
      const int64_t first = 512 - m;
      const std::vector<float> some = problem.Run(weight, 1, "linear_panel", DType::kF32, first, m);
      EXPECT_EQ(FirstDifference(some, {all.begin() + first * 72, all.end()}), -1) << "M=" << m;
    }
  });
}

TYPED_TEST(LinearOrder, BitsDoNotDependOnThreads) {
  Problem<TypeParam> problem(19, 1000, 70);
  ThreadPool pool(1);
  const Weight weight = problem.Packed(pool);
  const std::vector<float> one = problem.Run(weight, 1, "linear_panel");
  for (const int threads : {2, 3, 5}) {
    EXPECT_EQ(FirstDifference(problem.Run(weight, threads, "linear_panel"), one), -1) << threads;
  }
}

TYPED_TEST(LinearOrder, RoundsOnceIntoEitherOutput) {
  using T = TypeParam;
  Problem<T> problem(4, 45, 33);
  ThreadPool pool(1);
  const Weight weight = problem.Packed(pool);
  const std::vector<float> exact = problem.Run(weight, 1, "ref");
  for (const char* impl : {"ref", "linear_panel"}) {
    const std::vector<float> rounded = problem.Run(weight, 1, impl, DTypeOf<T>());
    std::vector<std::byte> scratch(LinearScratchBytes(4, 33, 1));
    ExecContext ctx;
    ctx.pool = &pool;
    ctx.scratch = Scratch(scratch);
    ctx.impl = impl;
    std::vector<T> out(4 * 50, FromF32<T>(NAN));  // strided rows
    LinearArgs args;
    args.x = ConstTensor(problem.x.data(), Shape{4, 33});
    args.weight = &weight;
    args.round_to = DTypeOf<T>();
    args.out = Tensor(out.data(), Shape{4, 50}).Columns(2, 45);
    ASSERT_TRUE(Linear(ctx, args).ok());
    for (size_t m = 0; m < 4; ++m) {
      for (size_t n = 0; n < 45; ++n) {
        ASSERT_EQ(rounded[m * 45 + n], RoundTo<T>(exact[m * 45 + n]));
        ASSERT_EQ(ToF32(out[m * 50 + 2 + n]), rounded[m * 45 + n]);
      }
      for (const size_t n : {0, 1, 47, 49}) EXPECT_TRUE(std::isnan(ToF32(out[m * 50 + n])));
    }
  }
}

TYPED_TEST(LinearOrder, ReadsStridedRows) {
  using T = TypeParam;
  Problem<T> problem(9, 40, 64);
  ThreadPool pool(1);
  const Weight weight = problem.Packed(pool);
  const std::vector<float> want = problem.Run(weight, 1, "linear_panel");
  std::vector<T> wide(9 * 100, FromF32<T>(NAN));
  for (size_t m = 0; m < 9; ++m) std::copy_n(&problem.x[m * 64], 64, &wide[m * 100 + 3]);
  std::vector<std::byte> scratch(LinearScratchBytes(9, 64, 1));
  ExecContext ctx;
  ctx.pool = &pool;
  ctx.scratch = Scratch(scratch);
  std::vector<float> out(9 * 40, NAN);
  LinearArgs args;
  args.x = ConstTensor(wide.data(), Shape{9, 100}).Columns(3, 64);
  args.weight = &weight;
  args.out = Tensor(out.data(), Shape{9, 40});
  ASSERT_TRUE(Linear(ctx, args).ok());
  EXPECT_EQ(FirstDifference(out, want), -1);
}

TEST(Linear, InfinityAndNanReachTheirOwnRowAndOutputAlone) {
  Problem<Bf16> problem(7, 40, 66);
  problem.x[3 * 66 + 65] = FromF32<Bf16>(INFINITY);
  problem.w[11 * 66 + 64] = FromF32<Bf16>(NAN);
  ThreadPool pool(1);
  const Weight weight = problem.Packed(pool);
  const std::vector<float> out = problem.Run(weight, 1, "linear_panel");
  for (size_t m = 0; m < 7; ++m) {
    for (size_t n = 0; n < 40; ++n) {
      EXPECT_EQ(std::isnan(out[m * 40 + n]), n == 11) << m << " " << n;
      EXPECT_EQ(std::isinf(out[m * 40 + n]), n != 11 && m == 3) << m << " " << n;
    }
  }
}

TEST(Linear, NoRowsIsNoWork) {
  Problem<float> problem(1, 8, 4);
  ThreadPool pool(1);
  const Weight weight = problem.Packed(pool);
  EXPECT_TRUE(problem.Run(weight, 1, "", DType::kF32, 0, 0).empty());
}

// ---- errors ----

class LinearErrors : public testing::Test {
 protected:
  LinearErrors()
      : weight_(problem_.Packed(pool_)), out_(3 * 5), scratch_(LinearScratchBytes(3, 4, 1)) {
    ctx_.pool = &pool_;
    ctx_.scratch = Scratch(scratch_);
    args_.x = ConstTensor(problem_.x.data(), Shape{3, 4});
    args_.weight = &weight_;
    args_.round_to = DType::kBf16;
    args_.out = Tensor(out_.data(), Shape{3, 5});
  }
  void ExpectError(const char* text) {
    const Status status = Linear(ctx_, args_);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr(text));
  }

  Problem<Bf16> problem_{3, 5, 4};
  ThreadPool pool_{1};
  Weight weight_;
  std::vector<float> out_;
  std::vector<std::byte> scratch_;
  ExecContext ctx_;
  LinearArgs args_;
};

TEST_F(LinearErrors, NoneForTheFixture) { EXPECT_TRUE(Linear(ctx_, args_).ok()); }

TEST_F(LinearErrors, NoWeight) {
  args_.weight = nullptr;
  ExpectError("there is no weight");
  const Weight empty;
  args_.weight = &empty;
  ExpectError("there is no weight");
}

TEST_F(LinearErrors, RankOfX) {
  args_.x = ConstTensor(problem_.x.data(), Shape{12});
  ExpectError("x is bf16 [12], want [M, K=4]");
}

TEST_F(LinearErrors, ColumnsOfX) {
  args_.x = ConstTensor(problem_.x.data(), Shape{4, 3});
  ExpectError("want bf16 [M=4, K=4]");
}

TEST_F(LinearErrors, DtypeOfX) {
  args_.x.dtype = DType::kF16;
  ExpectError("x is f16");
}

TEST_F(LinearErrors, RoundTo) {
  args_.round_to = DType::kF16;
  ExpectError("round_to is f16, want bf16 or f32");
}

TEST_F(LinearErrors, ShapeAndDtypeOfOut) {
  args_.out = Tensor(out_.data(), Shape{3, 4});
  ExpectError("want f32 [M=3, N=5]");
  args_.out = Tensor(reinterpret_cast<Bf16*>(out_.data()), Shape{3, 5});
  args_.round_to = DType::kF32;
  ExpectError("out is bf16 [3, 5], want f32");
}

TEST_F(LinearErrors, Strides) {
  args_.out.strides[0] = 4;
  ExpectError("out has rows 4 apart, want at least N=5");
  args_.out.strides[0] = 5;
  args_.x.strides[1] = 2;
  ExpectError("x has stride 2 on its last axis");
  args_.x.strides = {-4, 1};
  ExpectError("x has row stride -4");
}

TEST_F(LinearErrors, Overlap) {
  std::vector<Bf16> buffer(3 * 16);
  args_.x = ConstTensor(buffer.data(), Shape{3, 16}).Columns(0, 4);
  args_.out = Tensor(buffer.data(), Shape{3, 16}).Columns(3, 5);
  ExpectError("out overlaps x");
  args_.out = Tensor(buffer.data(), Shape{3, 16}).Columns(4, 5);
  EXPECT_TRUE(Linear(ctx_, args_).ok()) << "columns side by side share nothing";
}

TEST_F(LinearErrors, RowMajorHasOnlyTheReference) {
  const Weight rows = problem_.Rows();
  args_.weight = &rows;
  ctx_.impl = "linear_panel";
  EXPECT_EQ(Linear(ctx_, args_).code(), StatusCode::kUnsupported);
}

}  // namespace
}  // namespace gdn
