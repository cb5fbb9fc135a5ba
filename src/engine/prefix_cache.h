// SPDX-License-Identifier: Apache-2.0
// The prompts whose keys, values and states the pools still hold: a tree whose nodes are blocks of
// kKvBlockSize prompt tokens. A node owns the KV block of its tokens and may have a snapshot, the
// states of the recurrent layers after them. A prompt that begins like an earlier one starts from
// the deepest snapshot on their common path.
//
// What a node holds depends on the tokens up to it alone, as prefill's bits do (ARCHITECTURE.md),
// so that a hit changes no bit (with EngineConfig::reuse_decoded also on which of them were
// decoded). Tokens are compared, not only their hashes.
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/id_pool.h"
#include "ops/attention/attention.h"

namespace gdn {

class PrefixCache {
 public:
  using Node = int32_t;
  static constexpr Node kRoot = 0;  // no tokens

  // blocks: of the KV cache. Snapshots lie in rows [first_slot, first_slot + num_snapshots) of the
  // state pools; with none, nothing is ever found.
  PrefixCache(IdPool& blocks, int32_t first_slot, int64_t num_snapshots);

  bool enabled() const { return num_snapshots_ > 0; }

  struct Match {
    Node node = kRoot;
    int64_t num_blocks = 0;
    int32_t snapshot = 0;  // its slot; 0 with the root
  };
  // The longest prefix that ends in a snapshot and leaves at least one of tokens.
  Match Find(std::span<const int32_t> tokens);

  // The path to node stays until it is released as often as it was held.
  void Hold(Node node);
  void Release(Node node);
  // KV blocks of the path to node, in the order of positions.
  void AppendBlocks(Node node, std::vector<int32_t>& out) const;

  struct Added {
    Node node;        // held, as parent is, by the caller
    bool took_block;  // the node is new and owns kv_block now
  };
  // The child of parent with these kKvBlockSize tokens, whose keys and values are in kv_block.
  Added Add(Node parent, std::span<const int32_t> tokens, int32_t kv_block);

  // Snapshots at the last two blocks of a prompt are what its next turn starts from: others give
  // way to them, and never the reverse.
  enum class SnapshotKind : uint8_t { kInner, kTail };
  // The slot that the states after node's tokens are to be copied to, now; 0 where node has them
  // already or there is no room.
  int32_t TakeSnapshot(Node node, SnapshotKind kind);

  // Those of a node that no longer ends anything, and may have none: one stays as an inner one, or
  // goes.
  void MakeInner(Node node);
  void DropSnapshot(Node node);
  Node ParentOf(Node node) const { return At(node).parent; }  // the root's is the root

  // Blocks that nobody holds: free ones, and those of nodes that can be given up.
  int64_t num_available_blocks() const { return blocks_.num_free() + num_unheld_; }
  // One of them; the least recently used node goes first. There must be one.
  int32_t TakeBlock();

  int64_t num_nodes() const { return num_nodes_; }
  int64_t num_used_snapshots() const {
    return num_snapshots_ - static_cast<int64_t>(free_slots_.size());
  }
  // Gives up every node that nobody holds.
  void Clear();

 private:
  struct Entry {
    Node parent = kRoot;
    std::array<int32_t, kKvBlockSize> tokens{};
    int32_t kv_block = 0;
    int32_t snapshot = 0;
    SnapshotKind kind = SnapshotKind::kInner;
    uint64_t snapshot_used = 0;
    uint64_t used = 0;
    int32_t num_holders = 0;
    int32_t num_children = 0;
  };
  using Order = std::set<std::pair<uint64_t, Node>>;  // by last use

  static uint64_t HashOf(Node parent, std::span<const int32_t> tokens);
  Node Child(Node parent, std::span<const int32_t> tokens) const;
  Entry& At(Node node) { return entries_[static_cast<size_t>(node)]; }
  const Entry& At(Node node) const { return entries_[static_cast<size_t>(node)]; }
  Order& Snapshots(SnapshotKind kind) { return snapshots_[static_cast<size_t>(kind)]; }
  void TouchSnapshot(Node node);
  void GiveUp(Node node);

  IdPool& blocks_;
  int64_t num_snapshots_;
  std::vector<int32_t> free_slots_;
  std::vector<Entry> entries_;  // the root first
  std::vector<Node> free_entries_;
  std::unordered_multimap<uint64_t, Node> children_;
  Order leaves_;  // that nobody holds
  std::array<Order, 2> snapshots_;
  uint64_t now_ = 0;
  int64_t num_nodes_ = 0;   // without the root
  int64_t num_unheld_ = 0;  // of them
};

}  // namespace gdn
