// SPDX-License-Identifier: Apache-2.0
// Ids of the pieces seen of late. Bounded (1 MiB), safe from many threads, and never more than a
// hint: a lookup may miss at any time, so the ids of a text do not depend on it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

namespace gdn {

class PieceCache {
 public:
  static constexpr size_t kMaxPieceBytes = 30;
  static constexpr size_t kMaxIds = 8;

  PieceCache();

  // Appends the ids of piece and returns true, or returns false.
  bool Lookup(std::string_view piece, size_t hash, std::vector<int32_t>& ids) const;
  // Too long a piece, or too many ids, is not kept.
  void Store(std::string_view piece, size_t hash, std::span<const int32_t> ids);

 private:
  struct Entry {
    uint8_t piece_bytes = 0;
    uint8_t num_ids = 0;
    std::array<char, kMaxPieceBytes> piece{};
    std::array<int32_t, kMaxIds> ids{};
  };
  struct Shard {
    std::mutex mutex;
    std::array<Entry, 256> entries;
  };

  static constexpr size_t kShards = 64;
  Shard& ShardOf(size_t hash) const { return (*shards_)[hash % kShards]; }
  static size_t EntryOf(size_t hash) { return (hash / kShards) % 256; }

  std::unique_ptr<std::array<Shard, kShards>> shards_;
};

}  // namespace gdn
