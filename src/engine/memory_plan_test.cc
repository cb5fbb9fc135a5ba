// SPDX-License-Identifier: Apache-2.0
#include "engine/memory_plan.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "base/str.h"

namespace gdn {
namespace {

constexpr size_t kMiB = size_t{1} << 20;
constexpr size_t kUnlimited = std::numeric_limits<size_t>::max();

ModelConfig Config() {
  ModelConfig config;
  config.max_positions = 1 << 20;
  return config;
}

// States of 20 MiB, a block of 1 MiB.
Result<MemoryPlan> Plan(const EngineConfig& wishes, size_t limit_bytes) {
  const auto needs = [](const RunLimits& limits) -> Result<MemoryNeeds> {
    return MemoryNeeds{.weight_bytes = 1000 * kMiB,
                       .state_bytes = 20 * kMiB,
                       .kv_block_bytes = kMiB,
                       .scratch_bytes = 10 * kMiB * static_cast<size_t>(limits.max_seqs)};
  };
  return PlanMemory("model", Config(), wishes, limit_bytes, needs);
}

const EngineConfig kWishes = {
    .context_tokens = 4096, .max_seqs = 4, .num_snapshots = kAutoSnapshots};

TEST(MemoryPlan, WithoutALimitEveryContextAndItsSnapshotsFit) {
  const MemoryPlan plan = Plan(kWishes, kUnlimited).value();
  EXPECT_EQ(plan.config.kv_tokens, 4 * 4096);
  EXPECT_EQ(plan.config.num_snapshots, 2 * 4 + 4 * 4096 / 512);
  EXPECT_EQ(plan.limits.num_slots, 1 + 4 + 40);
  EXPECT_EQ(plan.limits.num_blocks, 1 + 256);
  EXPECT_EQ(plan.total_bytes, (1000 + 40 + 45 * 20 + 257) * kMiB);
  // All of it is needed: the same with just so much, and not with a byte less.
  EXPECT_EQ(Plan(kWishes, plan.total_bytes).value().total_bytes, plan.total_bytes);
  EXPECT_LT(Plan(kWishes, plan.total_bytes - 1).value().total_bytes, plan.total_bytes);
}

TEST(MemoryPlan, SnapshotsGiveWayToHalfThenKeysAndValuesToOneContext) {
  // Fixed are 1000 + 40 of scratch, 5 + 2 slots and 65 blocks: 1245 MiB.
  const MemoryPlan most = Plan(kWishes, (1245 + 600) * kMiB).value();
  EXPECT_EQ(most.config.kv_tokens, 4 * 4096);  // 192 MiB more
  EXPECT_EQ(most.config.num_snapshots, 2 + 20);
  const MemoryPlan half = Plan(kWishes, (1245 + 300) * kMiB).value();
  EXPECT_EQ(half.config.num_snapshots, 2 + 7);
  EXPECT_EQ(half.config.kv_tokens, 4096 + 64 * 150);
  const MemoryPlan little = Plan(kWishes, (1245 + 30) * kMiB).value();
  EXPECT_EQ(little.config.num_snapshots, 2);
  EXPECT_EQ(little.config.kv_tokens, 4096 + 64 * 15);
  const MemoryPlan least = Plan(kWishes, 1245 * kMiB).value();
  EXPECT_EQ(least.config.num_snapshots, 2);
  EXPECT_EQ(least.config.kv_tokens, 4096);
}

TEST(MemoryPlan, NeverExceedsTheLimitAndNeverFallsWithMore) {
  int64_t kv_tokens = 0;
  for (size_t limit = 1245 * kMiB; limit < 2400 * kMiB; limit += 3 * kMiB + 1) {
    const MemoryPlan plan = Plan(kWishes, limit).value();
    EXPECT_LE(plan.total_bytes, limit);
    EXPECT_EQ(plan.total_bytes, plan.needs.TotalBytes(plan.limits));
    EXPECT_GE(plan.config.kv_tokens, kv_tokens);
    EXPECT_LE(plan.config.num_snapshots, 8 + plan.config.kv_tokens / 512);
    EXPECT_TRUE(Engine::Limits(Config(), plan.config).ok());
    kv_tokens = plan.config.kv_tokens;
  }
  EXPECT_EQ(kv_tokens, 4 * 4096);
}

TEST(MemoryPlan, WhatIsGivenStays) {
  EngineConfig wishes = kWishes;
  wishes.num_snapshots = 0;
  wishes.swap_bytes = 100 * kMiB;
  const MemoryPlan none = Plan(wishes, (1000 + 40 + 100 + 65 + 100) * kMiB).value();
  EXPECT_EQ(none.config.num_snapshots, 0);
  EXPECT_EQ(none.config.swap_bytes, 100 * kMiB);
  EXPECT_EQ(none.config.kv_tokens, 4096);
  EXPECT_EQ(none.total_bytes, (1000 + 40 + 100 + 65 + 100) * kMiB);
  wishes = kWishes;
  wishes.kv_tokens = 10'000;
  wishes.num_snapshots = 3;
  const MemoryPlan given = Plan(wishes, 2000 * kMiB).value();
  EXPECT_EQ(given.config.kv_tokens, 157 * 64);
  EXPECT_EQ(given.config.num_snapshots, 3);
  EXPECT_EQ(Plan(wishes, 1300 * kMiB).status().code(), StatusCode::kOutOfMemory);
}

TEST(MemoryPlan, SaysWhatDoesNotFitByKind) {
  const Status status = Plan(kWishes, 1245 * kMiB - 1).status();
  EXPECT_EQ(status.code(), StatusCode::kOutOfMemory);
  EXPECT_EQ(
      status.message(),
      "model needs 1.22 GiB of memory (weights 1000.00 MiB, scratch 40.00 MiB, 4 sequences "
      "and 2 snapshots 140.00 MiB, keys and values of 4096 tokens 65.00 MiB), there are 1.22 GiB");
  EngineConfig wishes = kWishes;
  wishes.context_tokens = -1;
  EXPECT_EQ(Plan(wishes, kUnlimited).status().code(), StatusCode::kInvalidArgument);
  const auto broken = [](const RunLimits& /*limits*/) -> Result<MemoryNeeds> {
    return NotFound("no such model");
  };
  EXPECT_EQ(PlanMemory("model", Config(), kWishes, kUnlimited, broken).status().message(),
            "no such model");
}

TEST(MemoryPlan, ModelsWithoutStatesOrWithoutKeysHaveAPlan) {
  const auto only_keys = [](const RunLimits& /*limits*/) -> Result<MemoryNeeds> {
    return MemoryNeeds{.kv_block_bytes = 1000};
  };
  const MemoryPlan plan = PlanMemory("", Config(), kWishes, 70'000, only_keys).value();
  EXPECT_EQ(plan.config.kv_tokens, 64 * 69);
  const auto only_states = [](const RunLimits& /*limits*/) -> Result<MemoryNeeds> {
    return MemoryNeeds{.state_bytes = 1000};
  };
  const MemoryPlan states = PlanMemory("", Config(), kWishes, 12'000, only_states).value();
  EXPECT_EQ(states.config.kv_tokens, 4 * 4096);
  EXPECT_EQ(states.config.num_snapshots, 7);
}

TEST(ParseMemoryLimit, TakesBytesAndShares) {
  const auto parse = [](const char* text) { return ParseMemoryLimit(text, 1000).value(); };
  EXPECT_EQ(parse("8GiB"), size_t{8} << 30);
  EXPECT_EQ(parse("512MiB"), 512 * kMiB);
  EXPECT_EQ(parse("1.5KiB"), 1536U);
  EXPECT_EQ(parse("6GB"), 6'000'000'000U);
  EXPECT_EQ(parse("3TB"), 3'000'000'000'000U);
  EXPECT_EQ(parse("123456789"), 123'456'789U);
  EXPECT_EQ(parse("80%"), 800U);
  EXPECT_EQ(parse("12.5%"), 125U);
  EXPECT_EQ(parse("0.8"), 800U);
  EXPECT_EQ(parse("100%"), 1000U);
  EXPECT_EQ(parse("1"), 1U);
  EXPECT_EQ(ParseMemoryLimit("2GiB", 0).value(), size_t{2} << 30);
}

TEST(ParseMemoryLimit, RefusesAnythingElse) {
  const auto message = [](const char* text, size_t available = 1000) {
    const Result<size_t> result = ParseMemoryLimit(text, available);
    return result.ok() ? "accepted" : result.status().message();
  };
  const std::string forms = ", want bytes (8GiB, 512MiB, 6GB, 1000000) or a share (80%, 0.8)";
  for (const std::string text : {"", "0", "-1", "-5%", "many", "GiB", "8Gib", "8 GiB", "8GiBs",
                                 "0x10", "1e9", "nan", "0%", "+1"}) {
    EXPECT_EQ(message(text.c_str()), StrCat("memory limit is \"", text, "\"", forms));
  }
  EXPECT_EQ(message("101%"), "memory limit is \"101%\", want a share of at most 100% (80%, 0.8)");
  EXPECT_EQ(message("1.5"), "memory limit is \"1.5\", want a share of at most 100% (80%, 0.8)");
  EXPECT_EQ(message("80%", 0),
            "memory limit is \"80%\", want bytes: this system does not say what is available");
  EXPECT_EQ(message("99999999999GiB"),
            "memory limit is \"99999999999GiB\", want less than 2^60 bytes");
  EXPECT_EQ(message("inf"), "memory limit is \"inf\", want less than 2^60 bytes");
}

}  // namespace
}  // namespace gdn
