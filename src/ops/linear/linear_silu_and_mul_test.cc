// SPDX-License-Identifier: Apache-2.0
#include "ops/linear/linear_silu_and_mul.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/rng.h"
#include "ops/common/testing/simd_targets.h"
#include "ops/linear/linear.h"
#include "ops/silu_and_mul/silu_and_mul.h"
#include "tensor/dtype_testing.h"

namespace gdn {
namespace {

using testing::HasSubstr;

template <class T>
std::vector<T> Random(int64_t count, uint64_t seed, double std) {
  Rng rng(seed);
  std::vector<T> out(static_cast<size_t>(count));
  for (T& value : out) value = FromF32<T>(static_cast<float>(std * rng.NextNormal()));
  return out;
}

// x [m, k] against gate and up [n, k]; outputs lie in rows of n + 3 that start as NaN.
template <class T>
struct Problem {
  Problem(int64_t rows, int64_t outs, int64_t cols)
      : m(rows),
        n(outs),
        k(cols),
        x(Random<T>(m * k, 1, 1)),
        gate_rows(Random<T>(n * k, 2, 0.2)),
        up_rows(Random<T>(n * k, 3, 0.2)),
        gate(Pack(gate_rows)),
        up(Pack(up_rows)) {}

  Weight Pack(const std::vector<T>& rows) {
    return Weight::Pack(ConstTensor(rows.data(), Shape{n, k}), pool, [](int64_t, int64_t) {})
        .value();
  }
  std::vector<T> NewOut() const {
    return std::vector<T>(static_cast<size_t>(m * (n + 3)), FromF32<T>(NAN));
  }
  Tensor View(std::vector<T>& out) const {
    return Tensor(out.data(), Shape{m, n + 3}).Columns(1, n);
  }
  ExecContext Context(std::string_view impl) {
    scratch.resize(LinearScratchBytes(m, k, pool.num_threads()) + 64);
    const auto skip = (64 - reinterpret_cast<uintptr_t>(scratch.data()) % 64) % 64;
    ExecContext ctx;
    ctx.pool = &pool;
    ctx.scratch = Scratch(std::span(scratch).subspan(skip));
    ctx.impl = impl;
    return ctx;
  }
  std::vector<T> Run(std::string_view impl) {
    std::vector<T> out = NewOut();
    const Status status = LinearSiluAndMul(
        Context(impl), {ConstTensor(x.data(), Shape{m, k}), &gate, &up, View(out)});
    EXPECT_TRUE(status.ok()) << status.message();
    return out;
  }
  // The three operators one after another.
  std::vector<T> RunApart(std::string_view linear, std::string_view silu) {
    std::vector<T> gates = NewOut();
    std::vector<T> ups = NewOut();
    const ConstTensor in(x.data(), Shape{m, k});
    EXPECT_TRUE(Linear(Context(linear), {in, &gate, DTypeOf<T>(), View(gates)}).ok());
    EXPECT_TRUE(Linear(Context(linear), {in, &up, DTypeOf<T>(), View(ups)}).ok());
    EXPECT_TRUE(SiluAndMul(Context(silu), {View(gates), View(ups), View(gates)}).ok());
    return gates;
  }

  int64_t m, n, k;
  ThreadPool pool{2};
  std::vector<T> x, gate_rows, up_rows;
  Weight gate, up;
  std::vector<std::byte> scratch;
};

template <class T>
bool SameBits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

template <class T>
class LinearSiluAndMulOf : public testing::Test {};
using ElementTypes = testing::Types<float, F16, Bf16>;
TYPED_TEST_SUITE(LinearSiluAndMulOf, ElementTypes);

TYPED_TEST(LinearSiluAndMulOf, HasTheBitsOfTheThreeOperators) {
  for (const int64_t m : {1, 2, 7, 19, 64, 150}) {
    Problem<TypeParam> problem(m, 70, 261);
    EXPECT_TRUE(SameBits(problem.Run("ref"), problem.RunApart("ref", "ref")));
    ForEachSimdTarget([&] {
      EXPECT_TRUE(SameBits(problem.Run("linear_silu_and_mul_panel"),
                           problem.RunApart("linear_panel", "silu_and_mul_")))
          << "M=" << m;
    });
  }
}

class LinearSiluAndMulErrors : public testing::Test {
 protected:
  void ExpectError(const char* text) {
    const Status status = LinearSiluAndMul(problem_.Context(""), args_);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr(text));
  }

  Problem<Bf16> problem_{2, 5, 4};
  std::vector<Bf16> out_ = problem_.NewOut();
  LinearSiluAndMulArgs args_ = {ConstTensor(problem_.x.data(), Shape{2, 4}), &problem_.gate,
                                &problem_.up, problem_.View(out_)};
};

TEST_F(LinearSiluAndMulErrors, NoneForTheFixture) {
  EXPECT_TRUE(LinearSiluAndMul(problem_.Context(""), args_).ok());
}

TEST_F(LinearSiluAndMulErrors, Weights) {
  args_.up = nullptr;
  ExpectError("there is no weight");
  Problem<Bf16> other(2, 6, 4);
  args_.up = &other.gate;
  ExpectError("want bf16 [M=2, N=6]");
  const Weight rows = Weight::View(ConstTensor(problem_.up_rows.data(), Shape{5, 4}));
  args_.up = &rows;
  ExpectError("packed in different ways");
}

TEST_F(LinearSiluAndMulErrors, Out) {
  std::vector<float> wide(10);
  args_.out = Tensor(wide.data(), Shape{2, 5});
  ExpectError("out is f32 [2, 5], want bf16");
  args_.out = Tensor(problem_.x.data(), Shape{2, 5});
  ExpectError("out overlaps x");
}

}  // namespace
}  // namespace gdn
