// SPDX-License-Identifier: Apache-2.0
// Text over the engine: prompts and conversations in, text out as it comes. A thread of its own
// drives the engine; requests may be submitted from any thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "base/thread_pool.h"
#include "engine/engine.h"
#include "session/chat_format.h"
#include "session/engine_loop.h"
#include "session/generation.h"
#include "session/sampling_defaults.h"
#include "session/stream.h"
#include "tokenizer/tokenizer.h"

namespace gdn {

struct SessionOptions {
  std::string model_dir;
  int num_threads = 1;
  ModelOptions model;
  EngineConfig engine;  // kv_tokens 0 and kAutoSnapshots are planned (memory_plan.h)
  // For the weights and all else together, as ParseMemoryLimit takes it; "": what is available.
  std::string memory;
};

// Token ids for the model, and how the reply to them starts.
struct Prompt {
  std::vector<int32_t> tokens;
  ReasoningStart reasoning = ReasoningStart::kNever;
};

class Session {
 public:
  // Plans the memory, then loads tokenizer, chat template and model. Errors: kOutOfMemory, by kind,
  // where what is needed is not there; those of the files.
  static Result<std::unique_ptr<Session>> Load(const SessionOptions& options,
                                               LoadProgress progress);

  // Queues a request and returns at once. The prompt of a text may hold special tokens by name;
  // tokens may be any of the model's vocabulary.
  // Errors: kInvalidArgument for what Engine::Validate refuses, bad stop strings or stop
  // tokens, or a number of completions outside its range.
  Result<std::unique_ptr<Stream>> Submit(std::string_view prompt, const GenerationParams& params);
  Result<std::unique_ptr<Stream>> SubmitTokens(std::vector<int32_t> prompt,
                                               const GenerationParams& params);
  // The assistant's next message. Errors: those of ChatFormat::BuildPrompt, too.
  Result<std::unique_ptr<Stream>> SubmitChat(const ChatRequest& request,
                                             const GenerationParams& params);

  // The two halves of SubmitChat, for who wants to see the prompt in between.
  Result<Prompt> EncodeChat(const ChatRequest& request) const;
  Result<std::unique_ptr<Stream>> SubmitPrompt(Prompt prompt, const GenerationParams& params);

  // Forgets the cached prompts that no running request stands on. From any thread; requests that
  // are submitted after it find nothing of before.
  void ClearPrefixCache() { loop_->ClearPrefixCache(); }

  const Tokenizer& tokenizer() const { return tokenizer_; }
  const ChatFormat& chat_format() const { return chat_format_; }
  const SamplingDefaults& sampling_defaults() const { return sampling_defaults_; }
  const Model& model() const { return *model_; }
  const RunLimits& limits() const { return limits_; }
  EngineStats stats() const { return loop_->stats(); }
  double load_ms() const { return load_ms_; }

 private:
  Session(std::unique_ptr<ThreadPool> pool, Tokenizer tokenizer, ChatFormat chat_format,
          const SamplingDefaults& sampling_defaults);

  std::unique_ptr<ThreadPool> pool_;  // outlives the model
  Tokenizer tokenizer_;
  ChatFormat chat_format_;
  SamplingDefaults sampling_defaults_;
  std::vector<int32_t> stop_token_ids_;
  const Model* model_ = nullptr;  // the engine's
  RunLimits limits_;
  double load_ms_ = 0;
  std::unique_ptr<EngineLoop> loop_;  // its thread ends before all that it uses
};

}  // namespace gdn
