// SPDX-License-Identifier: Apache-2.0
// Byte-pair encoding of one piece of text: bytes, then the applicable merge of the lowest rank,
// leftmost first, until none applies. O(n log n) for a piece of n bytes.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "tokenizer/pair_map.h"
#include "tokenizer/piece_cache.h"
#include "tokenizer/vocabulary.h"

namespace gdn {

class Bpe {
 public:
  // Working memory of one thread, reused from piece to piece.
  struct Scratch {
    struct Symbol {
      uint32_t id;
      uint32_t rank;  // of the merge with the next symbol; stale queue entries differ from it
      int32_t previous;
      int32_t next;
    };
    std::vector<Symbol> symbols;
    std::vector<uint64_t> queue;
  };

  // vocabulary must outlive the result and stay in place. Errors name the merge whose token is
  // missing.
  static Result<Bpe> Create(const Vocabulary& vocabulary,
                            const std::vector<std::pair<std::string, std::string>>& merges,
                            bool ignore_merges);

  // Appends the ids of piece, which is shorter than 2^31 bytes. Safe from many threads. Error: a
  // byte that has no token.
  Status Encode(std::string_view piece, Scratch& scratch, std::vector<int32_t>& ids) const;

 private:
  Status EncodeUncached(std::string_view piece, Scratch& scratch, std::vector<int32_t>& ids) const;
  void MergeAll(Scratch& scratch) const;
  // The rank of the merge of the symbol with its next; also sets it in the symbol.
  uint32_t UpdateRank(Scratch& scratch, int32_t at) const;

  const Vocabulary* vocabulary_ = nullptr;
  bool ignore_merges_ = false;
  std::array<int32_t, 256> byte_ids_{};  // -1: no token
  PairMap ranks_;                        // (left id, right id) -> rank
  std::vector<uint32_t> results_;        // id by rank
  mutable PieceCache cache_;
};

}  // namespace gdn
