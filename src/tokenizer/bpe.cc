// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/bpe.h"

#include <algorithm>
#include <functional>

#include "base/str.h"
#include "tokenizer/byte_level.h"
#include "tokenizer/utf8.h"

namespace gdn {
namespace {

constexpr uint32_t kNoMerge = PairMap::kMissing;

// Orders the queue by rank, then from left to right.
uint64_t QueueEntry(uint32_t rank, int32_t at) {
  return (static_cast<uint64_t>(rank) << 32) | static_cast<uint32_t>(at);
}

Status MissingToken(size_t merge, std::string_view name) {
  return InvalidArgument(
      StrCat("model.merges[", merge, "] needs the token ", Quoted(name), ", which is not there"));
}

}  // namespace

Result<Bpe> Bpe::Create(const Vocabulary& vocabulary,
                        const std::vector<std::pair<std::string, std::string>>& merges,
                        bool ignore_merges) {
  Bpe bpe;
  bpe.vocabulary_ = &vocabulary;
  bpe.ignore_merges_ = ignore_merges;
  for (int byte = 0; byte < 256; ++byte) {
    std::string name;
    AppendUtf8(CharOfByte(static_cast<uint8_t>(byte)), name);
    bpe.byte_ids_[static_cast<size_t>(byte)] = vocabulary.FindModelToken(name).value_or(-1);
  }
  bpe.ranks_ = PairMap(merges.size());
  bpe.results_.reserve(merges.size());
  for (size_t i = 0; i < merges.size(); ++i) {
    const auto& [left, right] = merges[i];
    const auto left_id = vocabulary.FindModelToken(left);
    if (!left_id) return MissingToken(i, left);
    const auto right_id = vocabulary.FindModelToken(right);
    if (!right_id) return MissingToken(i, right);
    const std::string joined = left + right;
    const auto result = vocabulary.FindModelToken(joined);
    if (!result) return MissingToken(i, joined);
    bpe.ranks_.Insert(
        PairMap::Key(static_cast<uint32_t>(*left_id), static_cast<uint32_t>(*right_id)),
        static_cast<uint32_t>(i));
    bpe.results_.push_back(static_cast<uint32_t>(*result));
  }
  return bpe;
}

Status Bpe::Encode(std::string_view piece, Scratch& scratch, std::vector<int32_t>& ids) const {
  if (piece.size() > PieceCache::kMaxPieceBytes) return EncodeUncached(piece, scratch, ids);
  const size_t hash = std::hash<std::string_view>()(piece);
  if (cache_.Lookup(piece, hash, ids)) return OkStatus();
  const size_t start = ids.size();
  GDN_RETURN_IF_ERROR(EncodeUncached(piece, scratch, ids));
  cache_.Store(piece, hash, std::span(ids).subspan(start));
  return OkStatus();
}

uint32_t Bpe::UpdateRank(Scratch& scratch, int32_t at) const {
  auto& symbol = scratch.symbols[static_cast<size_t>(at)];
  symbol.rank = kNoMerge;
  if (symbol.next >= 0) {
    const uint32_t next_id = scratch.symbols[static_cast<size_t>(symbol.next)].id;
    symbol.rank = ranks_.Find(PairMap::Key(symbol.id, next_id));
  }
  return symbol.rank;
}

void Bpe::MergeAll(Scratch& scratch) const {
  auto& symbols = scratch.symbols;
  auto& queue = scratch.queue;
  const std::greater<> lowest_first;
  const auto push = [&](int32_t at) {
    const uint32_t rank = UpdateRank(scratch, at);
    if (rank == kNoMerge) return;
    queue.push_back(QueueEntry(rank, at));
    std::push_heap(queue.begin(), queue.end(), lowest_first);
  };
  queue.clear();
  for (size_t i = 0; i < symbols.size(); ++i) {
    const auto at = static_cast<int32_t>(i);
    const uint32_t rank = UpdateRank(scratch, at);
    if (rank != kNoMerge) queue.push_back(QueueEntry(rank, at));
  }
  std::make_heap(queue.begin(), queue.end(), lowest_first);
  while (!queue.empty()) {
    std::pop_heap(queue.begin(), queue.end(), lowest_first);
    const auto rank = static_cast<uint32_t>(queue.back() >> 32);
    const auto at = static_cast<int32_t>(queue.back() & UINT32_MAX);
    queue.pop_back();
    auto& left = symbols[static_cast<size_t>(at)];
    if (left.rank != rank) continue;
    auto& right = symbols[static_cast<size_t>(left.next)];
    left.id = results_[rank];
    left.next = right.next;
    right.rank = kNoMerge;
    if (left.next >= 0) symbols[static_cast<size_t>(left.next)].previous = at;
    push(at);
    if (left.previous >= 0) push(left.previous);
  }
}

Status Bpe::EncodeUncached(std::string_view piece, Scratch& scratch,
                           std::vector<int32_t>& ids) const {
  if (ignore_merges_) {
    if (const auto whole = vocabulary_->FindModelToken(ToByteLevel(piece))) {
      ids.push_back(*whole);
      return OkStatus();
    }
  }
  auto& symbols = scratch.symbols;
  symbols.clear();
  const auto count = static_cast<int32_t>(piece.size());
  for (int32_t i = 0; i < count; ++i) {
    const auto byte = static_cast<uint8_t>(piece[static_cast<size_t>(i)]);
    const int32_t id = byte_ids_[byte];
    if (id < 0) {
      return InvalidArgument(
          StrCat("the text has the byte ", int{byte}, ", which no token stands for"));
    }
    symbols.push_back({static_cast<uint32_t>(id), kNoMerge, i - 1, i + 1 < count ? i + 1 : -1});
  }
  MergeAll(scratch);
  for (int32_t at = 0; at >= 0 && at < count; at = symbols[static_cast<size_t>(at)].next) {
    ids.push_back(static_cast<int32_t>(symbols[static_cast<size_t>(at)].id));
  }
  return OkStatus();
}

}  // namespace gdn
