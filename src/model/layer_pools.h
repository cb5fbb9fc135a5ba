// SPDX-License-Identifier: Apache-2.0
// The memory of sequences on one device: states in slots, keys and values in blocks, per layer.
#pragma once

#include <vector>

#include "base/status.h"
#include "model/batch.h"
#include "model/config.h"
#include "model/layers/gated_delta_net.h"
#include "ops/attention/attention.h"

namespace gdn {

class LayerPools {
 public:
  static Result<LayerPools> Allocate(const ModelConfig& config, DType dtype,
                                     const RunLimits& limits);
  static size_t StateBytesPerSlot(const ModelConfig& config, DType dtype);
  static size_t KvBytesPerBlock(const ModelConfig& config, DType dtype);

  // Of layer i of the model, which must be of that kind.
  const GdnStateView& states(int64_t layer) const {
    return states_[static_cast<size_t>(index_[static_cast<size_t>(layer)])];
  }
  const KvCacheView& kv_cache(int64_t layer) const {
    return kv_caches_[static_cast<size_t>(index_[static_cast<size_t>(layer)])];
  }

 private:
  std::vector<int64_t> index_;  // [layers] place among the layers of its kind
  std::vector<GdnStateView> states_;
  std::vector<KvCacheView> kv_caches_;
  std::vector<Storage> owners_;
};

}  // namespace gdn
