// SPDX-License-Identifier: Apache-2.0
// The vector kernels against the scalar references, on every vector target of this CPU.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ops/gated_delta_rule/gated_delta_rule_testing.h"

namespace gdn {
namespace {

std::vector<GdrShape> Shapes() {
  std::vector<GdrShape> shapes;
  const std::vector<std::vector<int64_t>> batches = {{1},
                                                     {2},
                                                     {15},
                                                     {16},
                                                     {17},
                                                     {63},
                                                     {64},
                                                     {65},
                                                     {66},
                                                     {127},
                                                     {128},
                                                     {129},
                                                     {200},
                                                     {20, 12},
                                                     {5, 130, 1, 64},
                                                     {0, 17, 0, 0, 64, 0},
                                                     {}};
  for (const DType dtype : {DType::kBf16, DType::kF16, DType::kF32}) {
    for (const auto& lengths : batches) shapes.push_back(With(dtype, lengths, 1, 2, 32, 48));
    for (const auto& [k, v] :
         {std::pair{128, 128}, {64, 128}, {256, 256}, {20, 36}, {100, 7}, {3, 5}}) {
      shapes.push_back(With(dtype, {66}, 1, 1, k, v));
    }
    for (const auto& [h, hv] : {std::pair{1, 1}, {2, 6}, {2, 4}, {4, 4}}) {
      shapes.push_back(With(dtype, {20, 12}, h, hv, 64, 64));
    }
  }
  shapes.push_back(With(DType::kBf16, {5, 130, 1, 64}, 2, 4, 128, 128));
  shapes.push_back(With(DType::kBf16, {3, 1}, 16, 48, 128, 128));
  return shapes;
}

class GatedDeltaRuleKernels : public testing::TestWithParam<GdrShape> {};

// The recurrent form keeps one order of every sum, so an fma target has the reference's bits.
TEST_P(GatedDeltaRuleKernels, RecurrentMatchesReference) {
  for (const bool f32_state : {true, false}) {
    for (const bool f32_qk : {true, false}) {
      GdrShape shape = GetParam();
      if (f32_qk) shape.qk_dtype = DType::kF32;
      if (!f32_state) shape.state_dtype = shape.dtype;
      const GdrInputs inputs(shape);
      GdrInputs want = inputs;
      RunGdr(GdrForm::kRecurrent, want, "ref");
      ForEachVectorTarget([&](int64_t target) {
        GdrInputs got = inputs;
        RunGdr(GdrForm::kRecurrent, got, "");
        if (HasFma(target)) {
          EXPECT_EQ(got.out, want.out);
          EXPECT_EQ(got.state, want.state);
        } else {
          EXPECT_LE(DistanceOf(got.out, want.out).nmse, shape.dtype == DType::kF32 ? 1e-12 : 1e-6);
          EXPECT_LE(DistanceOf(got.state, want.state).nmse, f32_state ? 1e-12 : 1e-6);
        }
      });
    }
  }
}

// The chunk form's products are fma chains where the reference multiplies and adds, and exp is
// within an ulp: the noise of the accumulation, gated for mid decay as docs/numerics.md measures
// it. One flipped rounding is a large share of a small case: two elements are always allowed.
TEST_P(GatedDeltaRuleKernels, ChunkMatchesReference) {
  const GdrInputs inputs(GetParam());
  GdrInputs want = inputs;
  RunGdr(GdrForm::kChunk, want, "ref");
  ForEachSimdTarget([&] {
    GdrInputs got = inputs;
    RunGdr(GdrForm::kChunk, got, "");
    const Distance out = DistanceOf(got.out, want.out);
    const Distance state = DistanceOf(got.state, want.state);
    if (GetParam().dtype == DType::kF32) {
      EXPECT_LE(out.nmse, 1e-12);
      EXPECT_LE(state.nmse, 1e-12);
    } else {
      EXPECT_LE(out.differ, 2 + out.count / 1000) << out.nmse;
      EXPECT_LE(out.nmse, 1e-7);
      EXPECT_LE(state.nmse, 1e-7);
    }
  });
}

// Blocks add in another order than single tokens, and nothing else: a few ulp of f32, 3e-7, against
// the spacing of f16, 7e-4, flips one output in a thousand; four times that is allowed.
TEST_P(GatedDeltaRuleKernels, BlockedMatchesReference) {
  const GdrInputs inputs(GetParam());
  GdrInputs want = inputs;
  RunGdr(GdrForm::kBlocked, want, "ref");
  ForEachSimdTarget([&] {
    GdrInputs got = inputs;
    RunGdr(GdrForm::kBlocked, got, "");
    EXPECT_LE(DistanceOf(got.state, want.state).nmse, 1e-12);
    const Distance out = DistanceOf(got.out, want.out);
    EXPECT_LE(out.nmse, GetParam().dtype == DType::kF32 ? 1e-12 : 1e-7);
    EXPECT_LE(out.differ, GetParam().dtype == DType::kF32 ? out.count : 2 + out.count / 250);
  });
}

// Lanes run over output columns and every sum has one order, so the vector width cannot matter
// among targets that have an fma.
TEST_P(GatedDeltaRuleKernels, FmaTargetsAgreeBitForBit) {
  const GdrInputs inputs(GetParam());
  for (const GdrForm form : {GdrForm::kRecurrent, GdrForm::kBlocked, GdrForm::kChunk}) {
    std::vector<GdrInputs> results;
    ForEachVectorTarget([&](int64_t target) {
      if (!HasFma(target)) return;
      results.push_back(inputs);
      RunGdr(form, results.back(), "");
    });
    for (size_t i = 1; i < results.size(); ++i) {
      EXPECT_EQ(results[i].out, results[0].out);
      EXPECT_EQ(results[i].state, results[0].state);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, GatedDeltaRuleKernels, testing::ValuesIn(Shapes()),
                         [](const auto& test) { return test.param.Name(); });

class GatedDeltaRuleInvariance : public testing::TestWithParam<std::tuple<GdrForm, DType>> {
 protected:
  static GdrForm Form() { return std::get<0>(GetParam()); }
  static GdrShape Base(std::vector<int64_t> lengths) {
    return With(std::get<1>(GetParam()), std::move(lengths), 2, 4, 64, 32);
  }
};

TEST_P(GatedDeltaRuleInvariance, ThreadsDoNotChangeBits) {
  const GdrInputs inputs(Base({5, 130, 1, 64, 70}));
  ForEachKernel([&](std::string_view impl) {
    GdrInputs one = inputs;
    RunGdr(Form(), one, impl);
    for (const int threads : {2, 3, 8}) {
      GdrInputs many = inputs;
      RunGdr(Form(), many, impl, threads);
      EXPECT_EQ(many.out, one.out) << threads;
      EXPECT_EQ(many.state, one.state) << threads;
    }
  });
}

// Tokens [first, last) of inputs as a call of their own on the same pool.
void RunTokens(GdrForm form, GdrInputs& inputs, std::string_view impl, int32_t first, int32_t last,
               int32_t slot, uint8_t has_initial_state) {
  GatedDeltaRuleArgs args = inputs.Args();
  const auto cut = [&](auto& tensor) { tensor = tensor.Slice(first, last - first); };
  cut(args.q);
  cut(args.k);
  cut(args.v);
  cut(args.log_decay);
  cut(args.beta);
  cut(args.out);
  const std::vector<int32_t> cu_seqlens = {0, last - first};
  const std::vector<int32_t> slots = {slot};
  const std::vector<uint8_t> initial = {has_initial_state};
  args.cu_seqlens = cu_seqlens;
  args.state_slots = slots;
  args.has_initial_state = initial;
  const GdrContext context(args, impl);
  const Status status = RunForm(form, context.ctx(), args);
  ASSERT_TRUE(status.ok()) << status.message();
}

TEST_P(GatedDeltaRuleInvariance, SequenceInBatchEqualsAlone) {
  for (const std::vector<int64_t>& lengths :
       {std::vector<int64_t>{5, 130, 1, 64}, {3, 1, 63}, {7, 64}, {0, 2, 0, 66}}) {
    const GdrInputs inputs(Base(lengths));
    ForEachKernel([&](std::string_view impl) {
      GdrInputs batch = inputs;
      RunGdr(Form(), batch, impl);
      GdrInputs alone = inputs;
      for (size_t n = 0; n < lengths.size(); ++n) {
        RunTokens(Form(), alone, impl, inputs.cu_seqlens[n], inputs.cu_seqlens[n + 1],
                  inputs.state_slots[n], inputs.has_initial_state[n]);
      }
      EXPECT_EQ(batch.out, alone.out);
      EXPECT_EQ(batch.state, alone.state);
    });
  }
}

TEST_P(GatedDeltaRuleInvariance, OrderOfSlotsDoesNotMatter) {
  GdrInputs inputs(Base({5, 66, 1}));  // slots 4, 3, 2
  const int64_t slot_size = inputs.state.size() / 5;
  ForEachKernel([&](std::string_view impl) {
    GdrInputs want = inputs;
    RunGdr(Form(), want, impl);
    for (const std::vector<int32_t>& slots :
         {std::vector<int32_t>{1, 2, 3}, {2, 4, 1}, {3, 1, 4}}) {
      GdrInputs moved = inputs;
      moved.state.Fill(NAN);
      GdrInputs expected = moved;
      const auto copy_slot = [&](const TestTensor& from, int32_t from_slot, TestTensor& to,
                                 int32_t to_slot) {
        for (int64_t e = 0; e < slot_size; ++e) {
          to.Set(to_slot * slot_size + e, from.Get(from_slot * slot_size + e));
        }
      };
      for (size_t n = 0; n < slots.size(); ++n) {
        copy_slot(inputs.state, inputs.state_slots[n], moved.state, slots[n]);
        copy_slot(want.state, inputs.state_slots[n], expected.state, slots[n]);
      }
      moved.state_slots = slots;
      RunGdr(Form(), moved, impl);
      EXPECT_EQ(moved.out, want.out);
      EXPECT_EQ(moved.state, expected.state);
    }
  });
}

TEST_P(GatedDeltaRuleInvariance, SplitAtAChunkEqualsWhole) {
  const GdrInputs inputs(Base({200}));
  ForEachKernel([&](std::string_view impl) {
    GdrInputs whole = inputs;
    RunGdr(Form(), whole, impl);
    std::vector<int32_t> cuts = {64, 128, 192};
    if (Form() == GdrForm::kRecurrent) cuts = {1, 17, 63, 199};
    if (Form() == GdrForm::kBlocked) cuts = {4, 60, 64, 196};
    for (const int32_t cut : cuts) {
      GdrInputs split = inputs;
      RunTokens(Form(), split, impl, 0, cut, 2, 1);
      RunTokens(Form(), split, impl, cut, 200, 2, 1);
      EXPECT_EQ(split.out, whole.out) << cut;
      EXPECT_EQ(split.state, whole.state) << cut;
    }
  });
}

TEST_P(GatedDeltaRuleInvariance, NullSlotsGiveZeroRowsAndKeepThePool) {
  GdrInputs inputs(Base({20, 3, 70}));
  inputs.state_slots = {0, 3, -1};
  ForEachKernel([&](std::string_view impl) {
    GdrInputs got = inputs;
    RunGdr(Form(), got, impl);
    const int64_t row = inputs.out.size() / 93;
    for (int64_t i = 0; i < inputs.out.size(); ++i) {
      const bool null = i / row < 20 || i / row >= 23;
      EXPECT_EQ(null, got.out.Get(i) == 0.0F) << i;
    }
    GdrInputs alone = inputs;
    RunTokens(Form(), alone, impl, 20, 23, 3, 0);
    EXPECT_EQ(got.state, alone.state);
  });
}

TEST_P(GatedDeltaRuleInvariance, StridedInputsEqualContiguousOnes) {
  GdrInputs inputs(Base({66, 3}));
  const DType dtype = std::get<1>(GetParam());
  // Rows [q | k | v | pad] as the convolution leaves them, NaN in the pad; slots of the pool apart.
  const int64_t heads = 2 * 64;
  const int64_t width = 2 * heads + 4 * 32 + 5;
  TestTensor rows(dtype, {69, width});
  rows.Fill(NAN);
  for (int64_t t = 0; t < 69; ++t) {
    for (int64_t i = 0; i < heads; ++i) rows.Set(t * width + i, inputs.q.Get(t * heads + i));
    for (int64_t i = 0; i < heads; ++i)
      rows.Set(t * width + heads + i, inputs.k.Get(t * heads + i));
    for (int64_t i = 0; i < 128; ++i) {
      rows.Set(t * width + 2 * heads + i, inputs.v.Get(t * 128 + i));
    }
  }
  const int64_t slot_size = 4 * 32 * 64;
  ForEachKernel([&](std::string_view impl) {
    GdrInputs want = inputs;
    RunGdr(Form(), want, impl);
    GdrInputs got = inputs;
    TestTensor pool(DType::kF32, {4, slot_size + 24});
    pool.Fill(NAN);
    for (int64_t i = 0; i < 4 * slot_size; ++i) {
      pool.Set(i / slot_size * (slot_size + 24) + i % slot_size, inputs.state.Get(i));
    }
    GatedDeltaRuleArgs args = got.Args();
    args.q = ConstTensor(rows.view()).Columns(0, heads).SplitLast(2, 64);
    args.k = ConstTensor(rows.view()).Columns(heads, heads).SplitLast(2, 64);
    args.v = ConstTensor(rows.view()).Columns(2 * heads, 128).SplitLast(4, 32);
    args.state = Tensor(pool.view().data, DType::kF32, {4, 4, 32, 64});
    args.state.strides[0] = slot_size + 24;
    const GdrContext context(args, impl);
    const Status status = RunForm(Form(), context.ctx(), args);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(got.out, want.out);
    TestTensor state = inputs.state;
    for (int64_t i = 0; i < 4 * slot_size; ++i) {
      state.Set(i, pool.Get(i / slot_size * (slot_size + 24) + i % slot_size));
    }
    EXPECT_EQ(state, want.state);
  });
}

INSTANTIATE_TEST_SUITE_P(Forms, GatedDeltaRuleInvariance,
                         testing::Combine(testing::Values(GdrForm::kRecurrent, GdrForm::kBlocked,
                                                          GdrForm::kChunk),
                                          testing::Values(DType::kBf16, DType::kF16, DType::kF32)),
                         [](const auto& test) {
                           return std::string(Name(std::get<0>(test.param))) + "_" +
                                  Name(std::get<1>(test.param));
                         });

}  // namespace
}  // namespace gdn
