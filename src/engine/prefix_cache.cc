// SPDX-License-Identifier: Apache-2.0
#include "engine/prefix_cache.h"

#include <algorithm>

#include "base/check.h"

namespace gdn {

PrefixCache::PrefixCache(IdPool& blocks, int32_t first_slot, int64_t num_snapshots)
    : blocks_(blocks), num_snapshots_(num_snapshots), entries_(1) {
  for (int64_t i = num_snapshots; i-- > 0;) {
    free_slots_.push_back(first_slot + static_cast<int32_t>(i));
  }
}

// FNV-1a over the tokens' bytes.
uint64_t PrefixCache::HashOf(Node parent, std::span<const int32_t> tokens) {
  uint64_t hash = 0xCBF29CE484222325 ^ static_cast<uint64_t>(parent);
  for (const int32_t token : tokens) {
    hash = (hash ^ static_cast<uint32_t>(token)) * 0x100000001B3;
  }
  return hash;
}

PrefixCache::Node PrefixCache::Child(Node parent, std::span<const int32_t> tokens) const {
  const auto [first, last] = children_.equal_range(HashOf(parent, tokens));
  for (auto it = first; it != last; ++it) {
    const Entry& entry = At(it->second);
    if (entry.parent == parent && std::ranges::equal(entry.tokens, tokens)) return it->second;
  }
  return kRoot;
}

PrefixCache::Match PrefixCache::Find(std::span<const int32_t> tokens) {
  Match match;
  if (!enabled() || tokens.empty()) return match;
  constexpr auto kBlock = static_cast<size_t>(kKvBlockSize);
  Node node = kRoot;
  for (size_t block = 0; block < (tokens.size() - 1) / kBlock; ++block) {
    node = Child(node, tokens.subspan(block * kBlock, kBlock));
    if (node == kRoot) break;
    if (At(node).snapshot == 0) continue;
    match = {node, static_cast<int64_t>(block) + 1, At(node).snapshot};
  }
  if (match.node != kRoot) TouchSnapshot(match.node);
  return match;
}

void PrefixCache::Hold(Node node) {
  for (; node != kRoot; node = At(node).parent) {
    Entry& entry = At(node);
    if (entry.num_holders++ > 0) continue;
    --num_unheld_;
    leaves_.erase({entry.used, node});
  }
}

void PrefixCache::Release(Node node) {
  ++now_;
  for (; node != kRoot; node = At(node).parent) {
    Entry& entry = At(node);
    GDN_CHECK(entry.num_holders > 0);
    entry.used = now_;
    if (--entry.num_holders > 0) continue;
    ++num_unheld_;
    if (entry.num_children == 0) leaves_.insert({entry.used, node});
  }
}

void PrefixCache::AppendBlocks(Node node, std::vector<int32_t>& out) const {
  const auto first = static_cast<std::ptrdiff_t>(out.size());
  for (; node != kRoot; node = At(node).parent) out.push_back(At(node).kv_block);
  std::reverse(out.begin() + first, out.end());
}

PrefixCache::Added PrefixCache::Add(Node parent, std::span<const int32_t> tokens,
                                    int32_t kv_block) {
  GDN_CHECK(tokens.size() == static_cast<size_t>(kKvBlockSize));
  GDN_CHECK(parent == kRoot || At(parent).num_holders > 0);
  if (const Node child = Child(parent, tokens); child != kRoot) {
    Entry& entry = At(child);
    if (entry.num_holders++ == 0) {
      --num_unheld_;
      leaves_.erase({entry.used, child});
    }
    return {child, false};
  }
  if (free_entries_.empty()) {
    free_entries_.push_back(static_cast<Node>(entries_.size()));
    entries_.emplace_back();
  }
  const Node node = free_entries_.back();
  free_entries_.pop_back();
  Entry& entry = At(node);
  entry = Entry{.parent = parent, .kv_block = kv_block, .num_holders = 1};
  std::ranges::copy(tokens, entry.tokens.begin());
  children_.insert({HashOf(parent, tokens), node});
  if (parent != kRoot) ++At(parent).num_children;
  ++num_nodes_;
  return {node, true};
}

void PrefixCache::TouchSnapshot(Node node) {
  Entry& entry = At(node);
  Snapshots(entry.kind).erase({entry.snapshot_used, node});
  entry.snapshot_used = ++now_;
  Snapshots(entry.kind).insert({entry.snapshot_used, node});
}

void PrefixCache::DropSnapshot(Node node) {
  Entry& entry = At(node);
  if (entry.snapshot == 0) return;
  Snapshots(entry.kind).erase({entry.snapshot_used, node});
  free_slots_.push_back(entry.snapshot);
  entry.snapshot = 0;
}

void PrefixCache::MakeInner(Node node) {
  Entry& entry = At(node);
  if (entry.snapshot == 0) return;
  Snapshots(entry.kind).erase({entry.snapshot_used, node});
  entry.kind = SnapshotKind::kInner;
  Snapshots(entry.kind).insert({entry.snapshot_used, node});
}

int32_t PrefixCache::TakeSnapshot(Node node, SnapshotKind kind) {
  if (node == kRoot) return 0;
  Entry& entry = At(node);
  if (entry.snapshot != 0) {
    Snapshots(entry.kind).erase({entry.snapshot_used, node});
    entry.kind = std::max(entry.kind, kind);
    TouchSnapshot(node);
    return 0;
  }
  if (free_slots_.empty()) {
    const Order& inner = Snapshots(SnapshotKind::kInner);
    const Order& tails = Snapshots(SnapshotKind::kTail);
    if (!inner.empty()) {
      DropSnapshot(inner.begin()->second);
    } else if (kind == SnapshotKind::kTail && !tails.empty()) {
      DropSnapshot(tails.begin()->second);
    } else {
      return 0;
    }
  }
  entry.snapshot = free_slots_.back();
  free_slots_.pop_back();
  entry.kind = kind;
  TouchSnapshot(node);
  return entry.snapshot;
}

void PrefixCache::GiveUp(Node node) {
  Entry& entry = At(node);
  GDN_CHECK(entry.num_holders == 0 && entry.num_children == 0);
  leaves_.erase({entry.used, node});
  DropSnapshot(node);
  blocks_.Give(entry.kv_block);
  const auto [first, last] = children_.equal_range(HashOf(entry.parent, entry.tokens));
  children_.erase(std::find_if(first, last, [node](const auto& it) { return it.second == node; }));
  if (entry.parent != kRoot) {
    Entry& parent = At(entry.parent);
    if (--parent.num_children == 0 && parent.num_holders == 0) {
      leaves_.insert({parent.used, entry.parent});
    }
  }
  free_entries_.push_back(node);
  --num_nodes_;
  --num_unheld_;
}

int32_t PrefixCache::TakeBlock() {
  if (blocks_.num_free() == 0) {
    GDN_CHECK(!leaves_.empty());
    GiveUp(leaves_.begin()->second);
  }
  return blocks_.Take();
}

void PrefixCache::Clear() {
  while (!leaves_.empty()) GiveUp(leaves_.begin()->second);
}

}  // namespace gdn
