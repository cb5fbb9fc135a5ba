// SPDX-License-Identifier: Apache-2.0
#include "ops/attention/attention.h"

#include "base/str.h"
#include "ops/attention/attention_kernels.h"
#include "ops/common/impl_table.h"
#include "ops/common/kernel_ids.h"
#include "ops/common/overlap.h"
#include "ops/common/simd_target.h"
#include "ops/common/validate.h"

namespace gdn {
namespace {

constexpr const char* kStore = "kv_cache_store";
constexpr const char* kAttention = "attention";

Status CheckIndex(const char* op, const PagedIndex& index, int64_t num_tokens, int64_t num_blocks) {
  GDN_RETURN_IF_ERROR(CheckCuSeqlens(op, index.cu_seqlens, num_tokens));
  if (static_cast<int64_t>(index.positions.size()) != num_tokens) {
    return InvalidArgument(
        StrCat(op, ": positions has ", index.positions.size(), " entries, want T=", num_tokens));
  }
  const size_t num_seqs = index.cu_seqlens.size() - 1;
  if (index.max_blocks < 0 ||
      index.block_table.size() != num_seqs * static_cast<size_t>(index.max_blocks)) {
    return InvalidArgument(StrCat(op, ": block_table has ", index.block_table.size(),
                                  " entries, want N=", num_seqs, " times ", index.max_blocks));
  }
  for (size_t n = 0; n < num_seqs; ++n) {
    int64_t last = -1;
    const auto end = static_cast<size_t>(index.cu_seqlens[n + 1]);
    for (auto t = static_cast<size_t>(index.cu_seqlens[n]); t < end; ++t) {
      const int64_t position = index.positions[t];
      if (position <= last || position >= index.max_blocks * kKvBlockSize) {
        return InvalidArgument(StrCat(op, ": positions[", t, "] is ", position, ", want ", last + 1,
                                      " to ", index.max_blocks * kKvBlockSize - 1));
      }
      last = position;
    }
    for (int64_t block = 0; block * kKvBlockSize <= last; ++block) {
      const size_t entry = n * static_cast<size_t>(index.max_blocks) + static_cast<size_t>(block);
      if (index.block_table[entry] < 1 || index.block_table[entry] >= num_blocks) {
        return InvalidArgument(StrCat(op, ": block_table[", n, ", ", block, "] is ",
                                      index.block_table[entry], ", want 1 to ", num_blocks - 1));
      }
    }
  }
  return OkStatus();
}

// x is q or k of the call: it decides the dtype and head_dim of the cache.
Status CheckCache(const char* op, const KvCacheView& cache, const ConstTensor& x,
                  const char* name) {
  if (x.shape.rank() != 3 || !IsFloat(x.dtype) || x.dim(2) < 1 || x.dim(2) > kMaxHeadDim) {
    return InvalidArgument(StrCat(op, ": ", name, " is ", Describe(x),
                                  ", want [T, heads, head_dim] of f32, f16 or bf16, head_dim 1 to ",
                                  kMaxHeadDim));
  }
  if (cache.k.shape.rank() != 4 || cache.k.dim(1) < 1) {
    return InvalidArgument(StrCat(op, ": the key cache is ", Describe(cache.k),
                                  ", want [blocks, Hkv, ", kKvBlockSize, ", head_dim]"));
  }
  const std::initializer_list<NamedDim> want = {{"blocks", cache.k.dim(0)},
                                                {"Hkv", cache.k.dim(1)},
                                                {"block", kKvBlockSize},
                                                {"head_dim", x.dim(2)}};
  GDN_RETURN_IF_ERROR(CheckContiguous(op, "the key cache", cache.k, x.dtype, want));
  return CheckContiguous(op, "the value cache", cache.v, x.dtype, want);
}

Status Validate(const KvCacheStoreArgs& args) {
  GDN_RETURN_IF_ERROR(CheckCache(kStore, args.cache, args.k, "k"));
  const int64_t num_tokens = args.k.dim(0);
  const std::initializer_list<NamedDim> want = {
      {"T", num_tokens}, {"Hkv", args.cache.k.dim(1)}, {"head_dim", args.k.dim(2)}};
  GDN_RETURN_IF_ERROR(CheckTensor(kStore, "k", args.k, args.k.dtype, want));
  GDN_RETURN_IF_ERROR(CheckTensor(kStore, "v", args.v, args.k.dtype, want));
  return CheckIndex(kStore, args.index, num_tokens, args.cache.k.dim(0));
}

Status Validate(const AttentionArgs& args) {
  GDN_RETURN_IF_ERROR(CheckCache(kAttention, args.cache, args.q, "q"));
  const int64_t num_tokens = args.q.dim(0);
  const std::initializer_list<NamedDim> want = {
      {"T", num_tokens}, {"Hq", args.q.dim(1)}, {"head_dim", args.q.dim(2)}};
  GDN_RETURN_IF_ERROR(CheckTensor(kAttention, "q", args.q, args.q.dtype, want));
  GDN_RETURN_IF_ERROR(CheckContiguous(kAttention, "out", args.out, args.q.dtype, want));
  if (args.q.dim(1) < 1 || args.q.dim(1) % args.cache.k.dim(1) != 0) {
    return InvalidArgument(StrCat(kAttention, ": q has Hq=", args.q.dim(1),
                                  " heads, want a multiple of Hkv=", args.cache.k.dim(1)));
  }
  if (args.q.stride(0) < 0 || args.q.stride(1) < 0) {
    return InvalidArgument(StrCat(kAttention, ": q has a negative stride, want none"));
  }
  GDN_RETURN_IF_ERROR(CheckNoOverlap(kAttention, "out", args.out, "q", args.q));
  return CheckIndex(kAttention, args.index, num_tokens, args.cache.k.dim(0));
}

template <class Args>
const char* Supports(const Args& /*args*/) {
  return nullptr;
}

const char* StoreCpuId(const KvCacheStoreArgs& args) {
  return SizeOf(args.k.dtype) == 2 ? "kv_cache_store_b16__cpu" : "kv_cache_store_b32__cpu";
}
const char* StoreRefId(const KvCacheStoreArgs& args) {
  return SizeOf(args.k.dtype) == 2 ? "kv_cache_store_b16__ref" : "kv_cache_store_b32__ref";
}

const char* StoreVulkanId(const KvCacheStoreArgs& args) {
  return SizeOf(args.k.dtype) == 2 ? "kv_cache_store_b16__vulkan" : "kv_cache_store_b32__vulkan";
}

const char* StoreGpuId(const KvCacheStoreArgs& args) {
  return SizeOf(args.k.dtype) == 2 ? "kv_cache_store_b16__gpu" : "kv_cache_store_b32__gpu";
}

constexpr Impl<KvCacheStoreArgs> kStoreTable[] = {
    {StoreCpuId, KernelFamily::kCpu, Supports<KvCacheStoreArgs>, KvCacheStoreCpu},
    {StoreRefId, KernelFamily::kCpu, Supports<KvCacheStoreArgs>, KvCacheStoreRef},
    {StoreVulkanId, KernelFamily::kVulkan, Supports<KvCacheStoreArgs>,
     IfBuilt(GDN_IF_VULKAN(KvCacheStoreVulkan))},
    {StoreGpuId, KernelFamily::kGpu, Supports<KvCacheStoreArgs>,
     IfBuilt(GDN_IF_GPU(KvCacheStoreGpu))},
};

const char* CpuId(const AttentionArgs& args) {
  static const FloatKernelIds ids = {KernelId("attention_paged_f32"),
                                     KernelId("attention_paged_f16"),
                                     KernelId("attention_paged_bf16")};
  return ids.Of(args.q.dtype);
}

const char* RefId(const AttentionArgs& args) {
  static constexpr FloatKernelIds kIds = {"attention_paged_f32__ref", "attention_paged_f16__ref",
                                          "attention_paged_bf16__ref"};
  return kIds.Of(args.q.dtype);
}

const char* VulkanId(const AttentionArgs& args) {
  static constexpr FloatKernelIds kIds = {
      "attention_paged_f32__vulkan", "attention_paged_f16__vulkan", "attention_paged_bf16__vulkan"};
  return kIds.Of(args.q.dtype);
}

const char* GpuId(const AttentionArgs& args) {
  static constexpr FloatKernelIds kIds = {"attention_paged_f32__gpu", "attention_paged_f16__gpu",
                                          "attention_paged_bf16__gpu"};
  return kIds.Of(args.q.dtype);
}

constexpr Impl<AttentionArgs> kAttentionTable[] = {
    {CpuId, KernelFamily::kCpu, Supports<AttentionArgs>, AttentionCpu},
    {RefId, KernelFamily::kCpu, Supports<AttentionArgs>, AttentionRef},
    {VulkanId, KernelFamily::kVulkan, Supports<AttentionArgs>,
     IfBuilt(GDN_IF_VULKAN(AttentionVulkan))},
    {GpuId, KernelFamily::kGpu, Supports<AttentionArgs>, IfBuilt(GDN_IF_GPU(AttentionGpu))},
};

}  // namespace

Status KvCacheStore(const ExecContext& ctx, const KvCacheStoreArgs& args) {
  GDN_RETURN_IF_ERROR(Validate(args));
  return RunFirst<KvCacheStoreArgs>(kStore, kStoreTable, ctx, args);
}

Status Attention(const ExecContext& ctx, const AttentionArgs& args) {
  GDN_RETURN_IF_ERROR(Validate(args));
  if (args.q.dim(0) == 0) return OkStatus();
  return RunFirst<AttentionArgs>(kAttention, kAttentionTable, ctx, args);
}

}  // namespace gdn
