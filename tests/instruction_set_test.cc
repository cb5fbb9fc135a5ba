// SPDX-License-Identifier: Apache-2.0
// Whether an answer depends on the CPU's instruction set: the shipped model, greedy, on each vector
// target of this machine. Prints what differs; docs/numerics.md quotes it.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "model_testing.h"
#include "ops/common/testing/simd_targets.h"

namespace gdn {
namespace {

constexpr int64_t kPromptTokens = 150;
constexpr int64_t kNewTokens = 64;

// The tokens and all their logits: a prompt of the model's own making, then greedy ones.
TestSequence Answer(ThreadPool& pool) {
  const RunLimits limits = TestLimits(1, kPromptTokens + kNewTokens);
  const std::unique_ptr<Model> model =
      LoadTestModel(std::string(GDN_SOURCE_DIR) + "/models/tiny", {}, limits, pool);
  std::vector<int32_t> prompt;
  for (int32_t i = 0; i < kPromptTokens; ++i) prompt.push_back(300 + (i * 37) % 900);
  TestSequence sequence = MakeTestSequence(limits, 0, prompt);
  RunStep(*model, {{&sequence, kPromptTokens, SequenceForm::kPrefill}});
  for (int64_t i = 0; i < kNewTokens; ++i) {
    sequence.tokens.push_back(ArgMax(sequence.logits.row(sequence.logits.rows() - 1)));
    RunStep(*model, {{&sequence, 1, SequenceForm::kDecode}});
  }
  return sequence;
}

TEST(InstructionSet, FmaTargetsGiveOneAnswer) {
  ThreadPool pool(2);
  std::map<std::string, TestSequence> answers;
  std::string with_fma;
  ForEachVectorTarget([&](int64_t target) {
    const std::string name = hwy::TargetName(target);
    answers.emplace(name, Answer(pool));
    if (!HasFma(target)) return;
    if (with_fma.empty()) with_fma = name;
    const TestSequence& want = answers.at(with_fma);
    EXPECT_EQ(answers.at(name).tokens, want.tokens);
    EXPECT_EQ(answers.at(name).logits.values, want.logits.values);
  });
  if (with_fma.empty()) GTEST_SKIP() << "this CPU has no target with fma";
  const TestSequence& want = answers.at(with_fma);
  const auto prompt_values = static_cast<size_t>(kPromptTokens * want.logits.vocab);
  for (const auto& [name, got] : answers) {
    size_t differ = 0;
    for (size_t i = 0; i < prompt_values; ++i) {
      differ += got.logits.values[i] != want.logits.values[i] ? 1 : 0;
    }
    size_t same_tokens = 0;
    while (same_tokens < got.tokens.size() && got.tokens[same_tokens] == want.tokens[same_tokens]) {
      ++same_tokens;
    }
    std::printf(
        "%-6s against %s: %zu of %zu logits of the prompt differ, greedy tokens equal: "
        "%zu of %lld\n",
        name.c_str(), with_fma.c_str(), differ, prompt_values,
        same_tokens - static_cast<size_t>(kPromptTokens), static_cast<long long>(kNewTokens));
  }
}

}  // namespace
}  // namespace gdn
