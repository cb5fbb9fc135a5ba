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
#include "engine/sequence.h"
#include "engine/step_batch.h"
#include "model/model.h"

namespace gdn {

struct EngineConfig {
  int64_t context_tokens = 0;    // longest prompt and answer together; 0: DefaultContext()
  int64_t max_seqs = 1;          // requests that run at once
  int64_t prefill_tokens = 512;  // prompt tokens of a step, a multiple of kChunkSize
};

struct TokenEvent {
  RequestId request = 0;
  int32_t token = -1;  // -1: the request ended without one
  FinishReason finish = FinishReason::kNone;
  Status error;                            // why, with kError
  std::span<const TokenLogit> top_logits;  // as many as were asked for; until the sink returns
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

  // Queues a request. Errors: kInvalidArgument for an empty prompt, a token outside the vocabulary,
  // a prompt that leaves no room in the context, bad sampling parameters, or num_top_logits outside
  // 0..kMaxTopLogits.
  Result<RequestId> Submit(Request request);
  // Ends a request; its event comes with the next Step. Unknown ids are ignored.
  void Cancel(RequestId id);
  bool HasWork() const { return !waiting_.empty() || !running_.empty(); }

  // One step: decodes every running sequence and computes slices of prompts, first come first
  // served. sink is called for each new token and each end. Allocates nothing per token.
  Status Step(FunctionRef<void(const TokenEvent&)> sink);

  // What nobody holds; equal to the capacity when no request is left.
  int64_t num_free_slots() const { return slots_.num_free(); }
  int64_t num_free_blocks() const { return blocks_.num_free(); }

 private:
  Engine(std::unique_ptr<Model> model, const EngineConfig& config, const RunLimits& limits);

  void DropCancelled(FunctionRef<void(const TokenEvent&)> sink);
  void Admit();
  void Schedule();
  void Accept(Sequence& sequence, std::span<const float> logits,
              FunctionRef<void(const TokenEvent&)> sink);
  void Release(Sequence& sequence);

  std::unique_ptr<Model> model_;
  EngineConfig config_;
  RunLimits limits_;
  IdPool slots_;
  IdPool blocks_;
  StepBatch step_;
  std::deque<std::unique_ptr<Sequence>> waiting_;
  std::vector<std::unique_ptr<Sequence>> running_;
  std::vector<RequestId> cancelled_;
  RequestId next_id_ = 1;
};

}  // namespace gdn
