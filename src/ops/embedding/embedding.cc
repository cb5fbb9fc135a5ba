// SPDX-License-Identifier: Apache-2.0
#include "ops/embedding/embedding.h"

#include "base/str.h"
#include "ops/common/impl_table.h"
#include "ops/common/validate.h"
#include "ops/embedding/embedding_kernels.h"

namespace gdn {
namespace {

constexpr const char* kOp = "embedding";

Status Validate(const EmbeddingArgs& args) {
  if (args.table == nullptr || args.table->empty()) {
    return InvalidArgument(StrCat(kOp, ": there is no table"));
  }
  const auto num_tokens = static_cast<int64_t>(args.ids.size());
  GDN_RETURN_IF_ERROR(CheckTensor(kOp, "out", args.out, args.table->dtype(),
                                  {{"T", num_tokens}, {"hidden", args.table->cols()}}));
  if (num_tokens > 1 && args.out.stride(0) < args.table->cols()) {
    return InvalidArgument(StrCat(kOp, ": out has rows ", args.out.stride(0),
                                  " apart, want at least hidden=", args.table->cols()));
  }
  for (size_t t = 0; t < args.ids.size(); ++t) {
    if (args.ids[t] < 0 || args.ids[t] >= args.table->rows()) {
      return InvalidArgument(
          StrCat(kOp, ": ids[", t, "] is ", args.ids[t], ", want 0 to ", args.table->rows() - 1));
    }
  }
  return OkStatus();
}

// Bits are copied whatever they mean: kernels are named by the bytes they move.
const char* CpuId(const EmbeddingArgs& args) {
  return SizeOf(args.table->dtype()) == 2 ? "embedding_gather_b16__cpu"
                                          : "embedding_gather_b32__cpu";
}
const char* RefId(const EmbeddingArgs& args) {
  return SizeOf(args.table->dtype()) == 2 ? "embedding_gather_b16__ref"
                                          : "embedding_gather_b32__ref";
}
const char* VulkanId(const EmbeddingArgs& args) {
  return SizeOf(args.table->dtype()) == 2 ? "embedding_gather_b16__vulkan"
                                          : "embedding_gather_b32__vulkan";
}
const char* GpuId(const EmbeddingArgs& args) {
  return SizeOf(args.table->dtype()) == 2 ? "embedding_gather_b16__gpu"
                                          : "embedding_gather_b32__gpu";
}
const char* Supports(const EmbeddingArgs& /*args*/) { return nullptr; }

constexpr Impl<EmbeddingArgs> kTable[] = {
    {CpuId, KernelFamily::kCpu, Supports, EmbeddingCpu},
    {RefId, KernelFamily::kCpu, Supports, EmbeddingRef},
    {VulkanId, KernelFamily::kVulkan, Supports, IfBuilt(GDN_IF_VULKAN(EmbeddingVulkan))},
    {GpuId, KernelFamily::kGpu, Supports, IfBuilt(GDN_IF_GPU(EmbeddingGpu))},
};

}  // namespace

Status Embedding(const ExecContext& ctx, const EmbeddingArgs& args) {
  GDN_RETURN_IF_ERROR(Validate(args));
  if (args.ids.empty()) return OkStatus();
  return RunFirst<EmbeddingArgs>(kOp, kTable, ctx, args);
}

}  // namespace gdn
