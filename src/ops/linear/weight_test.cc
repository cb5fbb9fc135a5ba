// SPDX-License-Identifier: Apache-2.0
#include "ops/linear/weight.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <tuple>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "ops/linear/weight_layout.h"

namespace gdn {
namespace {

using testing::HasSubstr;

template <class T>
std::vector<T> RandomBits(size_t count) {
  Rng rng(7);
  std::vector<T> out(count);
  for (T& value : out) {
    const uint64_t bits = rng.NextU64();  // NaN payloads and denormals too: a copy keeps them
    std::memcpy(&value, &bits, sizeof value);
  }
  return out;
}

constexpr auto kIgnore = [](int64_t /*first*/, int64_t /*count*/) {};

template <class T>
class WeightPack : public testing::Test {};
using ElementTypes = testing::Types<float, F16, Bf16>;
TYPED_TEST_SUITE(WeightPack, ElementTypes);

TYPED_TEST(WeightPack, HoldsEveryElementBitForBit) {
  using T = TypeParam;
  for (const auto& [n, k] :
       {std::pair<int64_t, int64_t>{1, 1}, {31, 2}, {32, 33}, {33, 32}, {100, 5001}}) {
    const std::vector<T> rows = RandomBits<T>(static_cast<size_t>(n * k));
    ThreadPool pool(2);
    const auto packed = Weight::Pack(ConstTensor(rows.data(), Shape{n, k}), pool, kIgnore);
    ASSERT_TRUE(packed.ok());
    EXPECT_EQ(packed->rows(), n);
    EXPECT_EQ(packed->cols(), k);
    EXPECT_EQ(packed->dtype(), DTypeOf<T>());
    EXPECT_EQ(packed->layout(), WeightLayout::kPanel32);
    const Weight view = Weight::View(ConstTensor(rows.data(), Shape{n, k}));
    EXPECT_EQ(view.layout(), WeightLayout::kRowMajor);
    EXPECT_EQ(view.size_bytes(), rows.size() * sizeof(T));
    for (int64_t row = 0; row < n; ++row) {
      for (int64_t col = 0; col < k; ++col) {
        const T a = WeightAt<T>(*packed, row, col);
        const T b = WeightAt<T>(view, row, col);
        ASSERT_EQ(std::memcmp(&a, &b, sizeof a), 0) << row << " " << col;
        ASSERT_EQ(std::memcmp(&a, &rows[static_cast<size_t>(row * k + col)], sizeof a), 0);
      }
    }
  }
}

TYPED_TEST(WeightPack, ComesBackRowMajor) {
  using T = TypeParam;
  for (const auto& [n, k] : {std::pair<int64_t, int64_t>{1, 1}, {33, 5}, {64, 32}}) {
    const std::vector<T> rows = RandomBits<T>(static_cast<size_t>(n * k));
    ThreadPool pool(1);
    const ConstTensor source(rows.data(), Shape{n, k});
    const Weight packed = Weight::Pack(source, pool, kIgnore).value();
    const Weight back = packed.RowMajor().value();
    EXPECT_EQ(back.layout(), WeightLayout::kRowMajor);
    EXPECT_EQ(back.rows(), n);
    EXPECT_EQ(back.cols(), k);
    ASSERT_EQ(back.size_bytes(), rows.size() * sizeof(T));
    EXPECT_EQ(std::memcmp(back.data(), rows.data(), back.size_bytes()), 0);
  }
}

TYPED_TEST(WeightPack, PadsWithZeros) {
  using T = TypeParam;
  const std::vector<T> rows(33 * 3, FromF32<T>(1.0F));
  ThreadPool pool(1);
  const Weight packed = Weight::Pack(ConstTensor(rows.data(), Shape{33, 3}), pool, kIgnore).value();
  size_t ones = 0;
  const auto* values = static_cast<const T*>(packed.data());
  for (size_t i = 0; i < packed.size_bytes() / sizeof(T); ++i) ones += ToF32(values[i]) == 1.0F;
  EXPECT_EQ(ones, rows.size());
  EXPECT_EQ(packed.size_bytes(), static_cast<size_t>(2 * PanelDwords(3, DTypeOf<T>()) * 4));
}

TEST(Weight, PairsKInDwords) {
  std::vector<Bf16> rows(2 * 4);
  for (size_t i = 0; i < rows.size(); ++i) rows[i].bits = static_cast<uint16_t>(i + 1);
  ThreadPool pool(1);
  const Weight packed = Weight::Pack(ConstTensor(rows.data(), Shape{2, 4}), pool, kIgnore).value();
  const auto* dwords = static_cast<const uint32_t*>(packed.data());
  EXPECT_EQ(dwords[0], 0x00020001U);   // row 0, k 1 and 0
  EXPECT_EQ(dwords[1], 0x00060005U);   // row 1
  EXPECT_EQ(dwords[32], 0x00040003U);  // row 0, k 3 and 2
}

TEST(Weight, ReportsStripesThatCoverTheRowsInOrder) {
  constexpr int64_t kRows = 150001;
  const std::vector<Bf16> rows(kRows * 100);
  ThreadPool pool(2);
  int64_t next = 0;
  int calls = 0;
  const auto packed = Weight::Pack(ConstTensor(rows.data(), Shape{kRows, 100}), pool,
                                   [&](int64_t first, int64_t count) {
                                     EXPECT_EQ(first, next);
                                     EXPECT_GT(count, 0);
                                     next = first + count;
                                     ++calls;
                                   });
  ASSERT_TRUE(packed.ok());
  EXPECT_EQ(next, kRows);
  EXPECT_GT(calls, 5);  // 30 MB in stripes of about 4 MiB
}

TEST(Weight, PacksStridedRows) {
  const std::vector<Bf16> rows = RandomBits<Bf16>(40 * 20);
  ThreadPool pool(1);
  const Weight packed =
      Weight::Pack(ConstTensor(rows.data(), Shape{40, 20}).Columns(5, 7), pool, kIgnore).value();
  for (int64_t row = 0; row < 40; ++row) {
    for (int64_t col = 0; col < 7; ++col) {
      ASSERT_EQ(WeightAt<Bf16>(packed, row, col).bits,
                rows[static_cast<size_t>(row * 20 + 5 + col)].bits);
    }
  }
}

TEST(Weight, SurvivesAMove) {
  const std::vector<float> rows(64 * 64, 2.0F);
  ThreadPool pool(1);
  Weight packed = Weight::Pack(ConstTensor(rows.data(), Shape{64, 64}), pool, kIgnore).value();
  const Weight moved = std::move(packed);
  EXPECT_EQ(WeightAt<float>(moved, 63, 63), 2.0F);
}

TEST(Weight, RefusesWhatIsNoMatrix) {
  const std::vector<float> rows(16);
  const std::vector<int32_t> ids(16);
  ThreadPool pool(1);
  ConstTensor transposed(rows.data(), Shape{4, 4});
  transposed.strides = {1, 4};
  for (const ConstTensor& source :
       {ConstTensor(rows.data(), Shape{16}), ConstTensor(rows.data(), Shape{0, 4}),
        ConstTensor(rows.data(), Shape{4, 0}), ConstTensor(ids.data(), Shape{4, 4}), transposed,
        ConstTensor(static_cast<const float*>(nullptr), Shape{4, 4})}) {
    const auto packed = Weight::Pack(source, pool, kIgnore);
    EXPECT_EQ(packed.status().code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(packed.status().message(), HasSubstr("want rows [N, K]"));
  }
}

}  // namespace
}  // namespace gdn
