// SPDX-License-Identifier: Apache-2.0
#include "ops/linear/linear_gpu.h"

#include "backend/gpu/batch.h"
#include "backend/gpu/gpu_backend.h"
#include "ops/linear/linear_kernels.h"
#include "ops/linear/weight_layout.h"

GDN_GPU_KERNEL(linear_few_rows)
GDN_GPU_KERNEL(linear_tiles)

namespace gdn {
namespace {

// Up to here the weights are read again for every 16 rows, from a cache, and every panel is a
// block.
constexpr int64_t kFewRows = 32;
constexpr const char* kVendorsId = "linear__vendor";

void Run(const ExecContext& ctx, const ConstTensor& x, const Weight& weight, const Weight* up,
         const Tensor& out, gpu::LinearOut form) {
  const int64_t num_rows = x.dim(0);
  if (num_rows == 0) return;
  const DType dtype = weight.dtype();
  const bool has_pairs =
      SizeOf(x.dtype) == 2 && x.stride(0) % 2 == 0 && reinterpret_cast<uintptr_t>(x.data) % 4 == 0;
  const gpu::LinearParams params = {
      .x = gpu::RowsOf(x),
      .weight = weight.data(),
      .up = up == nullptr ? nullptr : up->data(),
      .out = gpu::RowsOf(out),
      .num_rows = static_cast<uint32_t>(num_rows),
      .num_outputs = static_cast<uint32_t>(weight.rows()),
      .num_inputs = static_cast<uint32_t>(x.dim(1)),
      .slice_k = static_cast<uint32_t>(SliceCols(x.dim(1))),
      .is_row_major = weight.layout() == WeightLayout::kRowMajor ? 1U : 0U,
      .x_has_pairs = has_pairs ? 1U : 0U,
      .form = form};
  const bool is_gated = up != nullptr;
  const bool is_few = num_rows <= kFewRows;
  const int64_t height = is_few ? gpu::kLinearFewRows : gpu::kLinearTileRows;
  const int64_t width = is_few || is_gated ? gpu::kLinearPanel : gpu::kLinearTileColumns;
  const auto shared_bytes =
      is_few ? gpu::LinearFewSharedBytes(is_gated)
             : gpu::LinearTilesSharedBytes(static_cast<uint32_t>(SizeOf(dtype)), is_gated);
  gpu::StreamOf(ctx).Launch(is_few ? gpu::kernels::linear_few_rows : gpu::kernels::linear_tiles,
                            gpu::DTypeInstance(dtype) + (is_gated ? 3 : 0),
                            {.x = static_cast<uint32_t>((weight.rows() + width - 1) / width),
                             .y = static_cast<uint32_t>((num_rows + height - 1) / height)},
                            gpu::kBlockThreads, shared_bytes, params);
}

// Whether the vendor's library is asked for and can: it knows no f32 results that are rounded to a
// dtype of 16 bits, which are those of the head.
bool IsVendors(const ExecContext& ctx, const Weight& weight, gpu::LinearOut form) {
  return gpu::StreamOf(ctx).has_gemm() && weight.layout() == WeightLayout::kRowMajor &&
         (form != gpu::LinearOut::kRoundedF32 || weight.dtype() == DType::kF32);
}

void Multiply(const ExecContext& ctx, const ConstTensor& x, const Weight& weight,
              const Tensor& out) {
  if (x.dim(0) == 0) return;
  if (ctx.kernel_log != nullptr) ctx.kernel_log->Record("linear", kVendorsId);
  gpu::StreamOf(ctx).Multiply({.x = x.data,
                               .x_stride = x.stride(0),
                               .weight = weight.data(),
                               .out = out.data,
                               .out_stride = out.stride(0),
                               .m = x.dim(0),
                               .n = weight.rows(),
                               .k = weight.cols(),
                               .dtype = weight.dtype(),
                               .out_dtype = out.dtype});
}

}  // namespace

void LinearGpu(const ExecContext& ctx, const LinearArgs& args) {
  const auto form = args.out.dtype == args.weight->dtype() ? gpu::LinearOut::kElements
                    : args.round_to == DType::kF32         ? gpu::LinearOut::kF32
                                                           : gpu::LinearOut::kRoundedF32;
  if (IsVendors(ctx, *args.weight, form)) return Multiply(ctx, args.x, *args.weight, args.out);
  Run(ctx, args.x, *args.weight, nullptr, args.out, form);
}

void LinearSiluAndMulGpu(const ExecContext& ctx, const LinearSiluAndMulArgs& args) {
  Run(ctx, args.x, *args.gate, args.up, args.out, gpu::LinearOut::kElements);
}

}  // namespace gdn
