// SPDX-License-Identifier: Apache-2.0
// A model of random weights in memory is the model of the random checkpoint.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "io/temp_folder.h"
#include "model/model.h"
#include "model/random_checkpoint.h"
#include "tensor/dtype_testing.h"

namespace gdn {
namespace {

constexpr RunLimits kLimits{.max_tokens = 80, .num_blocks = 3, .max_positions = 128};

std::string Config(bool wrapper, bool tied) {
  const std::string text = R"("vocab_size": 96, "hidden_size": 32, "intermediate_size": 48,
      "num_hidden_layers": 4, "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 16,
      "partial_rotary_factor": 0.5, "linear_key_head_dim": 8, "linear_value_head_dim": 8,
      "linear_num_key_heads": 1, "linear_num_value_heads": 3, "tie_word_embeddings": )" +
                           std::string(tied ? "true" : "false");
  return wrapper ? R"({"architectures": ["Qwen3_5ForConditionalGeneration"], "text_config": {)" +
                       text + "}}"
                 : R"({"architectures": ["Qwen3_5ForCausalLM"], )" + text + "}";
}

// The logits after a prompt of 70 tokens and of one generated token.
std::vector<float> Logits(Model& model) {
  EXPECT_TRUE(model.Plan(kLimits).ok());
  std::vector<float> out;
  const std::vector<int32_t> table = {1, 2};
  const auto step = [&](int32_t first, int32_t count, SequenceForm form) {
    std::vector<int32_t> tokens, positions;
    for (int32_t i = first; i < first + count; ++i) {
      tokens.push_back(i * 7 % 96);
      positions.push_back(i);
    }
    const std::vector<int32_t> cu_seqlens = {0, count};
    const std::vector<int32_t> slots = {1};
    const std::vector<SequenceForm> forms = {form};
    const std::vector<int32_t> rows = {count - 1};
    const Result<ConstTensor> logits = model.Forward({.tokens = tokens,
                                                      .positions = positions,
                                                      .cu_seqlens = cu_seqlens,
                                                      .state_slots = slots,
                                                      .forms = forms,
                                                      .block_table = table,
                                                      .max_blocks = 2,
                                                      .logit_rows = rows});
    ASSERT_TRUE(logits.ok()) << logits.status().message();
    out.insert(out.end(), logits->Row<float>(0), logits->Row<float>(0) + 96);
  };
  step(0, 70, SequenceForm::kPrefill);
  step(70, 1, SequenceForm::kDecode);
  return out;
}

std::unique_ptr<Model> Random(const ModelConfig& config, DType dtype, uint64_t seed,
                              ThreadPool& pool) {
  size_t last_done = 0;
  const auto progress = [&](size_t done, size_t total) {
    EXPECT_GT(done, last_done);
    EXPECT_LE(done, total);
    last_done = done;
  };
  Result<std::unique_ptr<Model>> model = MakeRandomModel(config, dtype, seed, {}, pool, progress);
  EXPECT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(last_done, EstimateRandomNeeds(config, dtype, kLimits, {}, 1).weight_bytes);
  return std::move(*model);
}

TEST(RandomModel, IsThatOfTheCheckpoint) {
  for (const DType dtype : {DType::kBf16, DType::kF16, DType::kF32}) {
    for (const bool tied : {true, false}) {
      SCOPED_TRACE(std::string(Name(dtype)) + (tied ? " tied" : ""));
      TempFolder folder;
      RandomCheckpointOptions options;
      options.config_json = Config(/*wrapper=*/tied, tied);
      options.out_dir = folder.path();
      options.dtype = dtype;
      options.seed = 5;
      ASSERT_TRUE(WriteRandomCheckpoint(options).ok());
      ThreadPool pool(1);
      auto loaded = LoadModel(folder.path(), {}, pool, [](size_t, size_t) {});
      ASSERT_TRUE(loaded.ok()) << loaded.status().message();
      const std::vector<float> want = Logits(**loaded);
      for (const float x : want) ASSERT_TRUE(std::isfinite(x));
      for (const int threads : {1, 3}) {
        ThreadPool other(threads);
        EXPECT_EQ(Logits(*Random((*loaded)->config(), dtype, 5, other)), want) << threads;
      }
      EXPECT_NE(Logits(*Random((*loaded)->config(), dtype, 6, pool)), want);
    }
  }
}

TEST(RandomModel, NeedsWhatItsCheckpointNeeds) {
  TempFolder folder;
  RandomCheckpointOptions options;
  options.config_json = Config(true, false);
  options.out_dir = folder.path();
  ASSERT_TRUE(WriteRandomCheckpoint(options).ok());
  const auto config = LoadModelConfig(folder.path());
  ASSERT_TRUE(config.ok());
  const auto file = EstimateNeeds(folder.path(), *config, kLimits, {}, 2);
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_EQ(EstimateRandomNeeds(*config, DType::kBf16, kLimits, {}, 2).TotalBytes(kLimits),
            file->TotalBytes(kLimits));
}

}  // namespace
}  // namespace gdn
