// SPDX-License-Identifier: Apache-2.0
#include "model/layer_pools.h"

#include <utility>

namespace gdn {
namespace {

Shape ConvShape(const ModelConfig& c, int64_t slots) {
  return {slots, c.conv_kernel - 1, c.conv_channels()};
}

Shape RecurrentShape(const ModelConfig& c, int64_t slots) {
  return {slots, c.linear_num_value_heads, c.linear_value_head_dim, c.linear_key_head_dim};
}

Shape KvShape(const ModelConfig& c, int64_t blocks) {
  return {blocks, c.num_kv_heads, kKvBlockSize, c.head_dim};
}

size_t Bytes(DType dtype, const Shape& shape) {
  return SizeOf(dtype) * static_cast<size_t>(shape.NumElements());
}

}  // namespace

size_t LayerPools::StateBytesPerSlot(const ModelConfig& config, DType dtype) {
  return static_cast<size_t>(config.CountLayers(LayerKind::kLinearAttention)) *
         (Bytes(dtype, ConvShape(config, 1)) + Bytes(DType::kF32, RecurrentShape(config, 1)));
}

size_t LayerPools::KvBytesPerBlock(const ModelConfig& config, DType dtype) {
  return static_cast<size_t>(config.CountLayers(LayerKind::kFullAttention)) * 2 *
         Bytes(dtype, KvShape(config, 1));
}

Result<LayerPools> LayerPools::Allocate(const ModelConfig& config, DType dtype,
                                        const RunLimits& limits) {
  LayerPools pools;
  const auto take = [&](DType type, const Shape& shape, const char* what) -> Result<Tensor> {
    GDN_ASSIGN_OR_RETURN(OwnedTensor owned, OwnedTensor::Allocate(type, shape, what));
    pools.owners_.push_back(std::move(owned.storage));
    return owned.view;
  };
  for (const LayerKind kind : config.layers) {
    if (kind == LayerKind::kLinearAttention) {
      GdnStateView view;
      GDN_ASSIGN_OR_RETURN(view.conv,
                           take(dtype, ConvShape(config, limits.num_slots), "conv states"));
      GDN_ASSIGN_OR_RETURN(
          view.recurrent,
          take(DType::kF32, RecurrentShape(config, limits.num_slots), "recurrent states"));
      pools.index_.push_back(static_cast<int64_t>(pools.states_.size()));
      pools.states_.push_back(view);
    } else {
      KvCacheView view;
      GDN_ASSIGN_OR_RETURN(view.k, take(dtype, KvShape(config, limits.num_blocks), "the KV cache"));
      GDN_ASSIGN_OR_RETURN(view.v, take(dtype, KvShape(config, limits.num_blocks), "the KV cache"));
      pools.index_.push_back(static_cast<int64_t>(pools.kv_caches_.size()));
      pools.kv_caches_.push_back(view);
    }
  }
  return pools;
}

}  // namespace gdn
