// SPDX-License-Identifier: Apache-2.0
// A model that is ready to run: weights, the pools of states and KV blocks, planned memory.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "backend/backend.h"
#include "backend/exec_context.h"
#include "base/function_ref.h"
#include "base/status.h"
#include "model/batch.h"
#include "model/config.h"
#include "tensor/tensor.h"

namespace gdn {

// --prefill: which form of the rule a prompt takes.
enum class PrefillMode : uint8_t {
  kAuto,   // 16-bit models: chunk; f32 models: recurrent (the reference has no f32 chunk form)
  kChunk,  // f32: without rounding points, kernel chunk_f32
  kRecurrent,
};

// Seconds that steps have spent, by kind of layer; the norm before a layer counts with it.
struct LayerTimes {
  double linear_attention = 0;
  double full_attention = 0;
  double mlp = 0;
  double head = 0;  // the last norm and the logits
};

struct ModelOptions {
  Device device;
  PrefillMode prefill = PrefillMode::kAuto;
  std::string impl;  // forces a kernel in every op that has one of that name ("ref"), for tests
  bool vendor_gemm = false;           // --gemm vendor: BackendOptions
  bool round_logits = true;           // to D, as the reference does; false to compare devices
  LayerTimes* layer_times = nullptr;  // where steps add their times; null: no clock is read
};

// What memory a model needs, by kind, in bytes.
struct MemoryNeeds {
  size_t weight_bytes = 0;
  size_t state_bytes = 0;     // conv and recurrent states, per slot
  size_t kv_block_bytes = 0;  // per block of kKvBlockSize tokens
  size_t scratch_bytes = 0;   // activations and kernel scratch

  size_t TotalBytes(const RunLimits& limits) const {
    return weight_bytes + state_bytes * static_cast<size_t>(limits.num_slots) +
           kv_block_bytes * static_cast<size_t>(limits.num_blocks) + scratch_bytes;
  }
};

class Model {
 public:
  virtual ~Model() = default;

  virtual const ModelConfig& config() const = 0;
  virtual DType dtype() const = 0;  // D, the dtype of the embedding
  virtual MemoryNeeds Needs(const RunLimits& limits) const = 0;

  // Allocates the pools and the scratch memory for batches within limits. Once, before Forward.
  virtual Status Plan(const RunLimits& limits) = 0;

  // Runs one step. Returns the wanted logits [M, vocab] f32, rounded to D; they are valid until the
  // next call. States and KV rows of the batch's sequences advance. Allocates nothing.
  // Errors: kInvalidArgument for a batch outside the limits; nothing has advanced then.
  virtual Result<ConstTensor> Forward(const Batch& batch) = 0;
  // After a step with rows whose largest logit alone is wanted: [M] its id, for those rows, and -1
  // where no logit is a number above -inf; what Forward returned does not hold such rows. Empty
  // where it holds all rows and the caller is to look, as on the CPU.
  virtual std::span<const int32_t> largest() const { return {}; }

  // Copies the conv and recurrent states of one slot to another; neither is the null slot.
  virtual void CopyState(int32_t from_slot, int32_t to_slot) = 0;
  // A sequence's states and whole KV blocks, out of the pools into SavedBytes and back, into any
  // slot and blocks.
  virtual size_t SavedBytes(size_t num_blocks) const = 0;
  virtual void Save(int32_t slot, std::span<const int32_t> blocks,
                    std::span<std::byte> saved) const = 0;
  virtual void Restore(int32_t slot, std::span<const int32_t> blocks,
                       std::span<const std::byte> saved) = 0;

  virtual const KernelLog& kernels() const = 0;
  // Where its weights and pools lie; null: nowhere that a backend knows of.
  virtual Backend* backend() { return nullptr; }
};

using LoadProgress = FunctionRef<void(size_t done_bytes, size_t total_bytes)>;

// Loads the checkpoint folder of any supported architecture. pool must outlive the model.
Result<std::unique_ptr<Model>> LoadModel(const std::string& dir, const ModelOptions& options,
                                         ThreadPool& pool, LoadProgress progress);

// What that would take on a device, from the headers of the checkpoint alone.
Result<MemoryNeeds> EstimateNeeds(const std::string& dir, const ModelConfig& config,
                                  const RunLimits& limits, const Device& device, int num_threads);

// A model of random weights in memory, those of WriteRandomCheckpoint for the same config, dtype
// and seed. pool must outlive the model.
Result<std::unique_ptr<Model>> MakeRandomModel(const ModelConfig& config, DType dtype,
                                               uint64_t seed, const ModelOptions& options,
                                               ThreadPool& pool, LoadProgress progress);

// What a model of random weights would take.
MemoryNeeds EstimateRandomNeeds(const ModelConfig& config, DType dtype, const RunLimits& limits,
                                const Device& device, int num_threads);

}  // namespace gdn
