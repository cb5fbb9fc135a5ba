// SPDX-License-Identifier: Apache-2.0
// Who runs in a step, and with which slots and blocks.
#include <algorithm>
#include <tuple>
#include <utility>

#include "engine/engine.h"
#include "ops/attention/attention.h"
#include "ops/gated_delta_rule/gated_delta_rule.h"

namespace gdn {
namespace {

// First come first served among those of one priority.
bool Before(const Sequence& a, const Sequence& b) {
  return std::tuple(-int64_t{a.priority}, a.id) < std::tuple(-int64_t{b.priority}, b.id);
}

}  // namespace

void Engine::Enqueue(std::unique_ptr<Sequence> sequence) {
  const auto behind =
      std::ranges::find_if(waiting_, [&](const auto& other) { return Before(*sequence, *other); });
  waiting_.insert(behind, std::move(sequence));
}

// In their order, as long as there are slots and blocks. One that waits for another's prompt is
// passed, by those that leave it the slot and the blocks that it will want.
void Engine::Admit() {
  for (const auto& sequence : running_) sequence->awaited_tokens = 0;
  int64_t reserved_slots = 0;
  int64_t reserved_blocks = 0;
  for (auto it = waiting_.begin(); it != waiting_.end() && slots_.num_free() > reserved_slots;) {
    Sequence& s = **it;
    int64_t shared = 0;
    if (Sequence* const leader = FindLeader(s, &shared); leader != nullptr) {
      const int64_t awaited = leader->awaited_tokens;
      leader->awaited_tokens = awaited == 0 ? shared : std::min(awaited, shared);
      ++reserved_slots;
      reserved_blocks += BlocksFor(s.num_tokens() + 1);
      ++it;
      continue;
    }
    if (!(s.saved.empty() ? TryAdmit(s, reserved_blocks) : TryRestore(s, reserved_blocks))) break;
    running_.push_back(std::move(*it));
    it = waiting_.erase(it);
  }
}

// The running request whose prompt, when it has been computed so far, gives this one the longest
// prefix, and how long; null where the cache has as much already. Only one that came before is
// waited for: it goes on whatever happens, so that no one waits for ever.
Sequence* Engine::FindLeader(const Sequence& s, int64_t* shared_tokens) {
  if (!cache_.enabled() || !s.saved.empty()) return nullptr;
  Sequence* leader = nullptr;
  *shared_tokens = cache_.Find(s.prompt()).num_blocks * kKvBlockSize;
  // A token is left to compute.
  const std::span<const int32_t> prefix = s.prompt().first(s.prompt().size() - 1);
  for (const auto& other : running_) {
    if (!other->InPrefill() || !Before(*other, s)) continue;
    const auto differ = std::ranges::mismatch(prefix, other->prompt()).in1;
    const int64_t shared = (differ - prefix.begin()) / kKvBlockSize * kKvBlockSize;
    if (shared <= *shared_tokens || shared <= other->num_computed_tokens) continue;
    leader = other.get();
    *shared_tokens = shared;
  }
  return leader;
}

bool Engine::TryAdmit(Sequence& s, int64_t reserved_blocks) {
  const PrefixCache::Match match = cache_.Find(s.prompt());
  cache_.Hold(match.node);
  // Room for the tokens that are known and the next.
  const int64_t wanted = BlocksFor(s.num_tokens() + 1);
  if (cache_.num_available_blocks() - reserved_blocks < wanted - match.num_blocks) {
    cache_.Release(match.node);
    return false;
  }
  if (!s.sampler.has_value()) {
    s.sampler.emplace(s.sampling, SamplerContext{s.prompt(), s.stop_token_ids, s.min_new_tokens},
                      model_->config().vocab_size);
  }
  s.node = match.node;
  s.num_node_blocks = match.num_blocks;
  s.num_computed_tokens = match.num_blocks * kKvBlockSize;
  if (s.num_tokens() == s.num_prompt_tokens) s.num_cached_tokens = s.num_computed_tokens;
  cache_.AppendBlocks(match.node, s.kv_blocks);
  while (static_cast<int64_t>(s.kv_blocks.size()) < wanted) {
    s.kv_blocks.push_back(cache_.TakeBlock());
    s.own_blocks.push_back(s.kv_blocks.back());
  }
  s.state_slot = slots_.Take();
  if (match.snapshot != 0) model_->CopyState(match.snapshot, s.state_slot);
  return true;
}

bool Engine::TryRestore(Sequence& s, int64_t reserved_blocks) {
  const int64_t wanted = BlocksFor(s.num_tokens() + 1);
  if (cache_.num_available_blocks() - reserved_blocks < wanted) return false;
  while (static_cast<int64_t>(s.kv_blocks.size()) < wanted) {
    s.kv_blocks.push_back(cache_.TakeBlock());
  }
  s.own_blocks = s.kv_blocks;
  s.state_slot = slots_.Take();
  const auto computed = static_cast<size_t>(BlocksFor(s.num_computed_tokens));
  model_->Restore(s.state_slot, std::span(s.kv_blocks).first(computed), s.saved);
  swapped_bytes_ -= s.saved.size();
  s.saved = {};
  return true;
}

// Takes the sequence's memory; it waits for its turn to go on.
void Engine::Preempt(Sequence& s) {
  ++num_preemptions_;
  const auto computed = static_cast<size_t>(BlocksFor(s.num_computed_tokens));
  const std::span<const int32_t> blocks = std::span(s.kv_blocks).first(computed);
  const size_t bytes = model_->SavedBytes(blocks.size());
  if (swapped_bytes_ + bytes <= config_.swap_bytes) {
    ++num_swaps_;
    s.saved.resize(bytes);
    model_->Save(s.state_slot, blocks, s.saved);
    swapped_bytes_ += bytes;
    s.num_node_blocks = 0;
  } else {
    s.num_computed_tokens = 0;
  }
  Release(s);
}

// A block for each running sequence whose next token begins one. Where none is left, those that
// came last give theirs up: who came first always goes on, since one sequence alone fits.
void Engine::GrowRunning() {
  std::vector<Sequence*> order;
  for (const auto& sequence : running_) order.push_back(sequence.get());
  std::ranges::sort(order, [](const Sequence* a, const Sequence* b) { return Before(*a, *b); });
  for (size_t i = 0; i < order.size(); ++i) {
    Sequence& s = *order[i];
    if (s.InPrefill() ||
        BlocksFor(s.num_computed_tokens + 1) <= static_cast<int64_t>(s.kv_blocks.size())) {
      continue;
    }
    while (cache_.num_available_blocks() == 0) {
      Preempt(*order.back());
      order.pop_back();
      if (i == order.size()) break;
    }
    if (i == order.size()) break;
    s.kv_blocks.push_back(cache_.TakeBlock());
    s.own_blocks.push_back(s.kv_blocks.back());
  }
  for (auto& sequence : running_) {
    if (sequence->state_slot == 0) Enqueue(std::move(sequence));
  }
  std::erase(running_, nullptr);
}

// A slice that does not end its prompt ends at a chunk's end, so that slicing changes no bit; and
// where a snapshot is to be taken.
int64_t Engine::SliceTokens(const Sequence& s, int64_t budget) const {
  const int64_t left = s.num_prompt_tokens - s.num_computed_tokens;
  const int64_t slice = left <= budget ? left : budget / kChunkSize * kChunkSize;
  return cache_.enabled() ? std::min(slice, NextSnapshot(s) - s.num_computed_tokens) : slice;
}

// The first token after what is computed where the state is kept, or the prompt's end.
int64_t Engine::NextSnapshot(const Sequence& s) const {
  const int64_t interval = config_.snapshot_interval;
  const int64_t last = s.num_prompt_tokens / kKvBlockSize * kKvBlockSize;
  int64_t next = std::min(s.num_prompt_tokens, (s.num_computed_tokens / interval + 1) * interval);
  for (const int64_t end : {last, last - kKvBlockSize, s.awaited_tokens}) {
    if (end > s.num_computed_tokens) next = std::min(next, end);
  }
  return next;
}

void Engine::Schedule() {
  GrowRunning();
  step_.Clear();
  for (const auto& sequence : running_) {
    if (sequence->InPrefill()) continue;
    sequence->num_scheduled_tokens = 1;
    step_.Add(*sequence);
  }
  int64_t budget = limits_.max_tokens - config_.max_seqs;
  for (const auto& sequence : running_) {
    if (!sequence->InPrefill()) continue;
    const int64_t slice = SliceTokens(*sequence, budget);
    if (slice == 0) continue;
    budget -= slice;
    sequence->num_scheduled_tokens = slice;
    step_.Add(*sequence);
  }
}

// After a slice of a prompt: its whole blocks become nodes of the cache, and its state a snapshot
// at the prompt's last two blocks, at multiples of the interval, and where others wait for it. With
// reuse_decoded also after a generated token, whose last two multiples of a block are tails.
void Engine::Remember(Sequence& s) {
  if (!cache_.enabled()) return;
  constexpr auto kBlock = static_cast<size_t>(kKvBlockSize);
  const std::span<const int32_t> tokens = s.tokens;
  while ((s.num_node_blocks + 1) * kKvBlockSize <= s.num_computed_tokens) {
    const auto index = static_cast<size_t>(s.num_node_blocks);
    const int32_t block = s.kv_blocks[index];
    const PrefixCache::Added added =
        cache_.Add(s.node, tokens.subspan(index * kBlock, kBlock), block);
    if (added.took_block) std::erase(s.own_blocks, block);
    s.node = added.node;
    ++s.num_node_blocks;
  }
  if (s.num_computed_tokens % kKvBlockSize != 0) return;
  ForgetDecoded(s);
  // What others wait for is used at once: it takes the room of a tail that may never be.
  const bool tail = s.num_node_blocks >= s.num_prompt_tokens / kKvBlockSize - 1 ||
                    s.num_computed_tokens == s.awaited_tokens;
  if (!tail && s.num_computed_tokens % config_.snapshot_interval != 0) return;
  const int32_t slot = cache_.TakeSnapshot(
      s.node, tail ? PrefixCache::SnapshotKind::kTail : PrefixCache::SnapshotKind::kInner);
  if (slot != 0) model_->CopyState(s.state_slot, slot);
}

// The decoded state that the one reached replaces as one of the last two.
void Engine::ForgetDecoded(const Sequence& s) {
  const int64_t position = s.num_computed_tokens - 2 * kKvBlockSize;
  if (position <= s.num_prompt_tokens) return;
  const PrefixCache::Node node = cache_.ParentOf(cache_.ParentOf(s.node));
  if (position % config_.snapshot_interval == 0) {
    cache_.MakeInner(node);
  } else {
    cache_.DropSnapshot(node);
  }
}

void Engine::Release(Sequence& sequence) {
  slots_.Give(sequence.state_slot);
  sequence.state_slot = 0;
  for (const int32_t block : sequence.own_blocks) blocks_.Give(block);
  sequence.own_blocks.clear();
  sequence.kv_blocks.clear();
  cache_.Release(sequence.node);
  sequence.node = PrefixCache::kRoot;
}

}  // namespace gdn
