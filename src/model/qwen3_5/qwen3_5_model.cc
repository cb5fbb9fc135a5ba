// SPDX-License-Identifier: Apache-2.0
#include "model/qwen3_5/qwen3_5_model.h"

#include <chrono>
#include <optional>
#include <utility>

#include "backend/backend.h"
#include "model/device_weights.h"
#include "model/layer_pools.h"
#include "model/logits_reader.h"
#include "model/qwen3_5/memory.h"
#include "model/qwen3_5/random_weights.h"
#include "model/qwen3_5/tensor_table.h"
#include "model/qwen3_5/weights.h"
#include "model/weight_reader.h"
#include "ops/embedding/embedding.h"
#include "ops/linear/linear.h"
#include "ops/rms_norm/rms_norm.h"
#include "ops/rope/rope.h"

namespace gdn::qwen3_5 {
namespace {

// Adds the seconds of its life to *times.*kind, where there are times to add to.
class TimeTo {
 public:
  TimeTo(LayerTimes* times, double LayerTimes::*kind) : times_(times), kind_(kind) {
    if (times_ != nullptr) start_ = Clock::now();
  }
  ~TimeTo() {
    if (times_ != nullptr) {
      times_->*kind_ += std::chrono::duration<double>(Clock::now() - start_).count();
    }
  }
  TimeTo(const TimeTo&) = delete;
  TimeTo& operator=(const TimeTo&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  LayerTimes* times_;
  double LayerTimes::*kind_;
  Clock::time_point start_;
};

class Qwen35Model final : public Model {
 public:
  Qwen35Model(ModelConfig config, ModelOptions options, ThreadPool& pool,
              std::unique_ptr<Backend> backend, Weights weights, size_t weight_bytes)
      : config_(std::move(config)),
        options_(std::move(options)),
        pool_(pool),
        backend_(std::move(backend)),
        weights_(std::move(weights)),
        weight_bytes_(weight_bytes) {}

  const ModelConfig& config() const override { return config_; }
  DType dtype() const override { return weights_.dtype; }
  const KernelLog& kernels() const override { return kernel_log_; }
  Backend* backend() override { return backend_.get(); }
  MemoryNeeds Needs(const RunLimits& limits) const override;
  Status Plan(const RunLimits& limits) override;
  Result<ConstTensor> Forward(const Batch& batch) override;
  std::span<const int32_t> largest() const override { return logits_reader_.largest(); }
  void CopyState(int32_t from_slot, int32_t to_slot) override {
    pools_.CopyState(from_slot, to_slot, pool_);
  }
  size_t SavedBytes(size_t num_blocks) const override { return pools_.SavedBytes(num_blocks); }
  void Save(int32_t slot, std::span<const int32_t> blocks,
            std::span<std::byte> saved) const override {
    pools_.Save(slot, blocks, saved);
  }
  void Restore(int32_t slot, std::span<const int32_t> blocks,
               std::span<const std::byte> saved) override {
    pools_.Restore(slot, blocks, saved);
  }

 private:
  Status PlanRope(const RunLimits& limits);
  Status RunMixer(const LayerContext& ctx, int64_t index, const Stream& s) const;
  Status RunMlp(const LayerContext& ctx, int64_t index, const Stream& s) const;
  Status Logits(const ExecContext& exec, const Stream& s, const Tail& tail) const;
  Status Norm(const ExecContext& exec, const OwnedTensor& weight, const Tensor& x,
              const Tensor& residual) const;
  PrefillRule Rule() const;

  ModelConfig config_;
  ModelOptions options_;
  ThreadPool& pool_;
  std::unique_ptr<Backend> backend_;  // outlives all that lies in its memory
  Weights weights_;
  size_t weight_bytes_;

  std::optional<StepPlan> plan_;
  LayerPools pools_;
  OwnedTensor rope_table_;  // [max_positions, rotary_dim] f32
  Storage activations_;
  Storage kernel_scratch_;
  LogitsReader logits_reader_;  // of what the host does not see
  KernelLog kernel_log_;
};

PrefillRule Qwen35Model::Rule() const {
  const bool is_f32 = weights_.dtype == DType::kF32;
  const bool recurrent = options_.prefill == PrefillMode::kRecurrent ||
                         (options_.prefill == PrefillMode::kAuto && is_f32);
  return recurrent ? PrefillRule::kRecurrent : PrefillRule::kChunk;
}

MemoryNeeds Qwen35Model::Needs(const RunLimits& limits) const {
  return qwen3_5::Needs(config_, weights_.dtype, weight_bytes_, limits, options_.device,
                        pool_.num_threads());
}

Status Qwen35Model::Plan(const RunLimits& limits) {
  GDN_CHECK(!plan_.has_value());
  MemorySource& memory = backend_->memory();
  GDN_ASSIGN_OR_RETURN(pools_, LayerPools::Allocate(config_, weights_.dtype, limits, *backend_));
  GDN_ASSIGN_OR_RETURN(
      activations_,
      memory.Allocate(ActivationBytes(config_, weights_.dtype, limits), "activations"));
  GDN_ASSIGN_OR_RETURN(kernel_scratch_,
                       memory.Allocate(KernelScratchBytes(config_, weights_.dtype, limits,
                                                          options_.device, pool_.num_threads()),
                                       "kernel scratch"));
  if (options_.device.type != DeviceType::kCpu) {
    GDN_RETURN_IF_ERROR(logits_reader_.Plan(limits, config_.vocab_size));
  }
  GDN_RETURN_IF_ERROR(PlanRope(limits));
  plan_.emplace(limits);
  return OkStatus();
}

// The table is the host's work, wherever it is read.
Status Qwen35Model::PlanRope(const RunLimits& limits) {
  const Shape shape = {limits.max_positions, config_.rotary_dim};
  constexpr const char* kPurpose = "the RoPE table";
  GDN_ASSIGN_OR_RETURN(OwnedTensor table, OwnedTensor::Allocate(DType::kF32, shape, kPurpose));
  ExecContext exec;
  exec.pool = &pool_;
  FillRopeTable(exec, config_.rope_theta, table.view);
  if (options_.device.type == DeviceType::kCpu) {
    rope_table_ = std::move(table);
    return OkStatus();
  }
  GDN_ASSIGN_OR_RETURN(rope_table_,
                       OwnedTensor::Allocate(DType::kF32, shape, kPurpose, backend_->memory()));
  return backend_->Write(rope_table_.view.data, table.view.data, table.storage.size_bytes());
}

Status Qwen35Model::Norm(const ExecContext& exec, const OwnedTensor& weight, const Tensor& x,
                         const Tensor& residual) const {
  return RmsNorm(
      exec,
      {.x = x, .weight = weight.view, .eps = config_.rms_norm_eps, .residual = residual, .out = x});
}

Status Qwen35Model::RunMixer(const LayerContext& ctx, int64_t index, const Stream& s) const {
  const Layer& layer = weights_.layers[static_cast<size_t>(index)];
  const auto* gated_delta_net = std::get_if<GatedDeltaNet>(&layer.mixer);
  const TimeTo time(options_.layer_times, gated_delta_net != nullptr ? &LayerTimes::linear_attention
                                                                     : &LayerTimes::full_attention);
  if (index == 0) {
    // The stream is the embedding itself: there is no block output to add yet.
    GDN_RETURN_IF_ERROR(RmsNorm(ctx.exec, {.x = s.residual,
                                           .weight = layer.input_norm.view,
                                           .eps = config_.rms_norm_eps,
                                           .out = s.x}));
  } else {
    GDN_RETURN_IF_ERROR(Norm(ctx.exec, layer.input_norm, s.x, s.residual));
  }
  if (gated_delta_net != nullptr) {
    return gated_delta_net->Forward(ctx, Rule(), pools_.states(index), s.x);
  }
  return std::get<GatedAttention>(layer.mixer)
      .Forward(ctx, rope_table_.view, pools_.kv_cache(index), s.x);
}

Status Qwen35Model::RunMlp(const LayerContext& ctx, int64_t index, const Stream& s) const {
  const Layer& layer = weights_.layers[static_cast<size_t>(index)];
  const TimeTo time(options_.layer_times, &LayerTimes::mlp);
  GDN_RETURN_IF_ERROR(Norm(ctx.exec, layer.post_attention_norm, s.x, s.residual));
  return layer.mlp.Forward(ctx, s.x);
}

Status Qwen35Model::Logits(const ExecContext& exec, const Stream& s, const Tail& tail) const {
  const std::span<const int32_t> rows = plan_->batch().logit_rows;
  if (rows.empty()) return OkStatus();
  const TimeTo time(options_.layer_times, &LayerTimes::head);
  // Picking rows is an embedding lookup in the activations.
  const Weight x_rows = Weight::View(s.x);
  const Weight residual_rows = Weight::View(s.residual);
  GDN_RETURN_IF_ERROR(Embedding(exec, {rows, &x_rows, tail.x}));
  GDN_RETURN_IF_ERROR(Embedding(exec, {rows, &residual_rows, tail.residual}));
  GDN_RETURN_IF_ERROR(Norm(exec, weights_.final_norm, tail.x, tail.residual));
  const DType round_to = options_.round_logits ? weights_.dtype : DType::kF32;
  return Linear(exec, {tail.x, &weights_.head_weight(), round_to, tail.logits});
}

Result<ConstTensor> Qwen35Model::Forward(const Batch& batch) {
  GDN_CHECK(plan_.has_value());
  GDN_RETURN_IF_ERROR(plan_->Build(batch, config_.vocab_size));
  const ExecContext exec = {
      .device = options_.device,
      .backend = backend_.get(),
      .pool = &pool_,
      .scratch = Scratch({kernel_scratch_.data(), kernel_scratch_.size_bytes()}),
      .kernel_log = &kernel_log_,
      .impl = options_.impl};
  Arena arena({activations_.data(), activations_.size_bytes()});
  const Stream s(arena, weights_.dtype, config_, batch.num_tokens());
  if (batch.num_tokens() > 0) {
    GDN_RETURN_IF_ERROR(Embedding(exec, {batch.tokens, &weights_.embedding, s.residual}));
    const LayerContext ctx{exec, *plan_, arena};
    for (int64_t i = 0; i < config_.num_layers; ++i) {
      GDN_RETURN_IF_ERROR(RunMixer(ctx, i, s));
      GDN_RETURN_IF_ERROR(RunMlp(ctx, i, s));
    }
  }
  const Tail tail(arena, weights_.dtype, config_, static_cast<int64_t>(batch.logit_rows.size()));
  GDN_RETURN_IF_ERROR(Logits(exec, s, tail));
  if (options_.device.type == DeviceType::kCpu) return ConstTensor(tail.logits);
  return logits_reader_.Read(exec, batch, tail.logits, tail.largest);
}

Result<std::unique_ptr<Model>> Assemble(ModelConfig config, const std::string& prefix,
                                        const ModelOptions& options, ThreadPool& pool,
                                        WeightSource& source, size_t weight_bytes) {
  GDN_ASSIGN_OR_RETURN(std::unique_ptr<Backend> backend,
                       OpenBackend(options.device, {.cache_folder = UserCacheFolder(),
                                                    .vendor_gemm = options.vendor_gemm}));
  DeviceWeights on_device(source, *backend);
  GDN_ASSIGN_OR_RETURN(Weights weights, ReadWeights(config, prefix, on_device));
  return std::unique_ptr<Model>(std::make_unique<Qwen35Model>(
      std::move(config), options, pool, std::move(backend), std::move(weights), weight_bytes));
}

}  // namespace

Result<std::unique_ptr<Model>> Load(const std::string& dir, ModelConfig config,
                                    const ModelOptions& options, ThreadPool& pool,
                                    LoadProgress progress) {
  GDN_ASSIGN_OR_RETURN(const SafetensorsCheckpoint checkpoint, SafetensorsCheckpoint::Open(dir));
  GDN_RETURN_IF_ERROR(CheckTensors(config, checkpoint));
  GDN_ASSIGN_OR_RETURN(const std::string prefix, FindPrefix(checkpoint));
  const size_t weight_bytes = WeightBytes(config, checkpoint, prefix);
  WeightReader reader(checkpoint, pool, progress, weight_bytes);
  return Assemble(std::move(config), prefix, options, pool, reader, weight_bytes);
}

Result<std::unique_ptr<Model>> MakeRandom(const ModelConfig& config, DType dtype, uint64_t seed,
                                          const ModelOptions& options, ThreadPool& pool,
                                          LoadProgress progress) {
  RandomWeights source(config, dtype, seed, pool, progress);
  return Assemble(config, PrefixOf(config), options, pool, source, source.total_bytes());
}

MemoryNeeds EstimateRandomNeeds(const ModelConfig& config, DType dtype, const RunLimits& limits,
                                const Device& device, int num_threads) {
  size_t bytes = 0;
  for (const TensorSpec& spec : ListTensors(config, PrefixOf(config))) {
    bytes += static_cast<size_t>(spec.shape.NumElements()) * SizeOf(dtype);
  }
  return Needs(config, dtype, bytes, limits, device, num_threads);
}

Result<MemoryNeeds> EstimateNeeds(const std::string& dir, const ModelConfig& config,
                                  const RunLimits& limits, const Device& device, int num_threads) {
  GDN_ASSIGN_OR_RETURN(const SafetensorsCheckpoint checkpoint, SafetensorsCheckpoint::Open(dir));
  GDN_RETURN_IF_ERROR(CheckTensors(config, checkpoint));
  GDN_ASSIGN_OR_RETURN(const std::string prefix, FindPrefix(checkpoint));
  GDN_ASSIGN_OR_RETURN(const ConstTensor embedding,
                       checkpoint.Find(prefix + "embed_tokens.weight"));
  return Needs(config, embedding.dtype, WeightBytes(config, checkpoint, prefix), limits, device,
               num_threads);
}

}  // namespace gdn::qwen3_5
