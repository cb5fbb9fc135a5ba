// SPDX-License-Identifier: Apache-2.0
// What must not change an answer, bit for bit: how a prompt is sliced at multiples of 64, who else
// is in the batch, which slots and blocks are used, how many threads run. And what may change it,
// within a bound: the form.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>

#include "base/rng.h"
#include "io/temp_folder.h"
#include "model/random_checkpoint.h"
#include "model_testing.h"
#include "tensor/dtype_testing.h"

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

const RunLimits kLimits = TestLimits(4, 320);
constexpr SequenceForm kDecode = SequenceForm::kDecode;

class ModelInvariance : public testing::TestWithParam<DType> {
 protected:
  void SetUp() override {
    RandomCheckpointOptions options;
    options.config_json = kConfig;
    options.out_dir = folder_.path();
    options.dtype = GetParam();
    options.seed = 11;
    const Status status = WriteRandomCheckpoint(options);
    ASSERT_TRUE(status.ok()) << status.message();
  }
  std::unique_ptr<Model> Load(ThreadPool& pool, PrefillMode mode = PrefillMode::kAuto) const {
    return LoadTestModel(folder_.path(), {.prefill = mode}, kLimits, pool);
  }

  TempFolder folder_;
  ThreadPool pool_{2};
};

std::vector<int32_t> RandomTokens(uint64_t seed, int64_t count) {
  Rng rng(seed);
  std::vector<int32_t> tokens(static_cast<size_t>(count));
  std::ranges::generate(tokens, [&] { return static_cast<int32_t>(rng.NextBelow(256)); });
  return tokens;
}

void ExpectSameBits(const TestLogits& got, const TestLogits& want) {
  ASSERT_GT(want.rows(), 0);
  ASSERT_EQ(got.rows(), want.rows());
  for (int64_t t = 0; t < want.rows(); ++t) {
    ASSERT_EQ(std::memcmp(got.row(t).data(), want.row(t).data(), want.row(t).size_bytes()), 0)
        << "token " << t;
    ASSERT_TRUE(std::isfinite(want.row(t)[0])) << "token " << t;
  }
}

// A prompt of 200 in slices, then 10 decode steps, in the slot and the blocks of sequence index.
TestLogits PromptThenDecode(Model& model, uint64_t seed, const std::vector<int64_t>& slices = {200},
                            int64_t index = 0) {
  TestSequence sequence = MakeTestSequence(kLimits, index, RandomTokens(seed, 210));
  return RunAlone(model, sequence, slices);
}

TEST_P(ModelInvariance, SlicingAtMultiplesOf64) {
  for (const PrefillMode mode : {PrefillMode::kChunk, PrefillMode::kRecurrent}) {
    const auto model = Load(pool_, mode);
    ASSERT_NE(model, nullptr);
    const TestLogits want = PromptThenDecode(*model, 1);
    const std::vector<std::vector<int64_t>> all_slices = {
        {64, 136}, {128, 72}, {64, 64, 64, 8}, {192, 8}};
    // The same slot and blocks, full of what the last run left there.
    for (const auto& slices : all_slices) ExpectSameBits(PromptThenDecode(*model, 1, slices), want);
  }
}

TEST_P(ModelInvariance, BatchMates) {
  const auto model = Load(pool_);
  ASSERT_NE(model, nullptr);
  const TestLogits want_a = PromptThenDecode(*model, 1);
  const TestLogits want_b = PromptThenDecode(*model, 2);
  const TestLogits want_c = PromptThenDecode(*model, 3);
  TestSequence a = MakeTestSequence(kLimits, 2, RandomTokens(1, 210));
  TestSequence b = MakeTestSequence(kLimits, 0, RandomTokens(2, 210));
  TestSequence c = MakeTestSequence(kLimits, 3, RandomTokens(3, 210));
  RunStep(*model, {{&b, 200}});
  // b decodes beside the prompt of a, then both beside the slices of c's.
  for (int i = 0; i < 3; ++i) RunStep(*model, {{&b, 1, kDecode}});
  RunStep(*model, {{&b, 1, kDecode}, {&a, 200}, {&c, 64}});
  RunStep(*model, {{&a, 1, kDecode}, {&b, 1, kDecode}, {&c, 128}});
  RunStep(*model, {{&b, 1, kDecode}, {&a, 1, kDecode}, {&c, 8}});
  for (int i = 0; i < 4; ++i) {
    RunStep(*model, {{&c, 1, kDecode}, {&a, 1, kDecode}, {&b, 1, kDecode}});
  }
  for (int i = 0; i < 4; ++i) RunStep(*model, {{&a, 1, kDecode}, {&c, 1, kDecode}});
  for (int i = 0; i < 2; ++i) RunStep(*model, {{&c, 1, kDecode}});
  ExpectSameBits(a.logits, want_a);
  ExpectSameBits(b.logits, want_b);
  ExpectSameBits(c.logits, want_c);
}

TEST_P(ModelInvariance, Threads) {
  ThreadPool one(1);
  const auto model = Load(one);
  ASSERT_NE(model, nullptr);
  const TestLogits want = PromptThenDecode(*model, 5);
  for (const int threads : {2, 3, 8}) {
    ThreadPool pool(threads);
    const auto other = Load(pool);
    ASSERT_NE(other, nullptr);
    ExpectSameBits(PromptThenDecode(*other, 5), want);
  }
}

TEST_P(ModelInvariance, SlotsAndBlocks) {
  const auto model = Load(pool_);
  ASSERT_NE(model, nullptr);
  const TestLogits want = PromptThenDecode(*model, 6);
  const std::vector<std::vector<int32_t>> all_blocks = {{1, 2, 3, 4, 5}, {17, 3, 20, 8, 1}};
  for (const auto& blocks : all_blocks) {
    TestSequence sequence = MakeTestSequence(kLimits, 1, RandomTokens(6, 210));
    sequence.blocks = blocks;
    ExpectSameBits(RunAlone(*model, sequence, std::vector<int64_t>{200}), want);
  }
}

// The two forms of the last token: logits of a prefill of T against those of a prefill of T - 1 and
// one decode step. Their distance is that of the rounding points, far below that of a wrong state.
TEST_P(ModelInvariance, PrefillThenDecodeIsNearOnePrefill) {
  const double bound = GetParam() == DType::kF32 ? 1e-4 : GetParam() == DType::kF16 ? 0.02 : 0.1;
  const auto model = Load(pool_, PrefillMode::kChunk);
  ASSERT_NE(model, nullptr);
  double worst = 0;
  for (const int64_t count : {1, 2, 63, 64, 65, 66, 127, 128, 129, 200}) {
    const std::vector<int32_t> tokens = RandomTokens(7, count);
    TestSequence whole = MakeTestSequence(kLimits, 0, tokens);
    RunStep(*model, {{&whole, count}});
    TestSequence split = MakeTestSequence(kLimits, 1, tokens);
    if (count > 1) RunStep(*model, {{&split, count - 1}});
    RunStep(*model, {{&split, 1, kDecode}});
    ASSERT_EQ(whole.logits.rows(), count);
    ASSERT_EQ(split.logits.rows(), count);
    const std::span<const float> want = whole.logits.row(count - 1);
    const std::span<const float> got = split.logits.row(count - 1);
    double distance = 0;
    double norm = 0;
    for (size_t i = 0; i < want.size(); ++i) {
      distance += std::pow(static_cast<double>(got[i]) - want[i], 2);
      norm += static_cast<double>(want[i]) * want[i];
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
