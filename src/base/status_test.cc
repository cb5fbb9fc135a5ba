// SPDX-License-Identifier: Apache-2.0
#include "base/status.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace gdn {
namespace {

Status FailWhen(bool fail) { return fail ? NotFound("no such tensor") : OkStatus(); }

Result<std::unique_ptr<int>> Make(int value) {
  if (value < 0) return InvalidArgument("value is negative");
  return std::make_unique<int>(value);
}

TEST(Status, DefaultIsOk) {
  const Status status;
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(status.code(), StatusCode::kOk);
  EXPECT_EQ(status.message(), "");
}

TEST(Status, EachFactoryHasItsCode) {
  EXPECT_EQ(InvalidArgument("m").code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(NotFound("m").code(), StatusCode::kNotFound);
  EXPECT_EQ(OutOfMemory("m").code(), StatusCode::kOutOfMemory);
  EXPECT_EQ(Unsupported("m").code(), StatusCode::kUnsupported);
  EXPECT_EQ(Cancelled("m").code(), StatusCode::kCancelled);
  EXPECT_EQ(Internal("m").code(), StatusCode::kInternal);
  EXPECT_EQ(Internal("m").message(), "m");
  EXPECT_FALSE(Internal("m").ok());
}

TEST(Status, ReturnIfErrorReturnsTheErrorAndOnlyThat) {
  int reached = 0;
  const auto run = [&](bool fail) -> Status {
    GDN_RETURN_IF_ERROR(FailWhen(fail));
    ++reached;
    return OkStatus();
  };
  EXPECT_TRUE(run(false).ok());
  EXPECT_EQ(reached, 1);
  const Status failed = run(true);
  EXPECT_EQ(failed.code(), StatusCode::kNotFound);
  EXPECT_EQ(failed.message(), "no such tensor");
  EXPECT_EQ(reached, 1);
}

TEST(Result, HoldsAValue) {
  Result<std::unique_ptr<int>> result = Make(7);
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(result.status().ok());
  EXPECT_EQ(**result, 7);
  EXPECT_EQ(*result->get(), 7);
  const std::unique_ptr<int> taken = *std::move(result);
  EXPECT_EQ(*taken, 7);
}

TEST(Result, HoldsAnError) {
  const Result<std::unique_ptr<int>> result = Make(-1);
  EXPECT_FALSE(result.ok());
  EXPECT_EQ(result.status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(result.status().message(), "value is negative");
}

TEST(Result, AssignOrReturnMovesTheValueOut) {
  // Twice in one function: the macro's own names must not collide.
  const auto add = [](int a, int b) -> Result<int> {
    GDN_ASSIGN_OR_RETURN(const std::unique_ptr<int> x, Make(a));
    GDN_ASSIGN_OR_RETURN(const std::unique_ptr<int> y, Make(b));
    return *x + *y;
  };
  EXPECT_EQ(*add(2, 3), 5);
  EXPECT_EQ(add(2, -3).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(add(-2, 3).status().message(), "value is negative");
}

TEST(ResultDeathTest, ValueOfAnErrorIsABug) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const Result<std::string> result = NotFound("no such file");
  EXPECT_DEATH((void)result.value(), "internal error at .*status.h.*ok\\(\\) does not hold");
}

TEST(ResultDeathTest, OkIsNoError) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH((void)Result<int>(OkStatus()), "does not hold");
}

}  // namespace
}  // namespace gdn
