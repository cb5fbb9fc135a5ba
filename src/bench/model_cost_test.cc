// SPDX-License-Identifier: Apache-2.0
#include "bench/model_cost.h"

#include <gtest/gtest.h>

#include <string>

#include "bench/op_case.h"
#include "io/read_file.h"

namespace gdn {
namespace {

ModelConfig Config08b() {
  const std::string path =
      std::string(GDN_SOURCE_DIR) + "/tools/make_checkpoint/configs/qwen3_5_0.8b.json";
  const Result<std::string> text = ReadFile(path, 1 << 20);
  EXPECT_TRUE(text.ok()) << text.status().message();
  return ParseModelConfig(*text, path).value();
}

TEST(ModelCost, ChunkOfSize128Is9MegaflopsAValueHead) {
  EXPECT_NEAR(GdnChunkFlops(64, 128, 128), 9.0e6, 0.01e6);
  EXPECT_DOUBLE_EQ(GdnChunkFlops(640, 128, 128), 10 * GdnChunkFlops(64, 128, 128));
  // A last chunk of few tokens costs what its triangles have.
  EXPECT_LT(GdnChunkFlops(65, 128, 128), 1.02 * GdnChunkFlops(64, 128, 128));
}

TEST(ModelCost, AttentionCountsTheKeysUpToEachToken) {
  EXPECT_DOUBLE_EQ(AttentionFlops(0, 1, 2, 8), 4 * 2 * 8);
  EXPECT_DOUBLE_EQ(AttentionFlops(10, 3, 1, 1), 4 * (11 + 12 + 13));
  EXPECT_DOUBLE_EQ(AttentionFlops(0, 5, 1, 1) + AttentionFlops(5, 7, 1, 1),
                   AttentionFlops(0, 12, 1, 1));
}

// The issue counts 1.54 GB a token: weights (1.50 GB), states of 18 layers (2 x 19 MB).
TEST(ModelCost, BytesOfATokenAreWeightsStatesAndKeys) {
  const ModelConfig config = Config08b();
  const StepCost start = CostOf(config, DType::kBf16, {.position = 0});
  EXPECT_NEAR(start.bytes, 1.54e9, 0.01e9);
  const StepCost deep = CostOf(config, DType::kBf16, {.position = 1000});
  EXPECT_DOUBLE_EQ(deep.bytes - start.bytes, 1000.0 * 6 * 2 * 2 * 256 * 2);
  const StepCost no_logits = CostOf(config, DType::kBf16, {.logit_rows = 0});
  EXPECT_DOUBLE_EQ(start.bytes - no_logits.bytes, 248320.0 * 1024 * 2);
}

TEST(ModelCost, FlopsOfAPromptAreMostlyItsMatrices) {
  const ModelConfig config = Config08b();
  const StepCost cost =
      CostOf(config, DType::kBf16, {.tokens = 512, .chunk = true, .logit_rows = 1});
  // 0.498e9 weights in the layers.
  EXPECT_NEAR(cost.flops, 2 * 0.498e9 * 512, 0.1 * cost.flops);
  EXPECT_GT(cost.flops, 2 * 0.498e9 * 512);
  StepCost sum = cost;
  sum += cost;
  EXPECT_DOUBLE_EQ(sum.flops, 2 * cost.flops);
  EXPECT_DOUBLE_EQ(sum.bytes, 2 * cost.bytes);
}

}  // namespace
}  // namespace gdn
