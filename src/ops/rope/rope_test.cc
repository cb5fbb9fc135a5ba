// SPDX-License-Identifier: Apache-2.0
#include "ops/rope/rope.h"

#include <gmock/gmock.h>

#include <array>
#include <ostream>

#include "ops/common/testing/simd_targets.h"
#include "ops/common/testing/test_rows.h"

namespace gdn {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// A table of f32 with cos and sin of each position.
class Table {
 public:
  Table(int64_t positions, int64_t rotary_dim, double theta, int threads = 1)
      : values_(static_cast<size_t>(positions * rotary_dim), NAN), shape_{positions, rotary_dim} {
    TestContext context(threads);
    FillRopeTable(context(), theta, Tensor(values_.data(), shape_));
  }
  ConstTensor view() const { return ConstTensor(values_.data(), shape_); }
  const std::vector<float>& values() const { return values_; }

 private:
  std::vector<float> values_;
  Shape shape_;
};

struct HeadsCase {
  int64_t tokens;
  int64_t heads;
  int64_t dim;
  int64_t rotary_dim;

  std::string Name() const { return StrCat("T", tokens, "_H", heads, "_D", dim, "_R", rotary_dim); }
};
void PrintTo(const HeadsCase& size, std::ostream* out) { *out << size.Name(); }

std::vector<int32_t> Positions(int64_t tokens, uint64_t seed, uint64_t bound) {
  Rng rng(seed);
  std::vector<int32_t> positions(static_cast<size_t>(tokens));
  for (int32_t& position : positions) position = static_cast<int32_t>(rng.NextBelow(bound));
  return positions;
}

// Heads lie gap elements apart, in a row [heads * (dim + gap)] of each token.
Tensor HeadsView(TestRows& rows, const HeadsCase& size, int64_t gap) {
  Tensor x = rows.view();
  x.shape = Shape{size.tokens, size.heads, size.dim};
  x.strides[1] = size.dim + gap;
  x.strides[2] = 1;
  return x;
}

TestRows RunCase(const HeadsCase& size, DType dtype, int64_t gap, int threads,
                 std::string_view impl) {
  TestRows x(dtype, size.tokens, size.heads * (size.dim + gap),
             size.heads * (size.dim + gap) + gap);
  x.FillNormal(1);
  const Table table(50, size.rotary_dim, 1e4);
  const std::vector<int32_t> positions = Positions(size.tokens, 2, 50);
  TestContext context(threads);
  const Status status = Rope(context(impl), {table.view(), positions, HeadsView(x, size, gap)});
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_TRUE(x.GapsUntouched());
  return x;
}

using RopeCase = std::tuple<DType, HeadsCase>;

std::string RopeCaseName(const testing::TestParamInfo<RopeCase>& param_info) {
  const auto& [dtype, size] = param_info.param;
  return StrCat(Name(dtype), "_", size.Name());
}

class RopeCases : public testing::TestWithParam<RopeCase> {};

TEST_P(RopeCases, EveryTargetHasTheBitsOfTheReference) {
  const DType dtype = std::get<0>(GetParam());
  const HeadsCase& size = std::get<1>(GetParam());
  for (const int64_t gap : {0, 3}) {
    const TestRows want = RunCase(size, dtype, gap, 1, "ref");
    ForEachSimdTarget([&] {
      EXPECT_EQ(RunCase(size, dtype, gap, 1, "rope_").bytes(), want.bytes());
      EXPECT_EQ(RunCase(size, dtype, gap, 3, "rope_").bytes(), want.bytes());
    });
  }
}

TEST_P(RopeCases, RotatesThePairsAndPassesTheRest) {
  const auto& [dtype, size] = GetParam();
  const int64_t gap = 3;
  TestRows before(dtype, size.tokens, size.heads * (size.dim + gap),
                  size.heads * (size.dim + gap) + gap);
  before.FillNormal(1);
  const TestRows after = RunCase(size, dtype, gap, 1, "ref");
  const std::vector<int32_t> positions = Positions(size.tokens, 2, 50);
  const double step = dtype == DType::kF32 ? 0x1p-22 : dtype == DType::kF16 ? 0x1p-9 : 0x1p-6;
  for (int64_t t = 0; t < size.tokens; ++t) {
    for (int64_t i = 0; i < size.heads * (size.dim + gap); ++i) {
      const int64_t h = size.rotary_dim / 2;
      const int64_t j = i % (size.dim + gap);
      if (j >= size.rotary_dim) {
        ASSERT_EQ(after.At(t, i), before.At(t, i)) << t << " " << i;
        continue;
      }
      const double angle =
          positions[static_cast<size_t>(t)] *
          std::pow(1e4, -2.0 * static_cast<double>(j % h) / static_cast<double>(2 * h));
      const double other = j < h ? -before.At(t, i + h) : before.At(t, i - h);
      const double want = before.At(t, i) * std::cos(angle) + other * std::sin(angle);
      ASSERT_NEAR(after.At(t, i), want, 4 * step + 2e-4 * (dtype == DType::kF32 ? 0.1 : 1));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, RopeCases,
    testing::Combine(testing::Values(DType::kF32, DType::kF16, DType::kBf16),
                     testing::Values(HeadsCase{0, 2, 64, 32}, HeadsCase{1, 1, 64, 64},
                                     HeadsCase{1, 8, 256, 64}, HeadsCase{3, 2, 10, 6},
                                     HeadsCase{5, 2, 128, 2}, HeadsCase{65, 4, 256, 64},
                                     HeadsCase{300, 4, 70, 38})),
    RopeCaseName);

TEST(Rope, RowsDoNotDependOnTheBatch) {
  const TestRows many = RunCase({65, 4, 256, 64}, DType::kBf16, 0, 1, "");
  const TestRows few = RunCase({2, 4, 256, 64}, DType::kBf16, 0, 1, "");
  EXPECT_EQ(few.RowBytes(0), many.RowBytes(0));
  EXPECT_EQ(few.RowBytes(1), many.RowBytes(1));
}

// One rounding of the sum: rounding the products too, as one path of the reference does, shows.
TEST(Rope, RoundsOnce) {
  const HeadsCase size{16, 4, 64, 64};
  TestRows before(DType::kBf16, 16, 256);
  before.FillNormal(1);
  const TestRows after = RunCase(size, DType::kBf16, 0, 1, "ref");
  const Table table(50, 64, 1e4);
  const std::vector<int32_t> positions = Positions(16, 2, 50);
  size_t once_differs = 0;
  size_t products_differ = 0;
  for (int64_t t = 0; t < 16; ++t) {
    const float* cos = table.view().Row<float>(positions[static_cast<size_t>(t)]);
    for (int64_t i = 0; i < 32; ++i) {
      const float a = before.At(t, i) * cos[i];
      const float b = before.At(t, i + 32) * cos[i + 32];
      once_differs += RoundTo<Bf16>(a - b) != after.At(t, i) ? 1U : 0U;
      products_differ +=
          RoundTo<Bf16>(RoundTo<Bf16>(a) - RoundTo<Bf16>(b)) != after.At(t, i) ? 1U : 0U;
    }
  }
  EXPECT_EQ(once_differs, 0U);
  EXPECT_GT(products_differ, 100U);
}

TEST(RopeTable, IsTheSameForAnyNumberOfThreads) {
  EXPECT_EQ(Table(2000, 64, 1e7, 1).values(), Table(2000, 64, 1e7, 3).values());
}

TEST(RopeTable, HoldsCosThenSinOfAnF32Angle) {
  const Table table(131073, 32, 1e4);
  const float* first = table.view().Row<float>(0);
  const float* last = table.view().Row<float>(131072);
  size_t f64_differs = 0;
  for (int64_t i = 0; i < 16; ++i) {
    EXPECT_EQ(first[i], 1);
    EXPECT_EQ(first[16 + i], 0);
    const float frequency =
        1.0F / static_cast<float>(
                   std::pow(10000.0, static_cast<double>(static_cast<float>(2 * i) / 32.0F)));
    const float angle = 131072.0F * frequency;
    EXPECT_EQ(last[i], static_cast<float>(std::cos(double{angle}))) << i;
    EXPECT_EQ(last[16 + i], static_cast<float>(std::sin(double{angle}))) << i;
    const double exact = 131072 * std::pow(10000.0, -2.0 * static_cast<double>(i) / 32.0);
    f64_differs += std::abs(last[i] - std::cos(exact)) > 1e-5 ? 1U : 0U;
  }
  EXPECT_GT(f64_differs, 3U);  // the rounding of frequency and angle is far from noise out there
}

class RopeErrors : public testing::Test {
 protected:
  void SetUp() override {
    args_ = {table_.view(), positions_, HeadsView(x_, kSize, 0)};
    ASSERT_TRUE(Rope(context_(), args_).ok());
  }
  void ExpectError(const std::string& text) {
    const Status status = Rope(context_(), args_);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), StartsWith("rope: "));
    EXPECT_THAT(status.message(), HasSubstr(text));
  }

  static constexpr HeadsCase kSize{3, 2, 16, 8};
  TestContext context_;
  Table table_{64, 8, 1e4};
  TestRows x_{DType::kBf16, 3, 32};
  std::array<int32_t, 3> positions_ = {0, 63, 5};
  RopeArgs args_;
};

TEST_F(RopeErrors, TableShape) {
  std::vector<float> values(64 * 8, 0.0F);
  args_.table = ConstTensor(values.data(), Shape{64, 7});
  ExpectError("table is f32 [64, 7], want f32 [P, rotary_dim even and >= 2]");
  args_.table = ConstTensor(values.data(), Shape{512});
  ExpectError("table is f32 [512], want");
  args_.table = ConstTensor(values.data(), DType::kBf16, Shape{64, 8});
  ExpectError("table is bf16 [64, 8], want");
  args_.table = ConstTensor(values.data(), Shape{16, 32});
  ExpectError("x is bf16 [3, 2, 16], want f32, f16 or bf16 [T, heads, D >= 32]");
}

TEST_F(RopeErrors, X) {
  args_.x.dtype = DType::kI32;
  ExpectError("x is i32 [3, 2, 16], want");
  args_.x = x_.view();
  ExpectError("x is bf16 [3, 32], want");
  args_.x = HeadsView(x_, kSize, 0);
  args_.x.strides[1] = 8;
  ExpectError("x [3, 2, 16] has strides 32 and 8, want heads that share no element");
  args_.x = HeadsView(x_, kSize, 0);
  args_.x.strides[0] = 16;
  ExpectError("want heads that share no element");
  args_.x = HeadsView(x_, kSize, 0);
  args_.x.data = nullptr;
  ExpectError("x has no data");
}

TEST_F(RopeErrors, HeadsMayBeTheOuterAxis) {
  args_.x.strides[0] = 16;
  args_.x.strides[1] = 48;
  EXPECT_TRUE(Rope(context_(), args_).ok());
}

TEST_F(RopeErrors, Positions) {
  positions_[1] = 64;
  ExpectError("positions[1] is 64, want it in [0, P=64)");
  positions_[1] = -1;
  ExpectError("positions[1] is -1, want it in [0, P=64)");
  args_.positions = std::span<const int32_t>(positions_).first(2);
  ExpectError("positions has 2 entries, want T=3");
}

}  // namespace
}  // namespace gdn
