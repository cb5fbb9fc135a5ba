// SPDX-License-Identifier: Apache-2.0
// Where the form itself moves the bits: how far, and that it is no further. What must not move them
// is in gated_delta_rule_test.cc.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "ops/gated_delta_rule/gated_delta_rule_testing.h"

namespace gdn {
namespace {

GdrInputs Prompt(DType dtype, int64_t length) {
  GdrShape shape;
  shape.dtype = shape.qk_dtype = dtype;
  shape.lengths = {length};
  shape.num_key_heads = 2;
  shape.num_value_heads = 4;
  // Weak enough that a chunk still reads the one before.
  return GdrInputs(shape, 1, {-0.05, -0.001});
}

// Prefills tokens [first, last) of inputs in its one sequence.
void Prefill(GdrInputs& inputs, int32_t first, int32_t last) {
  GatedDeltaRuleArgs args = inputs.Args();
  for (ConstTensor* tensor : {&args.q, &args.k, &args.v, &args.log_decay, &args.beta}) {
    *tensor = tensor->Slice(first, last - first);
  }
  args.out = args.out.Slice(first, last - first);
  const std::vector<int32_t> cu_seqlens = {0, last - first};
  args.cu_seqlens = cu_seqlens;
  const GdrContext context(args);
  const Status status = GatedDeltaRuleChunk(context.ctx(), args);
  ASSERT_TRUE(status.ok()) << status.message();
}

struct FormDistance {
  double out_differ;  // share of the outputs
  double out_nmse;
  double state_nmse;
};

FormDistance Between(const GdrInputs& got, const GdrInputs& want) {
  const Distance out = DistanceOf(got.out, want.out);
  return {static_cast<double>(out.differ) / static_cast<double>(out.count), out.nmse,
          DistanceOf(got.state, want.state).nmse};
}

void Print(const char* what, DType dtype, const FormDistance& d) {
  std::printf("%-28s %-4s  outputs that differ %6.3f%%  nmse out %.1e  state %.1e\n", what,
              Name(dtype), d.out_differ * 100, d.out_nmse, d.state_nmse);
}

// 16-bit rounding points fall elsewhere when the chunks do; about the distance of the chunk form to
// the recurrence.
double FormBound(DType dtype) { return dtype == DType::kBf16 ? 5e-5 : 1e-6; }

class GatedDeltaRuleForm : public testing::TestWithParam<DType> {};

TEST_P(GatedDeltaRuleForm, SplitInsideAChunkMovesItLittle) {
  const GdrInputs inputs = Prompt(GetParam(), 200);
  GdrInputs whole = inputs;
  Prefill(whole, 0, 200);
  for (const int32_t cut : {73, 1, 199}) {
    GdrInputs split = inputs;
    Prefill(split, 0, cut);
    split.has_initial_state = {1};
    Prefill(split, cut, 200);
    const FormDistance d = Between(split, whole);
    Print(("split at " + std::to_string(cut)).c_str(), GetParam(), d);
    EXPECT_GT(d.out_differ, 0) << "the chunks are the same ones: this measures nothing";
    EXPECT_LE(d.out_nmse, FormBound(GetParam()));
    EXPECT_LE(d.state_nmse, FormBound(GetParam()));
  }
}

TEST_P(GatedDeltaRuleForm, StateStoredInTheModelsDtypeMovesItLittle) {
  const GdrInputs inputs = Prompt(GetParam(), 192);
  GdrInputs wide = inputs;
  Prefill(wide, 0, 192);
  GdrInputs rounded = inputs;
  for (int32_t first = 0; first < 192; first += 64) {
    Prefill(rounded, first, first + 64);
    DispatchFloat(GetParam(), [&](auto t) {
      for (int64_t i = 0; i < rounded.state.size(); ++i) {
        rounded.state.Set(i, RoundTo<decltype(t)>(rounded.state.Get(i)));
      }
    });
  }
  const FormDistance d = Between(rounded, wide);
  Print("state stored every 64 tokens", GetParam(), d);
  EXPECT_GT(d.state_nmse, 0);
  EXPECT_LE(d.out_nmse, FormBound(GetParam()));
  EXPECT_LE(d.state_nmse, FormBound(GetParam()));
}

// The scalar reference has no fma in its products, SSE4 has none at all: their bits may be others
// than those of the kernels with fma, by as much as the order of additions moves them.
TEST_P(GatedDeltaRuleForm, KernelsWithFmaAgreeAndOthersMoveItLittle) {
  for (const double low : {-0.05, -1e-4}) {
    GdrShape shape;
    shape.dtype = shape.qk_dtype = GetParam();
    shape.lengths = {129};
    shape.num_key_heads = 2;
    shape.num_value_heads = 4;
    const GdrInputs inputs(shape, 1, {low, 0});
    GdrInputs want = inputs;
    bool has_fma = false;
    const auto compare = [&](const char* name, const GdrInputs& got, bool must_agree) {
      const FormDistance d = Between(got, want);
      Print((std::string(name) + (low < -0.01 ? ", weak decay" : ", very weak decay")).c_str(),
            GetParam(), d);
      EXPECT_LE(d.out_nmse, FormBound(GetParam()) / 50);
      EXPECT_LE(d.state_nmse, FormBound(GetParam()) / 50);
      if (must_agree) {
        EXPECT_EQ(got.out, want.out);
        EXPECT_EQ(got.state, want.state);
      }
    };
    ForEachVectorTarget([&](int64_t target) {  // the best one first has the lowest bit
      GdrInputs got = inputs;
      RunGdr(GdrForm::kChunk, got, "");
      if (HasFma(target) && !has_fma) {
        want = got;
        has_fma = true;
      }
      compare(hwy::TargetName(target), got, HasFma(target) && has_fma);
    });
    GdrInputs ref = inputs;
    RunGdr(GdrForm::kChunk, ref, "ref");
    compare("ref", ref, false);
  }
}

INSTANTIATE_TEST_SUITE_P(Dtypes, GatedDeltaRuleForm, testing::Values(DType::kBf16, DType::kF16),
                         [](const auto& test) { return Name(test.param); });

}  // namespace
}  // namespace gdn
