// SPDX-License-Identifier: Apache-2.0
#include "tensor/tensor.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <vector>

#include "tensor/device.h"

namespace gdn {
namespace {

// 0, 1, 2, ... so that a value is its own offset.
std::vector<float> Offsets(int64_t count) {
  std::vector<float> out(static_cast<size_t>(count));
  std::iota(out.begin(), out.end(), 0.0F);
  return out;
}

float At(const ConstTensor& tensor, std::initializer_list<int64_t> index) {
  int64_t offset = 0;
  int axis = 0;
  for (const int64_t i : index) offset += i * tensor.stride(axis++);
  return tensor.As<float>()[offset];
}

TEST(Shape, CountsAndCompares) {
  EXPECT_EQ(Shape().NumElements(), 1);
  EXPECT_EQ(Shape().ToString(), "[]");
  const Shape shape = {2, 3, 4};
  EXPECT_EQ(shape.rank(), 3);
  EXPECT_EQ(shape.NumElements(), 24);
  EXPECT_EQ(shape[0], 2);
  EXPECT_EQ(shape[-1], 4);
  EXPECT_EQ(shape.ToString(), "[2, 3, 4]");
  EXPECT_EQ(shape, (Shape{2, 3, 4}));
  EXPECT_NE(shape, (Shape{2, 3}));
  EXPECT_NE(shape, (Shape{2, 3, 5}));
  EXPECT_EQ((Shape{0, 3}).NumElements(), 0);
}

TEST(ShapeDeathTest, RankIsBounded) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(Shape({1, 1, 1, 1, 1, 1}), "kMaxRank");
  Shape full = {1, 1, 1, 1, 1};
  EXPECT_DEATH(full.Append(1), "kMaxRank");
}

TEST(DType, SizesAndNames) {
  EXPECT_EQ(SizeOf(DType::kF32), 4U);
  EXPECT_EQ(SizeOf(DType::kI32), 4U);
  EXPECT_EQ(SizeOf(DType::kF16), 2U);
  EXPECT_EQ(SizeOf(DType::kBf16), 2U);
  EXPECT_STREQ(Name(DType::kBf16), "bf16");
  EXPECT_STREQ(Name(DeviceType::kCpu), "cpu");
  EXPECT_FALSE(IsFloat(DType::kI32));
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kBf16}) {
    EXPECT_EQ(DispatchFloat(dtype, [](auto zero) { return DTypeOf<decltype(zero)>(); }), dtype);
    EXPECT_TRUE(IsFloat(dtype));
  }
}

TEST(Tensor, IsRowMajor) {
  std::vector<float> data = Offsets(24);
  const Tensor tensor(data.data(), Shape{2, 3, 4});
  EXPECT_EQ(tensor.dtype, DType::kF32);
  EXPECT_EQ(tensor.stride(0), 12);
  EXPECT_EQ(tensor.stride(1), 4);
  EXPECT_EQ(tensor.stride(-1), 1);
  EXPECT_EQ(tensor.dim(-2), 3);
  EXPECT_TRUE(tensor.IsContiguous());
  EXPECT_FALSE(tensor.empty());
  EXPECT_EQ(tensor.Row<float>(1), data.data() + 12);
  EXPECT_EQ(At(tensor, {1, 2, 3}), 23.0F);
  EXPECT_EQ(Describe(tensor), "f32 [2, 3, 4]");
  EXPECT_TRUE(ConstTensor().empty());
}

TEST(Tensor, SliceTakesRows) {
  std::vector<float> data = Offsets(12);
  const Tensor slice = Tensor(data.data(), Shape{4, 3}).Slice(1, 2);
  EXPECT_EQ(slice.shape, (Shape{2, 3}));
  EXPECT_EQ(At(slice, {0, 0}), 3.0F);
  EXPECT_EQ(At(slice, {1, 2}), 8.0F);
  EXPECT_TRUE(slice.IsContiguous());
  EXPECT_EQ(slice.Slice(2, 0).shape.NumElements(), 0);
}

TEST(Tensor, ColumnsKeepTheStrideOfTheirRows) {
  std::vector<float> data = Offsets(12);
  const Tensor columns = Tensor(data.data(), Shape{3, 4}).Columns(1, 2);
  EXPECT_EQ(columns.shape, (Shape{3, 2}));
  EXPECT_EQ(At(columns, {0, 0}), 1.0F);
  EXPECT_EQ(At(columns, {2, 1}), 10.0F);
  EXPECT_FALSE(columns.IsContiguous());
  EXPECT_EQ(At(columns.Slice(2, 1), {0, 1}), 10.0F);
  EXPECT_TRUE(columns.Slice(2, 1).IsContiguous());  // one row has no stride to speak of
}

TEST(Tensor, ViewsStepInBytesOfTheirDtype) {
  std::vector<Bf16> data(12);
  const Tensor tensor(data.data(), Shape{3, 4});
  EXPECT_EQ(tensor.Slice(2, 1).As<Bf16>(), data.data() + 8);
  EXPECT_EQ(tensor.Columns(3, 1).As<Bf16>(), data.data() + 3);
}

TEST(Tensor, SplitLastKeepsStridedRows) {
  std::vector<float> data = Offsets(20);
  const Tensor heads = Tensor(data.data(), Shape{2, 10}).Columns(2, 6).SplitLast(3, 2);
  EXPECT_EQ(heads.shape, (Shape{2, 3, 2}));
  EXPECT_EQ(heads.stride(0), 10);
  EXPECT_EQ(heads.stride(1), 2);
  EXPECT_EQ(At(heads, {0, 0, 0}), 2.0F);
  EXPECT_EQ(At(heads, {1, 2, 1}), 17.0F);
}

TEST(Tensor, FlattenRowsJoinsTheOuterAxes) {
  std::vector<float> data = Offsets(30);
  const Tensor flat = Tensor(data.data(), Shape{2, 3, 5}).FlattenRows();
  EXPECT_EQ(flat.shape, (Shape{6, 5}));
  EXPECT_EQ(At(flat, {4, 1}), 21.0F);
  const Tensor narrow = Tensor(data.data(), Shape{2, 3, 5}).Columns(1, 2).FlattenRows();
  EXPECT_EQ(narrow.shape, (Shape{6, 2}));
  EXPECT_EQ(narrow.stride(0), 5);
  EXPECT_EQ(At(narrow, {5, 1}), 27.0F);
}

TEST(Tensor, ReshapeKeepsTheBytes) {
  std::vector<float> data = Offsets(12);
  const Tensor tensor = Tensor(data.data(), Shape{3, 4}).Reshape(Shape{2, 6});
  EXPECT_EQ(At(tensor, {1, 0}), 6.0F);
}

TEST(Tensor, MutableBecomesConst) {
  std::vector<int32_t> data = {1, 2};
  const Tensor tensor(data.data(), Shape{2});
  const ConstTensor view = tensor;
  tensor.As<int32_t>()[1] = 5;
  EXPECT_EQ(view.As<int32_t>()[1], 5);
  EXPECT_EQ(view.dtype, DType::kI32);
  EXPECT_EQ(view.stride(0), 1);
}

}  // namespace
}  // namespace gdn
