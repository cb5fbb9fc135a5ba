// SPDX-License-Identifier: Apache-2.0
// Runs requests through a model, step by step: token ids in, token ids out. Each answer is what it
// would be if its request were alone. Not thread safe: one thread drives it.
#pragma once

#include <deque>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/function_ref.h"
#include "base/status.h"
#include "engine/id_pool.h"
#include "engine/prefix_cache.h"
#include "engine/sequence.h"
#include "engine/step_batch.h"
#include "model/model.h"

namespace gdn {

inline constexpr int64_t kMaxSeqs = 1024;

struct EngineConfig {
  int64_t context_tokens = 0;    // longest prompt and answer together; 0: DefaultContext()
  int64_t max_seqs = 1;          // requests that run at once, at most kMaxSeqs
  int64_t prefill_tokens = 512;  // prompt tokens of a step, a multiple of kChunkSize
  // States of earlier prompts to keep, each as large as a running request's: what a prompt that
  // begins like one of them starts from. 0: none, and no prefix is reused.
  int64_t num_snapshots = 0;
  // Between a prompt's beginning and its end, states are kept at multiples of so many tokens,
  // itself a multiple of kKvBlockSize: what a prompt that leaves an earlier one there has to
  // compute again.
  int64_t snapshot_interval = 512;
  // The next turn of a conversation starts from the states, keys and values that decode left
  // behind, instead of computing the answer again as a prompt. Its logits are then near those of
  // the prompt alone, not equal (docs/numerics.md): they depend on what was decoded before.
  bool reuse_decoded = false;
  // Tokens whose keys and values there is room for, of running requests and earlier prompts
  // together, at least context_tokens; 0: max_seqs * context_tokens. With less, a request may have
  // to give up its memory for one that came before it, and go on later.
  int64_t kv_tokens = 0;
  // Memory for the states, keys and values of such requests. Those that do not fit are computed
  // again: the prompt by prefill, the answer by decode, which changes no bit.
  size_t swap_bytes = 0;
};

constexpr int64_t BlocksFor(int64_t tokens) { return (tokens + kKvBlockSize - 1) / kKvBlockSize; }

struct TokenEvent {
  RequestId request = 0;
  int32_t token = -1;  // -1: the request ended without one
  FinishReason finish = FinishReason::kNone;
  Status error;                            // why, with kError
  std::span<const TokenLogit> top_logits;  // as many as were asked for; until the sink returns
  // Where the request asked for log_probs: the token's logit is logit, and log_sum_exp the log of
  // the sum over the vocabulary, both before the sampler changes anything.
  float logit = 0;
  double log_sum_exp = 0;
  int64_t num_cached_tokens = 0;  // of the prompt: not computed for this request
};

const char* Name(FinishReason reason);

class Engine {
 public:
  // The context that 0 stands for: the model's own, but no more than 4096 tokens.
  static int64_t DefaultContext(const ModelConfig& config);
  // Checks the config against the model's. Errors: kInvalidArgument.
  static Result<RunLimits> Limits(const ModelConfig& model, const EngineConfig& config);
  // Plans the model's memory.
  static Result<std::unique_ptr<Engine>> Create(std::unique_ptr<Model> model,
                                                const EngineConfig& config);

  const Model& model() const { return *model_; }
  const RunLimits& limits() const { return limits_; }

  // Errors: kInvalidArgument for an empty prompt, a token outside the vocabulary, a prompt that
  // leaves no room in the context, bad sampling parameters, min_new_tokens below 0, or
  // num_top_logits outside 0..kMaxTopLogits. Safe from any thread at any time.
  Status Validate(const Request& request) const;
  // Queues a request. Errors: those of Validate.
  Result<RequestId> Submit(Request request);
  // Ends a request; its event comes with the next Step. Unknown ids are ignored.
  void Cancel(RequestId id);
  bool HasWork() const { return !waiting_.empty() || !running_.empty(); }

  // One step: decodes every running sequence and computes slices of prompts, first come first
  // served. sink is called for each new token and each end. Allocates nothing per token.
  // on_scheduled is called when it is settled who runs, before the model does.
  Status Step(FunctionRef<void(const TokenEvent&)> sink, FunctionRef<void()> on_scheduled);
  Status Step(FunctionRef<void(const TokenEvent&)> sink) {
    return Step(sink, [] {});
  }

  int64_t num_running() const { return static_cast<int64_t>(running_.size()); }
  int64_t num_waiting() const { return static_cast<int64_t>(waiting_.size()); }
  // What no request holds; equal to the capacity when none is left.
  int64_t num_free_slots() const { return slots_.num_free(); }
  int64_t num_free_blocks() const { return cache_.num_available_blocks(); }
  const PrefixCache& prefix_cache() const { return cache_; }
  // How often a running request had to give up its memory, and how often of that by copying it.
  int64_t num_preemptions() const { return num_preemptions_; }
  int64_t num_swaps() const { return num_swaps_; }
  size_t swapped_bytes() const { return swapped_bytes_; }  // of requests that wait to go on
  // Forgets every prompt that no running request stands on.
  void ClearPrefixCache() { cache_.Clear(); }

 private:
  Engine(std::unique_ptr<Model> model, const EngineConfig& config, const RunLimits& limits);

  void DropCancelled(FunctionRef<void(const TokenEvent&)> sink);
  // logits: empty where the sequence wants the largest alone and the model has found it.
  void Accept(Sequence& sequence, std::span<const float> logits, int32_t largest,
              FunctionRef<void(const TokenEvent&)> sink);

  // engine_schedule.cc: who runs, and with which memory.
  void Enqueue(std::unique_ptr<Sequence> sequence);
  void Admit();
  Sequence* FindLeader(const Sequence& sequence, int64_t* shared_tokens);
  // false where its blocks are not there yet, or would be taken from reserved_blocks.
  bool TryAdmit(Sequence& sequence, int64_t reserved_blocks);
  bool TryRestore(Sequence& sequence, int64_t reserved_blocks);
  void GrowRunning();
  void Preempt(Sequence& sequence);
  void Schedule();
  int64_t SliceTokens(const Sequence& sequence, int64_t budget) const;
  int64_t NextSnapshot(const Sequence& sequence) const;
  void Remember(Sequence& sequence);
  void ForgetDecoded(const Sequence& sequence);
  void Release(Sequence& sequence);

  std::unique_ptr<Model> model_;
  EngineConfig config_;
  RunLimits limits_;
  IdPool slots_;
  IdPool blocks_;
  PrefixCache cache_;
  StepBatch step_;
  std::deque<std::unique_ptr<Sequence>> waiting_;
  std::vector<std::unique_ptr<Sequence>> running_;
  std::vector<RequestId> cancelled_;
  RequestId next_id_ = 1;
  size_t swapped_bytes_ = 0;
  int64_t num_preemptions_ = 0;
  int64_t num_swaps_ = 0;
};

}  // namespace gdn
