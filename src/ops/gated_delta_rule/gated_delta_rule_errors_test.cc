// SPDX-License-Identifier: Apache-2.0
// Every documented error of the entries, each by its own words.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "ops/gated_delta_rule/gated_delta_rule_testing.h"

namespace gdn {
namespace {

struct BadCase {
  const char* name;
  std::function<void(GatedDeltaRuleArgs&)> spoil;
  const char* message;  // what the text must contain
};

template <class T>
std::span<const T> Keep(std::initializer_list<T> values) {
  static std::vector<std::vector<T>> kept;
  kept.emplace_back(values);
  return kept.back();
}

std::vector<BadCase> Cases() {
  return {
      {"q_rank",
       [](auto& a) {
         a.q.shape = {12, 128};
       },
       "want [T, H, K]"},
      {"q_tokens", [](auto& a) { a.q = a.q.Slice(0, 11); },
       "q is bf16 [11, 2, 64], want bf16 [T=12"},
      {"k_heads",
       [](auto& a) {
         a.k.shape = {12, 1, 64};
       },
       "k is bf16 [12, 1, 64]"},
      {"k_missing", [](auto& a) { a.k.data = nullptr; }, "k has no data"},
      {"k_strided", [](auto& a) { a.k.strides[2] = 2; }, "k has stride 2"},
      {"heads",
       [](auto& a) {
         a.v.shape = {12, 3, 32};
       },
       "HV=3 over H=2"},
      {"k_dim",
       [](auto& a) {
         a.q.shape = {12, 2, 257};
       },
       "K=257"},
      {"v_dim",
       [](auto& a) {
         a.v.shape = {12, 4, 0};
       },
       "V=0"},
      {"v_dtype", [](auto& a) { a.v.dtype = DType::kI32; }, "want f32, f16 or bf16"},
      {"beta",
       [](auto& a) {
         a.beta.shape = {12, 2};
       },
       "beta is f32 [12, 2], want f32 [T=12, HV=4]"},
      {"log_decay", [](auto& a) { a.log_decay.dtype = DType::kBf16; }, "log_decay is bf16"},
      {"out_shape",
       [](auto& a) {
         a.out.shape = {12, 4, 31};
       },
       "out is bf16 [12, 4, 31]"},
      {"out_strided", [](auto& a) { a.out.strides[0] += 8; }, "out is strided"},
      {"cu_empty", [](auto& a) { a.cu_seqlens = {}; }, "cu_seqlens must start with 0"},
      {"cu_start",
       [](auto& a) {
         a.cu_seqlens = Keep<int32_t>({1, 5, 12});
       },
       "must start with 0"},
      {"cu_falls",
       [](auto& a) {
         a.cu_seqlens = Keep<int32_t>({0, 13, 12});
       },
       "cu_seqlens[2] is 12"},
      {"cu_end",
       [](auto& a) {
         a.cu_seqlens = Keep<int32_t>({0, 5, 11});
       },
       "want T=12"},
      {"slots_count", [](auto& a) { a.state_slots = Keep<int32_t>({1}); }, "want N=2"},
      {"slots_twice",
       [](auto& a) {
         a.state_slots = Keep<int32_t>({2, 2});
       },
       "repeats slot 2"},
      {"slots_range",
       [](auto& a) {
         a.state_slots = Keep<int32_t>({2, 4});
       },
       "want below 4"},
      {"initial", [](auto& a) { a.has_initial_state = Keep<uint8_t>({1}); },
       "has_initial_state has 1"},
      {"state_shape",
       [](auto& a) {
         a.state.shape = {4, 4, 64, 32};
       },
       "state is"},
      {"state_rank",
       [](auto& a) {
         a.state.shape = {4, 4, 2048};
       },
       "state is"},
      {"state_inner", [](auto& a) { a.state.strides[1] += 1; }, "state is strided"},
      {"state_slots", [](auto& a) { a.state.strides[0] = 1; }, "state is strided"},
      {"out_is_v", [](auto& a) { a.out.data = const_cast<void*>(a.v.data); }, "out overlaps v"},
      {"out_in_state", [](auto& a) { a.out.data = a.state.data; }, "out overlaps state"},
      {"state_is_beta", [](auto& a) { a.beta.data = a.state.data; }, "state overlaps beta"},
  };
}

GdrShape SmallShape() {
  GdrShape shape;
  shape.lengths = {5, 7};
  shape.num_key_heads = 2;
  shape.num_value_heads = 4;
  shape.k_dim = 64;
  shape.v_dim = 32;
  return shape;
}

TEST(GatedDeltaRuleErrors, AreReportedAndNothingIsWritten) {
  const GdrInputs inputs(SmallShape());
  for (const BadCase& bad : Cases()) {
    SCOPED_TRACE(bad.name);
    GdrInputs spoiled = inputs;
    const GdrContext context(spoiled.Args());
    GatedDeltaRuleArgs args = spoiled.Args();
    bad.spoil(args);
    for (const Status& status :
         {GatedDeltaRuleChunk(context.ctx(), args), GatedDeltaRuleRecurrent(context.ctx(), args)}) {
      EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
      EXPECT_NE(status.message().find(bad.message), std::string::npos) << status.message();
      EXPECT_EQ(status.message().find("gated_delta_rule"), 0U) << status.message();
    }
    EXPECT_EQ(spoiled.out, inputs.out);
    EXPECT_EQ(spoiled.state, inputs.state);
  }
}

TEST(GatedDeltaRuleErrors, ChunkWantsOneDtypeAndAnF32State) {
  GdrShape shape = SmallShape();
  shape.qk_dtype = DType::kF32;
  GdrInputs mixed(shape);
  const GdrContext context(mixed.Args());
  EXPECT_NE(GatedDeltaRuleChunk(context.ctx(), mixed.Args()).message().find("q is f32"),
            std::string::npos);
  shape = SmallShape();
  shape.state_dtype = DType::kBf16;
  GdrInputs half(shape);
  EXPECT_NE(GatedDeltaRuleChunk(context.ctx(), half.Args()).message().find("state is bf16"),
            std::string::npos);
}

TEST(GatedDeltaRuleErrors, ContextMustHaveAPoolAndScratch) {
  GdrInputs inputs(SmallShape());
  const GatedDeltaRuleArgs args = inputs.Args();
  const GdrContext context(args);
  ExecContext ctx = context.ctx();
  ctx.scratch = Scratch();
  EXPECT_NE(GatedDeltaRuleChunk(ctx, args).message().find("scratch is 0 bytes"), std::string::npos);
  ctx = context.ctx();
  ctx.pool = nullptr;
  EXPECT_NE(GatedDeltaRuleRecurrent(ctx, args).message().find("no thread pool"), std::string::npos);
  ctx = context.ctx();
  ctx.impl = "gpu";
  EXPECT_EQ(GatedDeltaRuleRecurrent(ctx, args).code(), StatusCode::kUnsupported);
}

TEST(GatedDeltaRuleErrors, KernelsAreLogged) {
  GdrInputs inputs(SmallShape());
  const GatedDeltaRuleArgs args = inputs.Args();
  const GdrContext context(args);
  ExecContext ctx = context.ctx();
  KernelLog log;
  ctx.kernel_log = &log;
  ASSERT_TRUE(GatedDeltaRuleChunk(ctx, args).ok());
  ASSERT_TRUE(GatedDeltaRuleChunk(ctx, args).ok());
  ctx.impl = "ref";
  ASSERT_TRUE(GatedDeltaRuleRecurrent(ctx, args).ok());
  ASSERT_EQ(log.entries().size(), 2U);
  EXPECT_EQ(std::string(log.entries()[0].kernel).find("gated_delta_rule_chunk_bf16__"), 0U);
  EXPECT_STREQ(log.entries()[1].kernel, "gated_delta_rule_recurrent_bf16__ref");
}

}  // namespace
}  // namespace gdn
