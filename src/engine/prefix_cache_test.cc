// SPDX-License-Identifier: Apache-2.0
#include "engine/prefix_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "base/rng.h"

namespace gdn {
namespace {

constexpr auto kBlock = static_cast<size_t>(kKvBlockSize);
using Kind = PrefixCache::SnapshotKind;

// Blocks of tokens, each of one value, and `rest` more.
std::vector<int32_t> Tokens(const std::vector<int32_t>& values, size_t rest = 0) {
  std::vector<int32_t> out;
  for (const int32_t value : values) out.insert(out.end(), kBlock, value);
  out.insert(out.end(), rest, -1);
  return out;
}

struct Harness {
  explicit Harness(int64_t num_blocks = 8, int64_t num_snapshots = 4)
      : blocks(num_blocks + 1), cache(blocks, 10, num_snapshots) {}

  // Walks a prompt of whole blocks into the cache; returns its node, held.
  PrefixCache::Node Insert(const std::vector<int32_t>& values) {
    PrefixCache::Node node = PrefixCache::kRoot;
    for (const int32_t value : values) {
      const int32_t block = cache.TakeBlock();
      const PrefixCache::Added added = cache.Add(node, Tokens({value}), block);
      if (!added.took_block) blocks.Give(block);
      node = added.node;
    }
    return node;
  }

  IdPool blocks;
  PrefixCache cache;
};

TEST(PrefixCache, FindsTheDeepestSnapshotAndLeavesAToken) {
  Harness h;
  EXPECT_EQ(h.cache.Find(Tokens({1, 2}, 1)).num_blocks, 0);
  const PrefixCache::Node one = h.Insert({1});
  const PrefixCache::Node two = h.Insert({1, 2});
  h.Insert({1, 2, 3});
  EXPECT_EQ(h.cache.num_nodes(), 3);
  EXPECT_EQ(h.cache.Find(Tokens({1, 2, 3}, 1)).num_blocks, 0) << "there is no snapshot yet";
  const int32_t first = h.cache.TakeSnapshot(one, Kind::kInner);
  const int32_t second = h.cache.TakeSnapshot(two, Kind::kTail);
  EXPECT_EQ(h.cache.TakeSnapshot(two, Kind::kTail), 0) << "it has one";
  const PrefixCache::Match match = h.cache.Find(Tokens({1, 2, 3}, 1));
  EXPECT_EQ(match.num_blocks, 2);
  EXPECT_EQ(match.snapshot, second);
  EXPECT_EQ(h.cache.Find(Tokens({1, 2})).snapshot, first) << "one token is left to compute";
  EXPECT_EQ(h.cache.Find(Tokens({1, 4}, 1)).snapshot, first);
  EXPECT_EQ(h.cache.Find(Tokens({2, 1}, 1)).num_blocks, 0);
  EXPECT_EQ(h.cache.Find({}).num_blocks, 0);
  std::vector<int32_t> blocks;
  h.cache.AppendBlocks(match.node, blocks);
  EXPECT_EQ(blocks.size(), 2U);
  EXPECT_NE(blocks[0], blocks[1]);
}

TEST(PrefixCache, TheLeastRecentlyUsedLeafGoesFirstAndHeldPathsStay) {
  Harness h(/*num_blocks=*/4);
  const PrefixCache::Node a = h.Insert({1, 2});
  const PrefixCache::Node b = h.Insert({1, 3});
  h.cache.Release(a);
  h.cache.Release(b);
  h.cache.Release(h.Insert({1}));
  EXPECT_EQ(h.cache.num_available_blocks(), 4);
  h.cache.TakeBlock();  // the free one
  h.cache.TakeBlock();  // that of {1, 2}
  EXPECT_EQ(h.cache.num_nodes(), 2);
  h.cache.Hold(b);
  EXPECT_EQ(h.cache.num_available_blocks(), 0);
  h.cache.Release(b);
  EXPECT_EQ(h.cache.num_available_blocks(), 2);
  h.cache.Clear();
  EXPECT_EQ(h.cache.num_nodes(), 0);
  EXPECT_EQ(h.blocks.num_free(), 2);
}

TEST(PrefixCache, InnerSnapshotsGiveWayToTailsAndNotTheReverse) {
  Harness h(/*num_blocks=*/8, /*num_snapshots=*/2);
  const PrefixCache::Node one = h.Insert({1});
  const PrefixCache::Node two = h.Insert({1, 2});
  const PrefixCache::Node three = h.Insert({1, 2, 3});
  EXPECT_NE(h.cache.TakeSnapshot(one, Kind::kInner), 0);
  EXPECT_NE(h.cache.TakeSnapshot(two, Kind::kTail), 0);
  EXPECT_NE(h.cache.TakeSnapshot(three, Kind::kTail), 0);
  EXPECT_EQ(h.cache.Find(Tokens({1, 9}, 1)).num_blocks, 0) << "the inner one is gone";
  EXPECT_EQ(h.cache.TakeSnapshot(one, Kind::kInner), 0);
  EXPECT_NE(h.cache.TakeSnapshot(one, Kind::kTail), 0) << "the oldest tail goes";
  EXPECT_EQ(h.cache.Find(Tokens({1, 2, 9}, 1)).num_blocks, 1);
  EXPECT_EQ(h.cache.num_used_snapshots(), 2);
}

TEST(PrefixCache, ATailMayBecomeAnInnerOneOrGo) {
  Harness h(/*num_blocks=*/8, /*num_snapshots=*/2);
  const PrefixCache::Node one = h.Insert({1});
  const PrefixCache::Node two = h.Insert({1, 2});
  const PrefixCache::Node three = h.Insert({1, 2, 3});
  EXPECT_EQ(h.cache.ParentOf(three), two);
  EXPECT_EQ(h.cache.ParentOf(one), PrefixCache::kRoot);
  EXPECT_NE(h.cache.TakeSnapshot(one, Kind::kTail), 0);
  EXPECT_NE(h.cache.TakeSnapshot(two, Kind::kTail), 0);
  h.cache.MakeInner(two);
  h.cache.MakeInner(three);  // it has none
  EXPECT_NE(h.cache.TakeSnapshot(three, Kind::kTail), 0);
  EXPECT_EQ(h.cache.Find(Tokens({1, 2, 9}, 1)).num_blocks, 1) << "the inner one went first";
  h.cache.DropSnapshot(one);
  h.cache.DropSnapshot(one);
  EXPECT_EQ(h.cache.num_used_snapshots(), 1);
  EXPECT_EQ(h.cache.Find(Tokens({1, 2, 9}, 1)).num_blocks, 0);
  EXPECT_EQ(h.cache.Find(Tokens({1, 2, 3}, 1)).num_blocks, 3);
}

TEST(PrefixCache, WithoutSnapshotsNothingIsFound) {
  Harness h(4, 0);
  EXPECT_FALSE(h.cache.enabled());
  EXPECT_EQ(h.cache.TakeSnapshot(h.Insert({1}), Kind::kTail), 0);
  EXPECT_EQ(h.cache.Find(Tokens({1}, 1)).num_blocks, 0);
}

// Random prompts come and go; what is found has the tokens that were asked for, nothing is lost.
TEST(PrefixCache, RandomPromptsLoseNothing) {
  constexpr int64_t kBlocks = 12;
  Harness h(kBlocks, 3);
  Rng rng(7);
  std::map<int32_t, int32_t> value_of_block;      // what the block's owner wrote
  std::map<int32_t, std::vector<int32_t>> state;  // of each snapshot slot: the values before it
  std::vector<PrefixCache::Node> held;
  int64_t hits = 0;
  for (int step = 0; step < 4000; ++step) {
    if (held.size() > 2 || (!held.empty() && rng.NextBelow(3) == 0)) {
      const size_t i = rng.NextBelow(held.size());
      h.cache.Release(held[i]);
      held.erase(held.begin() + static_cast<std::ptrdiff_t>(i));
      continue;
    }
    std::vector<int32_t> values(1 + rng.NextBelow(4));
    for (int32_t& value : values) value = static_cast<int32_t>(rng.NextBelow(2));
    const PrefixCache::Match match = h.cache.Find(Tokens(values, rng.NextBelow(2)));
    std::vector<int32_t> blocks;
    h.cache.AppendBlocks(match.node, blocks);
    ASSERT_EQ(static_cast<int64_t>(blocks.size()), match.num_blocks);
    for (size_t i = 0; i < blocks.size(); ++i) ASSERT_EQ(value_of_block[blocks[i]], values[i]);
    if (match.snapshot != 0) {
      ++hits;
      ASSERT_EQ(state[match.snapshot],
                std::vector<int32_t>(values.begin(), values.begin() + match.num_blocks));
    }
    h.cache.Hold(match.node);
    PrefixCache::Node node = match.node;
    const auto missing = static_cast<int64_t>(values.size()) - match.num_blocks;
    for (auto i = static_cast<size_t>(match.num_blocks);
         i < values.size() && h.cache.num_available_blocks() >= missing; ++i) {
      const int32_t block = h.cache.TakeBlock();
      const PrefixCache::Added added = h.cache.Add(node, Tokens({values[i]}), block);
      if (added.took_block) {
        value_of_block[block] = values[i];
      } else {
        h.blocks.Give(block);
      }
      node = added.node;
      const int32_t slot =
          h.cache.TakeSnapshot(node, rng.NextBelow(2) == 0 ? Kind::kInner : Kind::kTail);
      if (slot != 0) state[slot].assign(values.begin(), values.begin() + static_cast<long>(i) + 1);
    }
    held.push_back(node);
    ASSERT_EQ(h.blocks.num_free() + h.cache.num_nodes(), kBlocks);
    ASSERT_LE(h.cache.num_used_snapshots(), 3);
  }
  EXPECT_GT(hits, 100);
  for (const PrefixCache::Node node : held) h.cache.Release(node);
  EXPECT_EQ(h.cache.num_available_blocks(), kBlocks);
  h.cache.Clear();
  EXPECT_EQ(h.blocks.num_free(), kBlocks);
  EXPECT_EQ(h.cache.num_used_snapshots(), 0);
}

}  // namespace
}  // namespace gdn
