// SPDX-License-Identifier: Apache-2.0
#include "ops/embedding/embedding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "base/rng.h"

namespace gdn {
namespace {

using testing::HasSubstr;

constexpr auto kIgnore = [](int64_t /*first*/, int64_t /*count*/) {};

template <class T>
class EmbeddingTypes : public testing::Test {};
using ElementTypes = testing::Types<float, F16, Bf16>;
TYPED_TEST_SUITE(EmbeddingTypes, ElementTypes);

TYPED_TEST(EmbeddingTypes, CopiesRowsBitForBitFromEitherLayout) {
  using T = TypeParam;
  constexpr int64_t kVocab = 70;
  const std::vector<int32_t> ids = {69, 0, 31, 32, 33, 69, 64};
  for (const int64_t hidden : {1, 2, 7, 64, 1024, 1025, 2051}) {
    std::vector<T> rows(static_cast<size_t>(kVocab * hidden));
    Rng rng(3);
    for (T& value : rows) {
      const uint64_t bits = rng.NextU64();  // NaN payloads too
      std::memcpy(&value, &bits, sizeof value);
    }
    const ConstTensor source(rows.data(), Shape{kVocab, hidden});
    ThreadPool pool(2);
    const Weight packed = Weight::Pack(source, pool, kIgnore).value();
    const Weight view = Weight::View(source);
    for (const Weight* table : {&packed, &view}) {
      for (const char* impl : {"", "ref"}) {
        ExecContext ctx;
        ctx.pool = &pool;
        ctx.impl = impl;
        const int64_t stride = hidden + 3;
        const auto filler = FromF32<T>(-7.0F);
        std::vector<T> out(ids.size() * static_cast<size_t>(stride), filler);
        EmbeddingArgs args;
        args.ids = ids;
        args.table = table;
        args.out = Tensor(out.data(), Shape{7, stride}).Columns(0, hidden);
        const Status status = Embedding(ctx, args);
        ASSERT_TRUE(status.ok()) << status.message();
        for (size_t t = 0; t < ids.size(); ++t) {
          const T* row = &out[t * static_cast<size_t>(stride)];
          ASSERT_EQ(std::memcmp(row, &rows[static_cast<size_t>(ids[t] * hidden)],
                                static_cast<size_t>(hidden) * sizeof(T)),
                    0);
          for (int64_t k = hidden; k < stride; ++k) ASSERT_EQ(ToF32(row[k]), -7.0F);
        }
      }
    }
  }
}

class EmbeddingErrors : public testing::Test {
 protected:
  EmbeddingErrors() {
    ctx_.pool = &pool_;
    args_.ids = ids_;
    args_.table = &table_;
    args_.out = Tensor(out_.data(), Shape{3, 4});
  }
  void ExpectError(const char* text) {
    const Status status = Embedding(ctx_, args_);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr(text));
  }

  std::vector<float> rows_ = std::vector<float>(5 * 4), out_ = std::vector<float>(3 * 4);
  std::vector<int32_t> ids_ = {0, 4, 2};
  Weight table_ = Weight::View(ConstTensor(rows_.data(), Shape{5, 4}));
  ThreadPool pool_{1};
  ExecContext ctx_;
  EmbeddingArgs args_;
};

TEST_F(EmbeddingErrors, NoneForTheFixtureNorForNoTokens) {
  EXPECT_TRUE(Embedding(ctx_, args_).ok());
  args_.ids = {};
  args_.out = Tensor(out_.data(), Shape{0, 4});
  EXPECT_TRUE(Embedding(ctx_, args_).ok());
}

TEST_F(EmbeddingErrors, Ids) {
  ids_[1] = 5;
  ExpectError("ids[1] is 5, want 0 to 4");
  ids_[1] = -1;
  ExpectError("ids[1] is -1, want 0 to 4");
}

TEST_F(EmbeddingErrors, Table) {
  args_.table = nullptr;
  ExpectError("there is no table");
}

TEST_F(EmbeddingErrors, Out) {
  args_.out = Tensor(out_.data(), Shape{4, 3});
  ExpectError("out is f32 [4, 3], want f32 [T=3, hidden=4]");
  args_.out = Tensor(reinterpret_cast<Bf16*>(out_.data()), Shape{3, 4});
  ExpectError("out is bf16 [3, 4]");
  args_.out = Tensor(out_.data(), Shape{3, 4});
  args_.out.strides[0] = 3;
  ExpectError("out has rows 3 apart, want at least hidden=4");
}

}  // namespace
}  // namespace gdn
