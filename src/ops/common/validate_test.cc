// SPDX-License-Identifier: Apache-2.0
#include "ops/common/validate.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

namespace gdn {
namespace {

class CheckTensorTest : public testing::Test {
 protected:
  std::vector<float> data_ = std::vector<float>(64);
  Tensor tensor_ = Tensor(data_.data(), Shape{7, 4});
};

TEST_F(CheckTensorTest, AcceptsWhatItWants) {
  EXPECT_TRUE(CheckTensor("op", "beta", tensor_, DType::kF32, {{"T", 7}, {"HV", 4}}).ok());
  EXPECT_TRUE(CheckContiguous("op", "beta", tensor_, DType::kF32, {{"T", 7}, {"HV", 4}}).ok());
}

TEST_F(CheckTensorTest, NamesAWrongShape) {
  const Status status = CheckTensor("op", "beta", tensor_, DType::kF32, {{"T", 7}, {"HV", 8}});
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "op: beta is f32 [7, 4], want f32 [T=7, HV=8]");
  EXPECT_FALSE(CheckTensor("op", "beta", tensor_, DType::kF32, {{"T", 28}}).ok());
}

TEST_F(CheckTensorTest, NamesAWrongDtype) {
  const Status status = CheckTensor("op", "beta", tensor_, DType::kBf16, {{"T", 7}, {"HV", 4}});
  EXPECT_EQ(status.message(), "op: beta is f32 [7, 4], want bf16 [T=7, HV=4]");
}

TEST_F(CheckTensorTest, WantsDataWhereThereAreElements) {
  tensor_.data = nullptr;
  const Status status = CheckTensor("op", "x", tensor_, DType::kF32, {{"T", 7}, {"D", 4}});
  EXPECT_EQ(status.message(), "op: x has no data, want f32 [T=7, D=4]");
  const ConstTensor none(nullptr, DType::kF32, Shape{0, 4});
  EXPECT_TRUE(CheckTensor("op", "x", none, DType::kF32, {{"T", 0}, {"D", 4}}).ok());
}

TEST_F(CheckTensorTest, OuterStridesAreFreeAndTheLastIsOne) {
  const Tensor columns = tensor_.Columns(1, 2);
  EXPECT_TRUE(CheckTensor("op", "x", columns, DType::kF32, {{"T", 7}, {"D", 2}}).ok());
  EXPECT_EQ(CheckContiguous("op", "x", columns, DType::kF32, {{"T", 7}, {"D", 2}}).message(),
            "op: x is strided, want it contiguous");
  Tensor wide = columns;
  wide.strides[1] = 2;
  EXPECT_EQ(CheckTensor("op", "x", wide, DType::kF32, {{"T", 7}, {"D", 2}}).message(),
            "op: x has stride 2 on its last axis, want 1");
}

TEST(CheckCuSeqlens, AcceptsEmptySequences) {
  EXPECT_TRUE(CheckCuSeqlens("op", std::array{0, 0, 3, 3, 5}, 5).ok());
  EXPECT_TRUE(CheckCuSeqlens("op", std::array{0}, 0).ok());
}

TEST(CheckCuSeqlens, NamesWhatIsWrong) {
  EXPECT_EQ(CheckCuSeqlens("op", {}, 0).message(), "op: cu_seqlens must start with 0");
  EXPECT_EQ(CheckCuSeqlens("op", std::array{1, 5}, 5).message(),
            "op: cu_seqlens must start with 0");
  EXPECT_EQ(CheckCuSeqlens("op", std::array{0, 4, 3, 5}, 5).message(),
            "op: cu_seqlens[2] is 3, want at least 4");
  EXPECT_EQ(CheckCuSeqlens("op", std::array{0, 4}, 5).message(),
            "op: cu_seqlens ends at 4, want T=5");
}

TEST(CheckStateSlots, AcceptsNullSlotsTwice) {
  EXPECT_TRUE(CheckStateSlots("op", std::array{0, 3, -1, 0, 1}, 5, 4).ok());
  EXPECT_TRUE(CheckStateSlots("op", {}, 0, 0).ok());
}

TEST(CheckStateSlots, NamesWhatIsWrong) {
  EXPECT_EQ(CheckStateSlots("op", std::array{1, 2}, 3, 4).message(),
            "op: state_slots has 2 entries, want N=3");
  EXPECT_EQ(CheckStateSlots("op", std::array{1, 4}, 2, 4).message(),
            "op: state_slots[1] is 4, want below 4");
  EXPECT_EQ(CheckStateSlots("op", std::array{1, 2, 1}, 3, 4).message(),
            "op: state_slots[2] repeats slot 1");
}

}  // namespace
}  // namespace gdn
