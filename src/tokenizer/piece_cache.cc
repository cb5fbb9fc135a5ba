// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/piece_cache.h"

#include <algorithm>

namespace gdn {

PieceCache::PieceCache() : shards_(std::make_unique<std::array<Shard, kShards>>()) {}

bool PieceCache::Lookup(std::string_view piece, size_t hash, std::vector<int32_t>& ids) const {
  if (piece.size() > kMaxPieceBytes) return false;
  Shard& shard = ShardOf(hash);
  // Encoding a piece is cheaper than waiting for another thread.
  const std::unique_lock lock(shard.mutex, std::try_to_lock);
  if (!lock.owns_lock()) return false;
  const Entry& entry = shard.entries[EntryOf(hash)];
  if (entry.num_ids == 0 || std::string_view(entry.piece.data(), entry.piece_bytes) != piece) {
    return false;
  }
  ids.insert(ids.end(), entry.ids.begin(), entry.ids.begin() + entry.num_ids);
  return true;
}

void PieceCache::Store(std::string_view piece, size_t hash, std::span<const int32_t> ids) {
  if (piece.size() > kMaxPieceBytes || ids.empty() || ids.size() > kMaxIds) return;
  Shard& shard = ShardOf(hash);
  const std::unique_lock lock(shard.mutex, std::try_to_lock);
  if (!lock.owns_lock()) return;
  Entry& entry = shard.entries[EntryOf(hash)];
  entry.piece_bytes = static_cast<uint8_t>(piece.size());
  entry.num_ids = static_cast<uint8_t>(ids.size());
  std::copy(piece.begin(), piece.end(), entry.piece.begin());
  std::copy(ids.begin(), ids.end(), entry.ids.begin());
}

}  // namespace gdn
