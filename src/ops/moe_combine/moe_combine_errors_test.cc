// SPDX-License-Identifier: Apache-2.0
// What MoeCombine refuses.
#include <gmock/gmock.h>

#include "ops/common/testing/test_rows.h"
#include "ops/moe_combine/moe_combine.h"

namespace gdn {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class MoeCombineErrors : public testing::Test {
 protected:
  void SetUp() override {
    args_.expert_out = Experts(experts_);
    args_.weights = weights_.view();
    args_.shared = shared_.view();
    args_.shared_gate_logit = logit_.view();
    args_.out = out_.view();
    args_.routed = routed_.view();
    args_.shared_out = shared_out_.view();
    good_ = args_;
    ASSERT_TRUE(MoeCombine(context_(), args_).ok());
  }
  static ConstTensor Experts(TestRows& rows) {
    return ConstTensor(rows.view().data, rows.view().dtype, Shape{3, 2, 8});
  }
  // Checks the message for args_, then puts args_ right again.
  void ExpectError(const std::string& text) {
    const Status status = MoeCombine(context_(), args_);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), StartsWith("moe_combine: "));
    EXPECT_THAT(status.message(), HasSubstr(text));
    args_ = good_;
  }

  TestContext context_;
  TestRows experts_{DType::kBf16, 6, 8};
  TestRows weights_{DType::kF32, 3, 2};
  TestRows shared_{DType::kBf16, 3, 8};
  TestRows logit_{DType::kBf16, 3, 1};
  TestRows out_{DType::kBf16, 3, 8};
  TestRows routed_{DType::kBf16, 3, 8};
  TestRows shared_out_{DType::kBf16, 3, 8};
  MoeCombineArgs args_, good_;
};

TEST_F(MoeCombineErrors, Experts) {
  args_.expert_out.shape = Shape{3, 2, 7};
  ExpectError("expert_out is bf16 [3, 2, 7], want bf16 [T=3, top_k=2, H=8]");
  args_.expert_out.shape = Shape{3, 0, 8};
  ExpectError("expert_out is bf16 [3, 0, 8], want bf16 [T=3, top_k >= 1, H=8]");
  args_.expert_out = out_.view();
  ExpectError("expert_out is bf16 [3, 8], want bf16 [T=3, top_k >= 1, H=8]");
  args_.expert_out.strides[1] = -8;
  ExpectError("expert_out has strides 16 and -8, want at least 0");
  args_.expert_out.strides[2] = 2;
  ExpectError("expert_out has stride 2 on its last axis, want 1");
  args_.order = MoeCombineOrder::kFusedKernel;
  ExpectError("expert_out is bf16 [3, 2, 8], want f32 [T=3, top_k=2, H=8]");
}

TEST_F(MoeCombineErrors, Weights) {
  args_.weights.shape = Shape{3, 3};
  ExpectError("weights is f32 [3, 3], want f32 [T=3, top_k=2]");
  args_.weights.dtype = DType::kBf16;
  ExpectError("weights is bf16 [3, 2], want f32 [T=3, top_k=2]");
  args_.weights.strides[0] = 3;
  ExpectError("weights is strided, want it contiguous");
}

TEST_F(MoeCombineErrors, Shared) {
  args_.shared.shape = Shape{2, 8};
  ExpectError("shared is bf16 [2, 8], want bf16 [T=3, H=8]");
  args_.shared.strides[0] = -8;
  ExpectError("shared has row stride -8, want at least 0");
  args_.shared_gate_logit.shape = Shape{3, 2};
  ExpectError("shared_gate_logit is bf16 [3, 2], want bf16 [T=3, n=1]");
  args_.shared_gate_logit.strides[0] = -1;
  ExpectError("shared_gate_logit has row stride -1, want at least 0");
  args_.shared_gate_logit = ConstTensor();
  ExpectError("shared_gate_logit is f32 [], want bf16 [T=3, n=1]");
  args_.shared = ConstTensor();
  ExpectError("shared_gate_logit is bf16 [3, 1], want it empty: there is no shared expert");
  args_.shared = args_.shared_gate_logit = ConstTensor();
  ExpectError("shared_out is bf16 [3, 8], want it empty: there is no shared expert");
}

TEST_F(MoeCombineErrors, Outputs) {
  args_.out.dtype = DType::kI32;
  ExpectError("out is i32 [3, 8], want f32, f16 or bf16");
  args_.out.strides[0] = 4;
  ExpectError("out has row stride 4, want at least 8");
  args_.routed.shape = Shape{3, 7};
  ExpectError("routed is bf16 [3, 7], want bf16 [R=3, n=8]");
  args_.shared_out.dtype = DType::kF32;
  ExpectError("shared_out is f32 [3, 8], want bf16 [R=3, n=8]");
}

TEST_F(MoeCombineErrors, Aliasing) {
  for (const std::string name : {"out", "routed", "shared_out"}) {
    const auto expect_overlap = [&](void* data, const std::string& with) {
      (name == "out" ? args_.out : name == "routed" ? args_.routed : args_.shared_out).data = data;
      ExpectError(StrCat(name, " overlaps ", with));
    };
    expect_overlap(experts_.view().data, "expert_out, want memory of its own");
    expect_overlap(weights_.view().data, "weights, want memory of its own");
    expect_overlap(logit_.view().data, "shared_gate_logit, want memory of its own");
    expect_overlap(shared_.view().Slice(1, 1).data, name == "routed"
                                                        ? "shared, want memory of its own"
                                                        : "shared, want it exactly equal or apart");
  }
  args_.routed = shared_.view();  // the very same view
  ExpectError("routed overlaps shared, want memory of its own");
  args_.routed = out_.view();
  ExpectError("routed overlaps out, want memory of its own");
  args_.shared_out = out_.view();
  ExpectError("shared_out overlaps out, want memory of its own");
  args_.shared_out = routed_.view();
  ExpectError("shared_out overlaps routed, want memory of its own");
}

}  // namespace
}  // namespace gdn
