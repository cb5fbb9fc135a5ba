// SPDX-License-Identifier: Apache-2.0
#include "bench/model_runner.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <numeric>
#include <utility>

#include "base/rng.h"
#include "base/str.h"
#include "bench/device_probe.h"
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
  const int64_t times = job.prompt ? job.sequences : 1;  // one prompt after another
  for (int64_t done = 0; done < job.tokens; done += step) {
    const int64_t tokens = std::min(step, job.tokens - done);
    const bool last = done + tokens == job.tokens;
    out += CostOf(config, dtype,
                  {.position = job.depth + done,
                   .tokens = tokens,
                   .chunk = job.prompt && chunk,
                   .sequences = job.prompt ? 1 : job.sequences,
                   .logit_rows = !job.prompt || last ? 1 : 0});
  }
  out.flops *= static_cast<double>(times);
  out.bytes *= static_cast<double>(times);
  return out;
}

}  // namespace

std::string ModelJob::Name() const {
  return StrCat(prompt ? "pp" : "tg", tokens, depth > 0 ? StrCat("@d", depth) : "",
                sequences > 1 ? StrCat("@c", sequences) : "");
}

RunLimits ModelRunner::Limits(const std::vector<ModelJob>& jobs) {
  int64_t positions = 1;
  int64_t sequences = 1;
  for (const ModelJob& job : jobs) {
    positions = std::max(positions, job.depth + job.tokens);
    sequences = std::max(sequences, job.sequences);
  }
  return {.max_tokens = std::max(std::min(kSliceTokens, positions), sequences),
          .max_seqs = sequences,
          .max_logit_rows = sequences,
          .num_slots = sequences + 1,
          .num_blocks = sequences * BlocksFor(positions) + 1,
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
      sampler_({}, {}, model_->config().vocab_size),
      tokens_(static_cast<size_t>(limits.max_seqs * limits.max_positions)),
      numbers_(static_cast<size_t>(std::max(limits.max_seqs + 1, limits.max_positions))),
      block_table_(static_cast<size_t>(limits.max_seqs * BlocksFor(limits.max_positions))),
      step_tokens_(static_cast<size_t>(limits.max_seqs)),
      step_positions_(static_cast<size_t>(limits.max_seqs)),
      decode_forms_(static_cast<size_t>(limits.max_seqs), SequenceForm::kDecode) {
  Rng rng(1);
  const auto vocab = static_cast<uint64_t>(model_->config().vocab_size);
  std::ranges::generate(tokens_, [&] { return static_cast<int32_t>(rng.NextBelow(vocab)); });
  std::iota(numbers_.begin(), numbers_.end(), 0);
  std::iota(block_table_.begin(), block_table_.end(), 1);
}

std::span<int32_t> ModelRunner::TokensOf(int64_t sequence) {
  const auto positions = static_cast<size_t>(limits_.max_positions);
  return std::span(tokens_).subspan(static_cast<size_t>(sequence) * positions, positions);
}

std::span<const int32_t> ModelRunner::BlocksOf(int64_t sequence, int64_t count) const {
  const auto blocks = static_cast<size_t>(BlocksFor(limits_.max_positions));
  return std::span(block_table_)
      .subspan(static_cast<size_t>(sequence) * blocks, static_cast<size_t>(count) * blocks);
}

Status ModelRunner::PrefillStep(int64_t sequence, int64_t first, int64_t count, bool wants_logits) {
  ++num_steps_;
  const auto at = static_cast<size_t>(first);
  const auto size = static_cast<size_t>(count);
  const std::array<int32_t, 2> cu_seqlens = {0, static_cast<int32_t>(count)};
  const std::array<int32_t, 1> slots = {static_cast<int32_t>(sequence) + 1};
  const std::array<SequenceForm, 1> forms = {SequenceForm::kPrefill};
  const std::array<int32_t, 1> rows = {static_cast<int32_t>(count) - 1};
  return model_
      ->Forward({.tokens = TokensOf(sequence).subspan(at, size),
                 .positions = std::span(numbers_).subspan(at, size),
                 .cu_seqlens = cu_seqlens,
                 .state_slots = slots,
                 .forms = forms,
                 .block_table = BlocksOf(sequence, 1),
                 .max_blocks = BlocksFor(limits_.max_positions),
                 .logit_rows = std::span(rows).first(wants_logits ? 1 : 0)})
      .status();
}

Result<ConstTensor> ModelRunner::DecodeStep(int64_t sequences, int64_t position) {
  ++num_steps_;
  const auto count = static_cast<size_t>(sequences);
  for (int64_t i = 0; i < sequences; ++i) {
    step_tokens_[static_cast<size_t>(i)] = TokensOf(i)[static_cast<size_t>(position)];
    step_positions_[static_cast<size_t>(i)] = static_cast<int32_t>(position);
  }
  return model_->Forward({.tokens = std::span(step_tokens_).first(count),
                          .positions = std::span(step_positions_).first(count),
                          .cu_seqlens = std::span(numbers_).first(count + 1),
                          .state_slots = std::span(numbers_).subspan(1, count),
                          .forms = std::span(decode_forms_).first(count),
                          .block_table = BlocksOf(0, sequences),
                          .max_blocks = BlocksFor(limits_.max_positions),
                          .logit_rows = std::span(numbers_).first(count)});
}

Status ModelRunner::Prefill(int64_t sequences, int64_t first, int64_t count, bool wants_logits) {
  for (int64_t sequence = 0; sequence < sequences; ++sequence) {
    for (int64_t done = 0; done < count; done += kSliceTokens) {
      const int64_t slice = std::min(kSliceTokens, count - done);
      const bool last = done + slice == count;
      GDN_RETURN_IF_ERROR(PrefillStep(sequence, first + done, slice, wants_logits && last));
    }
  }
  return OkStatus();
}

Status ModelRunner::Generate(int64_t sequences, int64_t first, int64_t count) {
  const auto vocab = static_cast<size_t>(model_->config().vocab_size);
  for (int64_t i = first; i < first + count; ++i) {
    GDN_ASSIGN_OR_RETURN(const ConstTensor logits, DecodeStep(sequences, i));
    for (int64_t sequence = 0; sequence < sequences; ++sequence) {
      GDN_ASSIGN_OR_RETURN(const int32_t token,
                           sampler_.Sample({logits.Row<float>(sequence), vocab}));
      if (i + 1 < limits_.max_positions) TokensOf(sequence)[static_cast<size_t>(i + 1)] = token;
    }
  }
  return OkStatus();
}

Status ModelRunner::RunJob(const ModelJob& job, int64_t tokens) {
  return job.prompt ? Prefill(job.sequences, job.depth, tokens, /*wants_logits=*/true)
                    : Generate(job.sequences, job.depth, tokens);
}

Backend* ModelRunner::DeviceBackend() {
  Backend* backend = model_->backend();
  return backend == nullptr || backend->device().type == DeviceType::kCpu ? nullptr : backend;
}

Result<ModelResult> ModelRunner::Measure(const ModelJob& job, int repetitions, MachineProbe& probe,
                                         FunctionRef<void(int repetition)> on_repetition) {
  GDN_CHECK(repetitions >= 1);
  const StepCost cost = CostOfJob(model_->config(), model_->dtype(), job, chunk_);
  std::vector<double> speeds, of_peak, of_read, peaks, reads;
  Backend* const device = DeviceBackend();
  DeviceWork work;
  LayerTimes layers;
  on_repetition(0);
  GDN_RETURN_IF_ERROR(
      RunJob(job, std::min(job.tokens, job.prompt ? kSliceTokens : kWarmUpGenerated)));
  for (int i = 0; i < repetitions; ++i) {
    on_repetition(i + 1);
    // A sequence starts from zeros at position 0, whatever is in its slot.
    GDN_RETURN_IF_ERROR(Prefill(job.sequences, 0, job.depth, /*wants_logits=*/false));
    MachineSpeed before;
    if (device == nullptr) {
      before = probe.Measure();
    } else {
      GDN_ASSIGN_OR_RETURN(before.read_gbytes, MeasureCopyGbytes(*device));
    }
    const DeviceWork work_before = device == nullptr ? DeviceWork() : device->work();
    num_steps_ = 0;
    const LayerTimes layers_before = layer_times_ != nullptr ? *layer_times_ : LayerTimes();
    const auto start = std::chrono::steady_clock::now();
    GDN_RETURN_IF_ERROR(RunJob(job));
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (layer_times_ != nullptr) {
      layers = Sum(layers, Difference(*layer_times_, layers_before, repetitions));
    }
    if (device != nullptr) work = device->work() - work_before;
    const MachineSpeed machine = device == nullptr ? Better(before, probe.Measure()) : before;
    speeds.push_back(static_cast<double>(job.sequences * job.tokens) / seconds);
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
                     .layers = layers,
                     .on_device = device != nullptr,
                     .work = work,
                     .steps = num_steps_};
}

}  // namespace gdn
