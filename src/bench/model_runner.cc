// SPDX-License-Identifier: Apache-2.0
#include "bench/model_runner.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <numeric>
#include <utility>

#include "base/rng.h"
#include "base/str.h"
#include "bench/model_cost.h"
#include "ops/attention/attention.h"

namespace gdn {
namespace {

constexpr int64_t kSliceTokens = 512;  // EngineConfig::prefill_tokens
constexpr int64_t kWarmUpGenerated = 4;

int64_t BlocksFor(int64_t tokens) { return (tokens + kKvBlockSize - 1) / kKvBlockSize; }

LayerTimes Difference(const LayerTimes& after, const LayerTimes& before, double parts) {
  return {(after.linear_attention - before.linear_attention) / parts,
          (after.full_attention - before.full_attention) / parts, (after.mlp - before.mlp) / parts,
          (after.head - before.head) / parts};
}

LayerTimes Sum(const LayerTimes& a, const LayerTimes& b) {
  return {a.linear_attention + b.linear_attention, a.full_attention + b.full_attention,
          a.mlp + b.mlp, a.head + b.head};
}

// The steps of a job, as ModelRunner makes them.
StepCost CostOfJob(const ModelConfig& config, DType dtype, const ModelJob& job, bool chunk) {
  StepCost out;
  const int64_t step = job.prompt ? kSliceTokens : 1;
  for (int64_t done = 0; done < job.tokens; done += step) {
    const int64_t tokens = std::min(step, job.tokens - done);
    const bool last = done + tokens == job.tokens;
    out += CostOf(config, dtype,
                  {.position = job.depth + done,
                   .tokens = tokens,
                   .chunk = job.prompt && chunk,
                   .logit_rows = !job.prompt || last ? 1 : 0});
  }
  return out;
}

}  // namespace

std::string ModelJob::Name() const {
  return StrCat(prompt ? "pp" : "tg", tokens, depth > 0 ? StrCat("@d", depth) : "");
}

RunLimits ModelRunner::Limits(const std::vector<ModelJob>& jobs) {
  int64_t positions = 1;
  for (const ModelJob& job : jobs) positions = std::max(positions, job.depth + job.tokens);
  return {.max_tokens = std::min(kSliceTokens, positions),
          .max_seqs = 1,
          .max_logit_rows = 1,
          .num_slots = 2,
          .num_blocks = BlocksFor(positions) + 1,
          .max_positions = positions};
}

Result<std::unique_ptr<ModelRunner>> ModelRunner::Create(std::unique_ptr<Model> model,
                                                         const RunLimits& limits,
                                                         PrefillMode prefill,
                                                         LayerTimes* layer_times) {
  GDN_RETURN_IF_ERROR(model->Plan(limits));
  const bool chunk = prefill == PrefillMode::kChunk ||
                     (prefill == PrefillMode::kAuto && model->dtype() != DType::kF32);
  return std::unique_ptr<ModelRunner>(
      new ModelRunner(std::move(model), limits, chunk, layer_times));
}

ModelRunner::ModelRunner(std::unique_ptr<Model> model, const RunLimits& limits, bool chunk,
                         LayerTimes* layer_times)
    : model_(std::move(model)),
      limits_(limits),
      chunk_(chunk),
      layer_times_(layer_times),
      sampler_({}, model_->config().vocab_size),
      tokens_(static_cast<size_t>(limits.max_positions)),
      positions_(static_cast<size_t>(limits.max_positions)),
      block_table_(static_cast<size_t>(BlocksFor(limits.max_positions))) {
  Rng rng(1);
  const auto vocab = static_cast<uint64_t>(model_->config().vocab_size);
  std::ranges::generate(tokens_, [&] { return static_cast<int32_t>(rng.NextBelow(vocab)); });
  std::iota(positions_.begin(), positions_.end(), 0);
  std::iota(block_table_.begin(), block_table_.end(), 1);
}

Result<ConstTensor> ModelRunner::Step(int64_t first, int64_t count, SequenceForm form,
                                      bool wants_logits) {
  const auto at = static_cast<size_t>(first);
  const auto size = static_cast<size_t>(count);
  const std::array<int32_t, 2> cu_seqlens = {0, static_cast<int32_t>(count)};
  const std::array<int32_t, 1> slots = {1};
  const std::array<SequenceForm, 1> forms = {form};
  const std::array<int32_t, 1> rows = {static_cast<int32_t>(count) - 1};
  return model_->Forward({.tokens = std::span(tokens_).subspan(at, size),
                          .positions = std::span(positions_).subspan(at, size),
                          .cu_seqlens = cu_seqlens,
                          .state_slots = slots,
                          .forms = forms,
                          .block_table = block_table_,
                          .max_blocks = static_cast<int64_t>(block_table_.size()),
                          .logit_rows = std::span(rows).first(wants_logits ? 1 : 0)});
}

Status ModelRunner::Prefill(int64_t first, int64_t count, bool wants_logits) {
  for (int64_t done = 0; done < count; done += kSliceTokens) {
    const int64_t slice = std::min(kSliceTokens, count - done);
    const bool last = done + slice == count;
    GDN_RETURN_IF_ERROR(
        Step(first + done, slice, SequenceForm::kPrefill, wants_logits && last).status());
  }
  return OkStatus();
}

Status ModelRunner::Generate(int64_t first, int64_t count) {
  const auto vocab = static_cast<size_t>(model_->config().vocab_size);
  for (int64_t i = first; i < first + count; ++i) {
    GDN_ASSIGN_OR_RETURN(const ConstTensor logits, Step(i, 1, SequenceForm::kDecode, true));
    GDN_ASSIGN_OR_RETURN(const int32_t token, sampler_.Sample({logits.Row<float>(0), vocab}));
    if (i + 1 < limits_.max_positions) tokens_[static_cast<size_t>(i + 1)] = token;
  }
  return OkStatus();
}

Status ModelRunner::RunJob(const ModelJob& job, int64_t tokens) {
  return job.prompt ? Prefill(job.depth, tokens, /*wants_logits=*/true)
                    : Generate(job.depth, tokens);
}

Result<ModelResult> ModelRunner::Measure(const ModelJob& job, int repetitions, MachineProbe& probe,
                                         FunctionRef<void(int repetition)> on_repetition) {
  GDN_CHECK(repetitions >= 1);
  const StepCost cost = CostOfJob(model_->config(), model_->dtype(), job, chunk_);
  std::vector<double> speeds, of_peak, of_read, peaks, reads;
  LayerTimes layers;
  on_repetition(0);
  GDN_RETURN_IF_ERROR(
      RunJob(job, std::min(job.tokens, job.prompt ? kSliceTokens : kWarmUpGenerated)));
  for (int i = 0; i < repetitions; ++i) {
    on_repetition(i + 1);
    // A sequence starts from zeros at position 0, whatever is in its slot.
    GDN_RETURN_IF_ERROR(Prefill(0, job.depth, /*wants_logits=*/false));
    const MachineSpeed before = probe.Measure();
    const LayerTimes layers_before = layer_times_ != nullptr ? *layer_times_ : LayerTimes();
    const auto start = std::chrono::steady_clock::now();
    GDN_RETURN_IF_ERROR(RunJob(job));
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (layer_times_ != nullptr) {
      layers = Sum(layers, Difference(*layer_times_, layers_before, repetitions));
    }
    const MachineSpeed machine = Better(before, probe.Measure());
    speeds.push_back(static_cast<double>(job.tokens) / seconds);
    of_peak.push_back(100e-9 * cost.flops / seconds / machine.peak_gflops);
    of_read.push_back(100e-9 * cost.bytes / seconds / machine.read_gbytes);
    peaks.push_back(machine.peak_gflops);
    reads.push_back(machine.read_gbytes);
  }
  return ModelResult{.job = job,
                     .tokens_per_second = Summarize(speeds),
                     .pct_peak = Median(of_peak),
                     .pct_bw = Median(of_read),
                     .machine = {Median(peaks), Median(reads)},
                     .layers = layers};
}

}  // namespace gdn
