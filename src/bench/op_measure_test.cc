// SPDX-License-Identifier: Apache-2.0
#include "bench/op_measure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace gdn {
namespace {

using ::testing::HasSubstr;

Workbench& Bench() {
  static Workbench bench("", 2);
  return bench;
}

void ExpectChecks(const char* preset, DType dtype) {
  for (const OpKind& kind : OpKinds()) {
    for (const OpForm form : {OpForm::kChunk, OpForm::kRecurrent, OpForm::kDecode}) {
      OpDims dims = PresetDims(preset).value();
      dims.dtype = dtype;
      dims.form = form;
      ASSERT_TRUE(CheckDims(dims).ok());
      const Status status = CheckOp(kind, dims, Bench());
      EXPECT_TRUE(status.ok()) << status.message();
    }
  }
}

TEST(OpMeasure, EveryOperatorPassesItsCheck) {
  ExpectChecks("27b", DType::kBf16);
  ExpectChecks("0.8b", DType::kF16);
  ExpectChecks("0.8b", DType::kF32);
}

// An operator whose kernel differs from its reference by one element.
OpCase MakeWrongCase(const OpDims& /*dims*/, int /*num_threads*/, OpInputs& in) {
  const Tensor y = in.Zeros(DType::kF32, {100});
  OpCase out;
  out.shape = "f32 100";
  out.outputs = {y};
  out.run = [y](const ExecContext& ctx, int64_t) {
    for (int i = 0; i < 100; ++i) y.As<float>()[i] = 0.1F * static_cast<float>(i);
    if (ctx.impl != "ref") y.As<float>()[17] = 1.701F;
    return OkStatus();
  };
  return out;
}

TEST(OpMeasure, CheckFindsOneWrongElement) {
  const OpKind wrong{"wrong", MakeWrongCase, nullptr};
  const Status status = CheckOp(wrong, {}, Bench());
  EXPECT_EQ(status.code(), StatusCode::kInternal);
  EXPECT_THAT(status.message(), HasSubstr("wrong f32 100: output 0"));
  EXPECT_THAT(status.message(), HasSubstr("1 of 100 differ"));
}

TEST(OpMeasure, MeasuresEveryVariantOfAll) {
  Result<MachineProbe> probe = MachineProbe::Create(Bench().pool(), size_t{16} << 20);
  ASSERT_TRUE(probe.ok());
  for (const OpKind& kind : OpKinds()) {
    for (const OpDims& variant : kind.variants(SmallDims(OpDims()))) {
      const Result<OpResult> result = MeasureOp(kind, variant, 2, Bench(), *probe);
      ASSERT_TRUE(result.ok()) << result.status().message();
      EXPECT_EQ(result->name, kind.name);
      EXPECT_FALSE(result->kernel.empty()) << kind.name;
      EXPECT_GE(result->calls, 1);
      EXPECT_GT(result->ms.median, 0) << kind.name;
      EXPECT_GT(result->gbytes, 0) << kind.name;
      EXPECT_GT(result->pct_bw, 0) << kind.name;
    }
  }
}

TEST(OpDims, SmallOnesKeepRatiosAndForms) {
  for (const OpPreset& preset : OpPresets()) {
    const OpDims small = SmallDims(preset.dims);
    EXPECT_TRUE(CheckDims(small).ok()) << preset.name;
    EXPECT_EQ(small.value_heads / small.key_heads, preset.dims.value_heads / preset.dims.key_heads);
    EXPECT_EQ(small.attn_heads / small.kv_heads, preset.dims.attn_heads / preset.dims.kv_heads);
    EXPECT_EQ(small.head_dim, preset.dims.head_dim);
    EXPECT_LE(small.tokens, 100);
  }
}

TEST(OpDims, RefusesWhatNoOperatorHas) {
  OpDims dims;
  dims.value_heads = 24;
  EXPECT_THAT(CheckDims(dims).message(), HasSubstr("--value-heads is 24"));
  dims = {};
  dims.head_dim = 257;
  EXPECT_THAT(CheckDims(dims).message(), HasSubstr("--head-dim is 257, want 1 to 256"));
  dims = {};
  dims.top_k = 257;
  EXPECT_THAT(CheckDims(dims).message(), HasSubstr("--top-k is 257, want at most --experts 256"));
  EXPECT_THAT(PresetDims("7b").status().message(), HasSubstr("0.8b, 4b, 27b, 35b-a3b"));
  EXPECT_THAT(FindOpKind("x").status().message(),
              HasSubstr("linear, linear_silu_and_mul, gated_delta_rule"));
}

}  // namespace
}  // namespace gdn
