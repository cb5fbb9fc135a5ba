// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "backend/vulkan/operands.h"
#include "backend/vulkan/vulkan_backend.h"
#include "ops/linear/linear_kernels.h"
#include "ops/linear/weight_layout.h"

GDN_VULKAN_SHADER(linear_few_rows_vulkan)
GDN_VULKAN_SHADER(linear_tiles_vulkan)

namespace gdn {
namespace {

// Up to here an invocation holds a sum of every row, and the weights are read once.
constexpr int64_t kFewRows = 8;
// Of x in one dispatch, so that no axis is longer than every device allows.
constexpr int64_t kMaxRows = int64_t{16} * 32768;

// As kOut of linear.glsl.
enum class OutForm : uint32_t { kElements, kRoundedF32, kF32 };

struct Product {
  ConstTensor x;
  const Weight* weight;
  const Weight* up;  // null: there is none
  Tensor out;
  OutForm form;
};

void DispatchPart(vulkan::Stream& stream, const Product& product, const WeightPart& part,
                  const void* up) {
  const int64_t num_rows = product.x.dim(0);
  const bool is_row_major = product.weight->layout() == WeightLayout::kRowMajor;
  const size_t weight_unit = is_row_major ? SizeOf(product.weight->dtype()) : 4;
  const int64_t num_inputs = product.x.dim(1);
  const struct {
    uint32_t num_rows, num_outputs, num_inputs, slice_k;
    vulkan::RowsAt x;
    uint32_t weight_base, up_base;
    vulkan::RowsAt out;
  } push = {.num_rows = static_cast<uint32_t>(num_rows),
            .num_outputs = static_cast<uint32_t>(part.num_rows),
            .num_inputs = static_cast<uint32_t>(num_inputs),
            .slice_k = static_cast<uint32_t>(SliceCols(num_inputs)),
            .x = {stream, product.x},
            .weight_base = stream.Base(part.data, weight_unit),
            .up_base = up == nullptr ? 0 : stream.Base(up, weight_unit),
            .out = {stream, product.out}};
  const std::array operands = {vulkan::Reads(product.x), vulkan::Operand{part.data, part.bytes},
                               vulkan::Operand{up, up == nullptr ? 0 : part.bytes},
                               vulkan::Writes(product.out)};
  const bool is_few = num_rows <= kFewRows;
  // Rows of an invocation: a power of two.
  uint32_t rows = 1;
  while (rows < (is_few ? 8 : 4) && rows * (is_few ? 1 : 16) < num_rows) rows *= 2;
  const std::array<uint32_t, 4> constants = {is_row_major ? 1U : 0U, up != nullptr ? 1U : 0U,
                                             static_cast<uint32_t>(product.form), rows};
  const int64_t cols = is_few || up != nullptr ? 32 : 64;
  const int64_t height = is_few ? rows : int64_t{16} * rows;
  const vulkan::Groups groups = {.x = static_cast<uint32_t>((part.num_rows + cols - 1) / cols),
                                 .y = static_cast<uint32_t>((num_rows + height - 1) / height)};
  stream.Dispatch(
      is_few ? vulkan::shaders::linear_few_rows_vulkan : vulkan::shaders::linear_tiles_vulkan,
      product.weight->dtype(), operands, push, constants, groups);
}

void Run(vulkan::Stream& stream, const Product& product) {
  const uint64_t max_bytes = vulkan::MaxOperandBytes(stream);
  const auto row_bytes = [](const ConstTensor& rows) {
    return static_cast<uint64_t>(std::max(rows.stride(0), rows.dim(1))) * SizeOf(rows.dtype);
  };
  const int64_t num_rows = product.x.dim(0);
  const auto step = static_cast<int64_t>(std::clamp<uint64_t>(
      max_bytes / std::max(row_bytes(product.x), row_bytes(product.out)), 1, kMaxRows));
  for (int64_t row = 0; row < num_rows; row += step) {
    const int64_t count = std::min(step, num_rows - row);
    ForEachPart(*product.weight, max_bytes, [&](const WeightPart& part) {
      Product rows = product;
      rows.x = product.x.Slice(row, count);
      rows.out = product.out.Slice(row, count).Columns(part.first_row, part.num_rows);
      const auto offset = static_cast<const std::byte*>(part.data) -
                          static_cast<const std::byte*>(product.weight->data());
      const void* up = product.up == nullptr
                           ? nullptr
                           : static_cast<const std::byte*>(product.up->data()) + offset;
      DispatchPart(stream, rows, part, up);
    });
  }
}

}  // namespace

void LinearVulkan(const ExecContext& ctx, const LinearArgs& args) {
  const OutForm form = args.out.dtype == args.weight->dtype() ? OutForm::kElements
                       : args.round_to == DType::kF32         ? OutForm::kF32
                                                              : OutForm::kRoundedF32;
  Run(vulkan::StreamOf(ctx), {args.x, args.weight, nullptr, args.out, form});
}

void LinearSiluAndMulVulkan(const ExecContext& ctx, const LinearSiluAndMulArgs& args) {
  Run(vulkan::StreamOf(ctx), {args.x, args.gate, args.up, args.out, OutForm::kElements});
}

}  // namespace gdn
