// SPDX-License-Identifier: Apache-2.0
// The memory of sequences on one device: states in slots, keys and values in blocks, per layer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "backend/backend.h"
#include "base/status.h"
#include "base/thread_pool.h"
#include "model/batch.h"
#include "model/config.h"
#include "model/layers/gated_delta_net.h"
#include "ops/attention/attention.h"

namespace gdn {

class LayerPools {
 public:
  // In the backend's memory; it outlives the pools.
  static Result<LayerPools> Allocate(const ModelConfig& config, DType dtype,
                                     const RunLimits& limits, Backend& backend);
  static size_t StateBytesPerSlot(const ModelConfig& config, DType dtype);
  static size_t KvBytesPerBlock(const ModelConfig& config, DType dtype);

  // Of layer i of the model, which must be of that kind.
  const GdnStateView& states(int64_t layer) const {
    return states_[static_cast<size_t>(index_[static_cast<size_t>(layer)])];
  }
  const KvCacheView& kv_cache(int64_t layer) const {
    return kv_caches_[static_cast<size_t>(index_[static_cast<size_t>(layer)])];
  }

  // Of every layer that has states.
  void CopyState(int32_t from_slot, int32_t to_slot, ThreadPool& pool) const;
  // One slot's states and these KV blocks, layer by layer. What goes wrong on the device is an
  // error of its next step.
  size_t SavedBytes(size_t num_blocks) const;
  void Save(int32_t slot, std::span<const int32_t> blocks, std::span<std::byte> saved) const;
  void Restore(int32_t slot, std::span<const int32_t> blocks,
               std::span<const std::byte> saved) const;

 private:
  // Calls body(row of a pool) for all of them, in one order.
  template <class Body>
  void ForEachRow(int32_t slot, std::span<const int32_t> blocks, const Body& body) const;

  Backend* backend_ = nullptr;
  std::vector<int64_t> index_;  // [layers] place among the layers of its kind
  std::vector<GdnStateView> states_;
  std::vector<KvCacheView> kv_caches_;
  std::vector<Storage> owners_;
};

}  // namespace gdn
