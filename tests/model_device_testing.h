// SPDX-License-Identifier: Apache-2.0
// A whole model on a device (TestDevice) against the CPU: near each other, equal in what they
// choose, and on the device as independent of slices, batch mates and slots as on the CPU.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "model_testing.h"
#include "ops/common/testing/device_testing.h"
#include "tensor/dtype_testing.h"
#include "tokenizer/tokenizer.h"

namespace gdn {
namespace {

const std::string kTiny = std::string(GDN_SOURCE_DIR) + "/models/tiny";
constexpr int64_t kPositions = 320;
const RunLimits kLimits = TestLimits(3, kPositions);
constexpr SequenceForm kDecode = SequenceForm::kDecode;
constexpr int64_t kPrompt = 190;
constexpr int64_t kDecoded = 10;

class DeviceModel : public testing::Test {
 protected:
  std::unique_ptr<Model> Load(const Device& device, bool round_logits = true,
                              PrefillMode mode = PrefillMode::kAuto) {
    ModelOptions options;
    options.device = device;
    options.round_logits = round_logits;
    options.prefill = mode;
    return LoadTestModel(kTiny, options, kLimits, pool_);
  }
  // Of all positions, before they are rounded to the dtype.
  TestLogits Logits(const Device& device, PrefillMode mode, const std::vector<int32_t>& tokens) {
    const auto model = Load(device, /*round_logits=*/false, mode);
    TestSequence sequence = MakeTestSequence(kLimits, 0, tokens);
    if (model == nullptr) return sequence.logits;
    RunStep(*model, {{&sequence, kPrompt}});
    for (int64_t i = 0; i < kDecoded; ++i) RunStep(*model, {{&sequence, 1, kDecode}});
    return sequence.logits;
  }
  static std::vector<int32_t> Prompt(int64_t count) {
    const Result<Tokenizer> tokenizer = Tokenizer::Load(kTiny);
    GDN_CHECK(tokenizer.ok());
    std::string text = "In the beginning";
    for (int i = 0; i < 80; ++i) text += " God said unto the people, and they went out of the land";
    std::vector<int32_t> ids = tokenizer->Encode(text).value();
    ids.resize(static_cast<size_t>(count));
    return ids;
  }

  ThreadPool pool_{2};
};

double Nmse(std::span<const float> got, std::span<const float> want) {
  double error = 0;
  double norm = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    const double delta = static_cast<double>(got[i]) - want[i];
    error += delta * delta;
    norm += static_cast<double>(want[i]) * want[i];
  }
  return error / norm;
}

// Steps of bf16 between the two largest.
double StepsApart(std::span<const float> logits) {
  float first = -INFINITY;
  float second = -INFINITY;
  for (const float x : logits) {
    if (x > first) {
      second = first;
      first = x;
    } else if (x > second) {
      second = x;
    }
  }
  return (first - second) / std::ldexp(1.0, std::ilogb(first) - 7);
}

TEST_F(DeviceModel, LogitsBeforeRoundingAreNearTheCpus) {
  const std::vector<int32_t> tokens = Prompt(kPrompt + kDecoded);
  for (const PrefillMode mode : {PrefillMode::kChunk, PrefillMode::kRecurrent}) {
    const TestLogits want = Logits({}, mode, tokens);
    const TestLogits got = Logits(TestDevice::Get().device(), mode, tokens);
    ASSERT_EQ(want.rows(), kPrompt + kDecoded);
    ASSERT_EQ(got.rows(), want.rows());
    const size_t split = want.values.size() / (kPrompt + kDecoded) * kPrompt;
    const auto prompt = [split](const TestLogits& all) {
      return std::span(all.values).first(split);
    };
    const auto decoded = [split](const TestLogits& all) {
      return std::span(all.values).subspan(split);
    };
    std::printf("%s: NMSE of the prompt's logits %.2e, of decoded ones %.2e\n", Name(mode),
                Nmse(prompt(got), prompt(want)), Nmse(decoded(got), decoded(want)));
    EXPECT_LE(Nmse(prompt(got), prompt(want)), 1e-6);
    EXPECT_LE(Nmse(decoded(got), decoded(want)), 1e-6);
  }
}

TEST_F(DeviceModel, TheLargestLogitAloneCrossesWhereNoMoreIsWanted) {
  const auto model = Load(TestDevice::Get().device());
  ASSERT_NE(model, nullptr);
  TestSequence whole = MakeTestSequence(kLimits, 0, Prompt(3));
  RunStep(*model, {{&whole, 3}});
  EXPECT_TRUE(model->largest().empty());

  TestSequence again = MakeTestSequence(kLimits, 0, Prompt(3));
  const std::vector<uint8_t> wants_largest = {1, 0, 1};
  const int64_t before = model->backend()->work().bytes_to_host;
  RunStep(*model, {{&again, 3}}, wants_largest);
  EXPECT_EQ(model->backend()->work().bytes_to_host - before, 3 * 4 + whole.logits.vocab * 4);
  ASSERT_EQ(model->largest().size(), 3U);
  for (const int64_t row : {0, 2}) {
    EXPECT_EQ(model->largest()[static_cast<size_t>(row)], ArgMax(whole.logits.row(row)));
  }
  EXPECT_TRUE(std::ranges::equal(again.logits.row(1), whole.logits.row(1)));
}

// Both go on with the CPU's choice, so that one near tie does not hide what follows.
TEST_F(DeviceModel, GreedyTokensAreTheCpusButForNearTies) {
  const auto cpu = Load({});
  const auto device = Load(TestDevice::Get().device());
  ASSERT_TRUE(cpu != nullptr && device != nullptr);
  TestSequence a = MakeTestSequence(kLimits, 0, Prompt(40));
  TestSequence b = a;
  constexpr int kSteps = 100;
  int near_ties = 0;
  for (int step = 0; step < kSteps; ++step) {
    const SequenceForm form = step == 0 ? SequenceForm::kPrefill : kDecode;
    RunStep(*cpu, {{&a, step == 0 ? 40 : 1, form}});
    RunStep(*device, {{&b, step == 0 ? 40 : 1, form}});
    const auto want = a.logits.row(a.logits.rows() - 1);
    const auto got = b.logits.row(b.logits.rows() - 1);
    if (ArgMax(got) != ArgMax(want)) {
      ++near_ties;
      EXPECT_LE(StepsApart(want), 2) << "step " << step;
    }
    a.tokens.push_back(ArgMax(want));
    b.tokens.push_back(ArgMax(want));
  }
  std::printf("%d of %d steps choose another token, all near ties\n", near_ties, kSteps);
  EXPECT_LT(near_ties, kSteps / 20);
}

TEST_F(DeviceModel, SlicesAndBatchMatesChangeNoBit) {
  const auto model = Load(TestDevice::Get().device());
  ASSERT_NE(model, nullptr);
  const std::vector<int32_t> tokens = Prompt(150);
  TestSequence alone = MakeTestSequence(kLimits, 0, tokens);
  RunStep(*model, {{&alone, 140}});
  for (int i = 0; i < 10; ++i) RunStep(*model, {{&alone, 1, kDecode}});

  std::vector<int32_t> others = Prompt(100);
  std::ranges::reverse(others);
  TestSequence same = MakeTestSequence(kLimits, 2, tokens);
  TestSequence mate = MakeTestSequence(kLimits, 1, others);
  TestSequence third = MakeTestSequence(kLimits, 0, others);
  RunStep(*model, {{&same, 64}, {&mate, 30}});
  RunStep(*model, {{&mate, 1, kDecode}, {&third, 7}, {&same, 64}});
  RunStep(*model, {{&mate, 1, kDecode}, {&same, 12}});
  for (int i = 0; i < 10; ++i) {
    RunStep(*model, {{&mate, 1, kDecode}, {&same, 1, kDecode}, {&third, 3}});
  }
  EXPECT_EQ(same.logits.values, alone.logits.values);
}

TEST_F(DeviceModel, StatesCanBeCopiedSavedAndRestored) {
  const auto model = Load(TestDevice::Get().device());
  ASSERT_NE(model, nullptr);
  const std::vector<int32_t> tokens = Prompt(150);
  TestSequence whole = MakeTestSequence(kLimits, 0, tokens);
  RunStep(*model, {{&whole, 128}});
  const std::vector<int32_t> first_blocks(whole.blocks.begin(), whole.blocks.begin() + 2);
  std::vector<std::byte> saved(model->SavedBytes(2));
  model->Save(whole.slot, first_blocks, saved);
  model->CopyState(whole.slot, 2);
  RunStep(*model, {{&whole, 22}});

  TestSequence restored = MakeTestSequence(kLimits, 2, tokens);
  restored.num_computed = 128;
  model->Restore(restored.slot, std::span(restored.blocks).first(2), saved);
  RunStep(*model, {{&restored, 22}});
  const auto rest = std::span(whole.logits.values).last(restored.logits.values.size());
  EXPECT_TRUE(std::ranges::equal(restored.logits.values, rest));

  TestSequence copied = whole;  // its keys and values, the copy of its states
  copied.slot = 2;
  copied.num_computed = 128;
  copied.logits = {};
  RunStep(*model, {{&copied, 22}});
  EXPECT_TRUE(std::ranges::equal(copied.logits.values, rest));
}

}  // namespace
}  // namespace gdn
