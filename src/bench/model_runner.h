// SPDX-License-Identifier: Apache-2.0
// Prompts and generations of one sequence or of several, timed: Model::Forward called with the
// batches that the engine would make (slices of 512 tokens, one row of logits at a prompt's end and
// at each generated token), and the engine's sampler for the greedy choice. Without the engine's
// queue, so that a prompt can start at a depth that is not measured.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "base/function_ref.h"
#include "base/status.h"
#include "bench/machine_probe.h"
#include "bench/stats.h"
#include "engine/sampler.h"
#include "model/model.h"

namespace gdn {

// One row of the table.
struct ModelJob {
  bool prompt = true;  // tokens of a prompt; else generated ones
  int64_t tokens = 512;
  int64_t depth = 0;  // tokens that are in the context before
  // So many at once: their prompts one after another, their generated tokens in one step.
  int64_t sequences = 1;

  std::string Name() const;  // "pp512", "tg128@d1024", "tg128@c16"
};

struct ModelResult {
  ModelJob job;
  Summary tokens_per_second;
  double pct_peak = 0;  // medians, of what model_cost.h counts
  double pct_bw = 0;
  MachineSpeed machine;  // medians
  LayerTimes layers;     // seconds of a repetition, the mean; zero where the model keeps no times
  // On a device other than the CPU pct_peak and machine.peak_gflops are not known, and
  // machine.read_gbytes is what the device's own copies read and write.
  bool on_device = false;
  DeviceWork work;    // of the last repetition
  int64_t steps = 0;  // of it
};

class ModelRunner {
 public:
  // The limits for all jobs.
  static RunLimits Limits(const std::vector<ModelJob>& jobs);

  // Plans the model's memory. layer_times is what the model was loaded with, or null.
  static Result<std::unique_ptr<ModelRunner>> Create(std::unique_ptr<Model> model,
                                                     const RunLimits& limits, PrefillMode prefill,
                                                     LayerTimes* layer_times);

  // One short run that is not counted, then repetitions >= 1. on_repetition is called before each.
  Result<ModelResult> Measure(const ModelJob& job, int repetitions, MachineProbe& probe,
                              FunctionRef<void(int repetition)> on_repetition);

  const Model& model() const { return *model_; }
  bool prefills_in_chunks() const { return chunk_; }

 private:
  ModelRunner(std::unique_ptr<Model> model, const RunLimits& limits, bool chunk,
              LayerTimes* layer_times);

  // Tokens [first, first + count) of each of so many sequences as a prompt, in slices.
  Status Prefill(int64_t sequences, int64_t first, int64_t count, bool wants_logits);
  // count tokens of each from position first on, each the greedy choice after the one before.
  Status Generate(int64_t sequences, int64_t first, int64_t count);
  Status PrefillStep(int64_t sequence, int64_t first, int64_t count, bool wants_logits);
  Result<ConstTensor> DecodeStep(int64_t sequences, int64_t position);
  std::span<int32_t> TokensOf(int64_t sequence);
  std::span<const int32_t> BlocksOf(int64_t sequence, int64_t count) const;
  Status RunJob(const ModelJob& job) { return RunJob(job, job.tokens); }
  Status RunJob(const ModelJob& job, int64_t tokens);
  // The device that the model is on, unless it is the CPU.
  Backend* DeviceBackend();

  std::unique_ptr<Model> model_;
  RunLimits limits_;
  bool chunk_;
  LayerTimes* layer_times_;
  int64_t num_steps_ = 0;
  Sampler sampler_;
  std::vector<int32_t> tokens_;       // [max_seqs, max_positions]
  std::vector<int32_t> numbers_;      // 0, 1, .. as far as positions and sequences go
  std::vector<int32_t> block_table_;  // [max_seqs, blocks]
  // Of a decode step.
  std::vector<int32_t> step_tokens_, step_positions_;  // [max_seqs]
  std::vector<SequenceForm> decode_forms_;             // [max_seqs]
};

}  // namespace gdn
