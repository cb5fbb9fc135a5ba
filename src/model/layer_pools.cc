// SPDX-License-Identifier: Apache-2.0
#include "model/layer_pools.h"

#include <utility>

#include "base/check.h"

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
                                        const RunLimits& limits, Backend& backend) {
  LayerPools pools;
  pools.backend_ = &backend;
  const auto take = [&](DType type, const Shape& shape, const char* what) -> Result<Tensor> {
    GDN_ASSIGN_OR_RETURN(OwnedTensor owned,
                         OwnedTensor::Allocate(type, shape, what, backend.memory()));
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

void LayerPools::CopyState(int32_t from_slot, int32_t to_slot, ThreadPool& pool) const {
  const auto copy = [&](int64_t layer, int /*worker*/) {
    for (const Tensor& states : {states_[static_cast<size_t>(layer)].conv,
                                 states_[static_cast<size_t>(layer)].recurrent}) {
      const Tensor from = states.Slice(from_slot, 1);
      const size_t bytes = static_cast<size_t>(from.shape.NumElements()) * SizeOf(from.dtype);
      backend_->Copy(states.Slice(to_slot, 1).data, from.data, bytes);
    }
  };
  const auto count = static_cast<int64_t>(states_.size());
  if (backend_->device().type == DeviceType::kCpu) return pool.Run(count, copy);
  for (int64_t layer = 0; layer < count; ++layer) copy(layer, 0);
}

template <class Body>
void LayerPools::ForEachRow(int32_t slot, std::span<const int32_t> blocks, const Body& body) const {
  const auto row = [&](const Tensor& pool, int32_t index) {
    const Tensor one = pool.Slice(index, 1);
    body(std::span(static_cast<std::byte*>(one.data),
                   static_cast<size_t>(one.shape.NumElements()) * SizeOf(one.dtype)));
  };
  for (const GdnStateView& states : states_) {
    row(states.conv, slot);
    row(states.recurrent, slot);
  }
  for (const KvCacheView& cache : kv_caches_) {
    for (const int32_t block : blocks) {
      row(cache.k, block);
      row(cache.v, block);
    }
  }
}

size_t LayerPools::SavedBytes(size_t num_blocks) const {
  size_t bytes = 0;
  const std::vector<int32_t> blocks(num_blocks, 0);
  ForEachRow(0, blocks, [&](std::span<std::byte> row) { bytes += row.size(); });
  return bytes;
}

void LayerPools::Save(int32_t slot, std::span<const int32_t> blocks,
                      std::span<std::byte> saved) const {
  size_t at = 0;
  ForEachRow(slot, blocks, [&](std::span<std::byte> row) {
    (void)backend_->Read(saved.subspan(at, row.size()).data(), row.data(), row.size());
    at += row.size();
  });
  GDN_CHECK(at == saved.size());
}

void LayerPools::Restore(int32_t slot, std::span<const int32_t> blocks,
                         std::span<const std::byte> saved) const {
  size_t at = 0;
  ForEachRow(slot, blocks, [&](std::span<std::byte> row) {
    (void)backend_->Write(row.data(), saved.subspan(at, row.size()).data(), row.size());
    at += row.size();
  });
  GDN_CHECK(at == saved.size());
}

}  // namespace gdn
