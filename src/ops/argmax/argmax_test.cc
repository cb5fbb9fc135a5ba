// SPDX-License-Identifier: Apache-2.0
#include "ops/argmax/argmax.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "ops/argmax/argmax_cases_testing.h"
#include "ops/common/testing/test_rows.h"

namespace gdn {
namespace {

using testing::HasSubstr;

TEST(Argmax, FindsTheFirstLargestElement) {
  TestContext context;
  for (const ArgmaxCase& test : ArgmaxCases()) {
    int32_t index = -7;
    const ConstTensor x(test.row.data(), Shape{1, static_cast<int64_t>(test.row.size())});
    ASSERT_TRUE(Argmax(context(), {x, Tensor(&index, Shape{1})}).ok());
    EXPECT_EQ(index, test.want) << test.row.size() << " elements";
  }
}

TEST(Argmax, TakesStridedRows) {
  TestContext context;
  const std::vector<float> x = {1, 2, 9, 4, 3, 9};
  std::vector<int32_t> index(2, -7);
  const ConstTensor rows = ConstTensor(x.data(), Shape{2, 3}).Columns(0, 2);
  ASSERT_TRUE(Argmax(context(), {rows, Tensor(index.data(), Shape{2})}).ok());
  EXPECT_EQ(index, (std::vector<int32_t>{1, 0}));
}

class ArgmaxErrors : public testing::Test {
 protected:
  void ExpectError(const char* text) {
    const Status status = Argmax(context_(), args_);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr(text));
  }

  TestContext context_;
  std::vector<float> x_ = std::vector<float>(6);
  std::vector<int32_t> index_ = std::vector<int32_t>(3);
  ArgmaxArgs args_{ConstTensor(x_.data(), Shape{3, 2}), Tensor(index_.data(), Shape{3})};
};

TEST_F(ArgmaxErrors, NoneForTheFixture) { EXPECT_TRUE(Argmax(context_(), args_).ok()); }

TEST_F(ArgmaxErrors, Shapes) {
  args_.index = Tensor(index_.data(), Shape{2});
  ExpectError("argmax: index is i32 [2], want i32 [R=3]");
  args_.x = ConstTensor(x_.data(), Shape{6});
  ExpectError("argmax: x is");
}

TEST_F(ArgmaxErrors, DTypes) {
  args_.index = Tensor(x_.data(), Shape{3});
  ExpectError("argmax: index is f32 [3], want i32 [R=3]");
  args_.x = ConstTensor(reinterpret_cast<Bf16*>(x_.data()), Shape{3, 2});
  ExpectError("argmax: x is bf16, want f32");
}

TEST_F(ArgmaxErrors, Overlap) {
  args_.index = Tensor(reinterpret_cast<int32_t*>(x_.data()) + 3, Shape{3});
  ExpectError("argmax: index");
}

}  // namespace
}  // namespace gdn
