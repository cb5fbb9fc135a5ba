// SPDX-License-Identifier: Apache-2.0
// What must not change an answer, bit for bit: how a prompt is sliced at multiples of 64, who else
// is in the batch, which slots and blocks are used, how many threads run. And what may change it,
// within a bound: the form.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <string>

#include "base/rng.h"
#include "model/model.h"
#include "model/random_checkpoint.h"

namespace gdn {
namespace {

// Hk 2, Hv 6: a wrong head order cannot hide.
constexpr const char* kConfig = R"({
  "architectures": ["Qwen3_5ForCausalLM"], "model_type": "qwen3_5_text",
  "vocab_size": 256, "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 4,
  "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 32,
  "linear_num_key_heads": 2, "linear_num_value_heads": 6,
  "linear_key_head_dim": 32, "linear_value_head_dim": 32, "linear_conv_kernel_dim": 4,
  "max_position_embeddings": 512, "rms_norm_eps": 1e-6, "tie_word_embeddings": true,
  "rope_parameters": {"rope_type": "default", "rope_theta": 10000, "partial_rotary_factor": 0.25}
})";

constexpr int64_t kContext = 320;
constexpr int64_t kBlocks = kContext / 64;

class ModelInvariance : public testing::TestWithParam<DType> {
 protected:
  void SetUp() override {
    dir_ = std::filesystem::temp_directory_path() /
           ("gdn_invariance_" + std::string(Name(GetParam())) + "_" + std::to_string(getpid()));
    RandomCheckpointOptions options;
    options.config_json = kConfig;
    options.out_dir = dir_.string();
    options.dtype = GetParam();
    options.seed = 11;
    const Status status = WriteRandomCheckpoint(options);
    ASSERT_TRUE(status.ok()) << status.message();
  }
  void TearDown() override { std::filesystem::remove_all(dir_); }

  std::filesystem::path dir_;
};

std::vector<int32_t> RandomTokens(uint64_t seed, int64_t count) {
  Rng rng(seed);
  std::vector<int32_t> tokens(static_cast<size_t>(count));
  std::ranges::generate(tokens, [&] { return static_cast<int32_t>(rng.NextBelow(256)); });
  return tokens;
}

// One sequence of a runner: its tokens, where it lives, how far it is.
struct Lane {
  std::vector<int32_t> tokens;
  int32_t slot = 1;
  std::vector<int32_t> blocks;
  int64_t computed = 0;
  std::vector<std::vector<float>> logits = {};  // of every token so far
};

Lane MakeLane(std::vector<int32_t> tokens, int32_t slot) {
  Lane lane{.tokens = std::move(tokens), .slot = slot, .blocks = std::vector<int32_t>(kBlocks)};
  std::iota(lane.blocks.begin(), lane.blocks.end(), 1 + (slot - 1) * kBlocks);
  return lane;
}

// What one step computes of a lane.
struct Work {
  Lane* lane;
  int64_t count;
  SequenceForm form = SequenceForm::kPrefill;
};

class Runner {
 public:
  Runner(const std::filesystem::path& dir, int threads, PrefillMode mode = PrefillMode::kAuto)
      : pool_(threads) {
    ModelOptions options;
    options.prefill = mode;
    model_ = std::move(LoadModel(dir.string(), options, pool_, [](size_t, size_t) {})).value();
    const Status status = model_->Plan({.max_tokens = 640,
                                        .max_seqs = 4,
                                        .max_logit_rows = 640,
                                        .num_slots = 5,
                                        .num_blocks = 4 * kBlocks + 1,
                                        .max_positions = kContext});
    GDN_CHECK(status.ok());
  }

  void Step(const std::vector<Work>& work) {
    std::vector<int32_t> tokens, positions, cu = {0}, slots, table, rows;
    std::vector<SequenceForm> forms;
    for (const Work& w : work) {
      for (int64_t i = w.lane->computed; i < w.lane->computed + w.count; ++i) {
        rows.push_back(static_cast<int32_t>(tokens.size()));
        tokens.push_back(w.lane->tokens[static_cast<size_t>(i)]);
        positions.push_back(static_cast<int32_t>(i));
      }
      cu.push_back(static_cast<int32_t>(tokens.size()));
      slots.push_back(w.lane->slot);
      table.insert(table.end(), w.lane->blocks.begin(), w.lane->blocks.end());
      forms.push_back(w.form);
    }
    const Result<ConstTensor> logits = model_->Forward({.tokens = tokens,
                                                        .positions = positions,
                                                        .cu_seqlens = cu,
                                                        .state_slots = slots,
                                                        .forms = forms,
                                                        .block_table = table,
                                                        .max_blocks = kBlocks,
                                                        .logit_rows = rows});
    ASSERT_TRUE(logits.ok()) << logits.status().message();
    int64_t row = 0;
    for (const Work& w : work) {
      for (int64_t i = 0; i < w.count; ++i, ++row) {
        const auto* first = logits->Row<float>(row);
        w.lane->logits.emplace_back(first, first + logits->dim(1));
      }
      w.lane->computed += w.count;
    }
  }

 private:
  ThreadPool pool_;
  std::unique_ptr<Model> model_;
};

void ExpectSameBits(const Lane& got, const Lane& want) {
  ASSERT_EQ(got.logits.size(), want.logits.size());
  for (size_t t = 0; t < got.logits.size(); ++t) {
    ASSERT_EQ(std::memcmp(got.logits[t].data(), want.logits[t].data(),
                          want.logits[t].size() * sizeof(float)),
              0)
        << "token " << t;
    ASSERT_TRUE(std::isfinite(want.logits[t][0])) << "token " << t;
  }
}

// A prompt of 200 in one step, then 10 decode steps.
Lane Baseline(Runner& runner, uint64_t seed, int32_t slot = 1) {
  Lane lane = MakeLane(RandomTokens(seed, 210), slot);
  runner.Step({{&lane, 200}});
  for (int i = 0; i < 10; ++i) runner.Step({{&lane, 1, SequenceForm::kDecode}});
  return lane;
}

TEST_P(ModelInvariance, SlicingAtMultiplesOf64) {
  for (const PrefillMode mode : {PrefillMode::kChunk, PrefillMode::kRecurrent}) {
    Runner runner(dir_, 2, mode);
    const Lane want = Baseline(runner, 1);
    const std::vector<std::vector<int64_t>> all_slices = {
        {64, 136}, {128, 72}, {64, 64, 64, 8}, {192, 8}};
    for (const auto& slices : all_slices) {
      // The same slot and blocks, full of what the last run left there.
      Lane lane = MakeLane(want.tokens, 1);
      for (const int64_t count : slices) runner.Step({{&lane, count}});
      for (int i = 0; i < 10; ++i) runner.Step({{&lane, 1, SequenceForm::kDecode}});
      ExpectSameBits(lane, want);
    }
  }
}

TEST_P(ModelInvariance, BatchMates) {
  Runner runner(dir_, 2);
  const Lane want_a = Baseline(runner, 1);
  const Lane want_b = Baseline(runner, 2);
  const Lane want_c = Baseline(runner, 3);
  Lane a = MakeLane(want_a.tokens, 3);
  Lane b = MakeLane(want_b.tokens, 1);
  Lane c = MakeLane(want_c.tokens, 4);
  runner.Step({{&b, 200}});
  // b decodes beside the prompt of a, then both beside the slices of c's.
  for (int i = 0; i < 3; ++i) runner.Step({{&b, 1, SequenceForm::kDecode}});
  runner.Step({{&b, 1, SequenceForm::kDecode}, {&a, 200}, {&c, 64}});
  runner.Step({{&a, 1, SequenceForm::kDecode}, {&b, 1, SequenceForm::kDecode}, {&c, 128}});
  runner.Step({{&b, 1, SequenceForm::kDecode}, {&a, 1, SequenceForm::kDecode}, {&c, 8}});
  for (int i = 0; i < 4; ++i) {
    runner.Step({{&c, 1, SequenceForm::kDecode},
                 {&a, 1, SequenceForm::kDecode},
                 {&b, 1, SequenceForm::kDecode}});
  }
  for (int i = 0; i < 4; ++i) {
    runner.Step({{&a, 1, SequenceForm::kDecode}, {&c, 1, SequenceForm::kDecode}});
  }
  for (int i = 0; i < 2; ++i) runner.Step({{&c, 1, SequenceForm::kDecode}});
  ExpectSameBits(a, want_a);
  ExpectSameBits(b, want_b);
  ExpectSameBits(c, want_c);
}

TEST_P(ModelInvariance, Threads) {
  Runner one(dir_, 1);
  const Lane want = Baseline(one, 5);
  for (const int threads : {2, 3, 8}) {
    Runner runner(dir_, threads);
    ExpectSameBits(Baseline(runner, 5), want);
  }
}

TEST_P(ModelInvariance, SlotsAndBlocks) {
  Runner runner(dir_, 2);
  const Lane want = Baseline(runner, 6);
  Lane lane = MakeLane(want.tokens, 2);
  lane.blocks = {17, 3, 20, 8, 1};
  runner.Step({{&lane, 200}});
  for (int i = 0; i < 10; ++i) runner.Step({{&lane, 1, SequenceForm::kDecode}});
  ExpectSameBits(lane, want);
}

// The two forms of the last token: logits of a prefill of T against those of a prefill of T - 1 and
// one decode step. Their distance is that of the rounding points, far below that of a wrong state.
TEST_P(ModelInvariance, PrefillThenDecodeIsNearOnePrefill) {
  const double bound = GetParam() == DType::kF32 ? 1e-4 : GetParam() == DType::kF16 ? 0.02 : 0.1;
  Runner runner(dir_, 2, PrefillMode::kChunk);
  double worst = 0;
  for (const int64_t count : {1, 2, 63, 64, 65, 66, 127, 128, 129, 200}) {
    Lane whole = MakeLane(RandomTokens(7, count), 1);
    runner.Step({{&whole, count}});
    Lane split = MakeLane(whole.tokens, 2);
    if (count > 1) runner.Step({{&split, count - 1}});
    runner.Step({{&split, 1, SequenceForm::kDecode}});
    double distance = 0;
    double norm = 0;
    for (size_t i = 0; i < whole.logits.back().size(); ++i) {
      const double want = whole.logits.back()[i];
      distance += std::pow(split.logits.back()[i] - want, 2);
      norm += want * want;
    }
    const double relative = std::sqrt(distance / norm);
    EXPECT_LE(relative, bound) << count << " tokens";
    worst = std::max(worst, relative);
  }
  std::printf("forms are %.2e apart (rms) in %s\n", worst, Name(GetParam()));
  RecordProperty("worst_relative_rms", std::to_string(worst));
}

INSTANTIATE_TEST_SUITE_P(All, ModelInvariance,
                         testing::Values(DType::kF32, DType::kF16, DType::kBf16),
                         [](const auto& param) { return Name(param.param); });

}  // namespace
}  // namespace gdn
