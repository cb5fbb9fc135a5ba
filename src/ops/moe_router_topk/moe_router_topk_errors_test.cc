// SPDX-License-Identifier: Apache-2.0
// What MoeRouterTopk refuses.
#include <gmock/gmock.h>

#include "ops/common/testing/test_rows.h"
#include "ops/moe_router_topk/moe_router_topk.h"

namespace gdn {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class MoeRouterTopkErrors : public testing::Test {
 protected:
  void SetUp() override {
    args_ = {logits_.view(), MoeRenormalise::kSumToOne, Tensor(weights_.data(), Shape{3, 2}),
             Tensor(ids_.data(), Shape{3, 2})};
    ASSERT_TRUE(MoeRouterTopk(context_(), args_).ok());
  }
  void ExpectError(const std::string& text) {
    const Status status = MoeRouterTopk(context_(), args_);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), StartsWith("moe_router_topk: "));
    EXPECT_THAT(status.message(), HasSubstr(text));
  }

  TestContext context_;
  TestRows logits_{DType::kF32, 3, 8};
  std::vector<float> weights_ = std::vector<float>(64);
  std::vector<int32_t> ids_ = std::vector<int32_t>(64);
  MoeRouterTopkArgs args_;
};

TEST_F(MoeRouterTopkErrors, Logits) {
  args_.logits.dtype = DType::kI32;
  ExpectError("logits is i32 [3, 8], want f32, f16 or bf16");
  args_.logits = logits_.view();
  args_.logits.strides[0] = -8;
  ExpectError("logits has row stride -8, want at least 0");
  args_.logits = logits_.view();
  args_.logits.shape = Shape{3, 0};
  ExpectError("logits is f32 [3, 0], want");
  args_.logits.shape = Shape{3, 1025};
  ExpectError("logits is f32 [3, 1025], want at most 1024 experts");
}

TEST_F(MoeRouterTopkErrors, Outputs) {
  const Tensor weights = args_.weights;
  for (const Shape& shape : {Shape{3, 9}, Shape{3, 0}, Shape{3}}) {
    args_.weights.shape = shape;
    ExpectError("weights is " + Describe(args_.weights) + ", want f32 [T=3, 1 <= top_k <= 8]");
  }
  args_.weights.shape = Shape{2, 2};
  ExpectError("weights is f32 [2, 2], want f32 [T=3, top_k=2]");
  args_.weights = weights;
  args_.weights.strides[0] = 3;
  ExpectError("weights is strided, want it contiguous");
  args_.weights = weights;
  args_.ids.shape = Shape{3, 3};
  ExpectError("ids is i32 [3, 3], want i32 [T=3, top_k=2]");
  args_.ids = Tensor(weights_.data() + 16, Shape{3, 2});
  ExpectError("ids is f32 [3, 2], want i32 [T=3, top_k=2]");
}

TEST_F(MoeRouterTopkErrors, Aliasing) {
  const Tensor weights = args_.weights;
  args_.weights.data = logits_.view().data;
  ExpectError("weights overlaps logits, want memory of its own");
  args_.weights = weights;
  args_.ids.data = logits_.view().data;
  ExpectError("ids overlaps logits, want memory of its own");
  args_.ids.data = weights_.data() + 5;
  ExpectError("ids overlaps weights, want memory of its own");
}

}  // namespace
}  // namespace gdn
