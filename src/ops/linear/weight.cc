// SPDX-License-Identifier: Apache-2.0
#include "ops/linear/weight.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/str.h"
#include "ops/linear/weight_layout.h"

namespace gdn {
namespace {

// Source bytes between two calls of done: large enough to keep every thread busy, small enough that
// source and copy are never both in memory as a whole.
constexpr int64_t kStripeBytes = int64_t{4} << 20;
// Dwords of a row that one task moves.
constexpr int64_t kChunkDwords = 2048;
// Dwords of a row that are read at once, one cache line: 32 rows at a stride of a multiple of 4 KiB
// share a set of the first-level cache, which could not hold their lines until the next visit.
constexpr int64_t kLineDwords = 16;

WeightFormat FormatOf(DType dtype) {
  switch (dtype) {
    case DType::kF16:
      return WeightFormat::kF16;
    case DType::kBf16:
      return WeightFormat::kBf16;
    default:
      GDN_CHECK(dtype == DType::kF32);
      return WeightFormat::kF32;
  }
}

// Dwords [first, first + count) of up to 32 rows, as lines of the panel. row_bytes is what a row
// holds: the last dword of an odd row of 16-bit values is half a row's end, half zero.
void PackChunk(const char* source, int64_t stride_bytes, int64_t num_rows, int64_t row_bytes,
               int64_t first, int64_t count, uint32_t* panel) {
  for (int64_t line = first; line < first + count; line += kLineDwords) {
    const int64_t end = std::min(line + kLineDwords, first + count);
    const int64_t whole = std::min(end, row_bytes / 4);
    for (int64_t row = 0; row < num_rows; ++row) {
      const char* from = source + row * stride_bytes;
      uint32_t* to = panel + row;
      for (int64_t i = line; i < whole; ++i) {
        std::memcpy(to + i * Weight::kPanelRows, from + i * 4, 4);
      }
      if (whole < end) {
        uint32_t last = 0;
        std::memcpy(&last, from + whole * 4, 2);
        to[whole * Weight::kPanelRows] = last;
      }
    }
  }
}

}  // namespace

DType Weight::dtype() const {
  switch (format_) {
    case WeightFormat::kF16:
      return DType::kF16;
    case WeightFormat::kBf16:
      return DType::kBf16;
    case WeightFormat::kF32:
      break;
  }
  return DType::kF32;
}

size_t Weight::size_bytes() const {
  const int64_t dwords = NumPanels(rows_) * PanelDwords(cols_, dtype());
  return layout_ == WeightLayout::kPanel32 ? static_cast<size_t>(dwords) * 4
                                           : static_cast<size_t>(rows_ * cols_) * SizeOf(dtype());
}

Weight Weight::View(const ConstTensor& rows) {
  GDN_CHECK(rows.shape.rank() == 2 && IsFloat(rows.dtype) && rows.IsContiguous());
  Weight out;
  out.rows_ = rows.dim(0);
  out.cols_ = rows.dim(1);
  out.format_ = FormatOf(rows.dtype);
  out.data_ = rows.data;
  return out;
}

Weight Weight::In(Storage storage) const {
  GDN_CHECK(storage.size_bytes() >= size_bytes());
  Weight out;
  out.rows_ = rows_;
  out.cols_ = cols_;
  out.format_ = format_;
  out.layout_ = layout_;
  out.owner_ = std::move(storage);
  out.data_ = out.owner_.data();
  return out;
}

Result<Weight> Weight::RowMajor() const {
  Weight out;
  out.rows_ = rows_;
  out.cols_ = cols_;
  out.format_ = format_;
  GDN_ASSIGN_OR_RETURN(out.owner_, Storage::Allocate(out.size_bytes(), "a row-major weight"));
  out.data_ = out.owner_.data();
  DispatchFloat(dtype(), [&]<class T>(T /*type*/) {
    auto* to = reinterpret_cast<T*>(out.owner_.data());
    for (int64_t row = 0; row < rows_; ++row) {
      for (int64_t col = 0; col < cols_; ++col) *to++ = WeightAt<T>(*this, row, col);
    }
  });
  return out;
}

Result<Weight> Weight::Pack(const ConstTensor& source, ThreadPool& pool,
                            FunctionRef<void(int64_t first_row, int64_t num_rows)> done,
                            MemorySource& memory) {
  if (source.shape.rank() != 2 || !IsFloat(source.dtype) || source.empty() || source.dim(0) < 1 ||
      source.dim(1) < 1 || (source.dim(1) > 1 && source.stride(1) != 1)) {
    return InvalidArgument(StrCat("weight: the matrix is ", Describe(source),
                                  ", want rows [N, K] of f32, f16 or bf16, N and K at least 1"));
  }
  Weight out;
  out.rows_ = source.dim(0);
  out.cols_ = source.dim(1);
  out.format_ = FormatOf(source.dtype);
  out.layout_ = WeightLayout::kPanel32;
  GDN_ASSIGN_OR_RETURN(out.owner_, memory.Allocate(out.size_bytes(), "a packed weight"));
  out.data_ = out.owner_.data();

  const auto element_bytes = static_cast<int64_t>(SizeOf(source.dtype));
  const int64_t row_bytes = out.cols_ * element_bytes;
  const int64_t stride_bytes = source.stride(0) * element_bytes;
  const int64_t panel_dwords = PanelDwords(out.cols_, source.dtype);
  const int64_t row_dwords = panel_dwords / kPanelRows;
  const int64_t chunks = (row_dwords + kChunkDwords - 1) / kChunkDwords;
  const int64_t panels = NumPanels(out.rows_);
  const int64_t stripe = std::max<int64_t>(1, kStripeBytes / (row_bytes * kPanelRows));
  auto* packed = reinterpret_cast<uint32_t*>(out.owner_.data());
  for (int64_t first = 0; first < panels; first += stripe) {
    const int64_t count = std::min(stripe, panels - first);
    pool.Run(count * chunks, [&](int64_t task, int) {
      const int64_t panel = first + task / chunks;
      const int64_t dword = task % chunks * kChunkDwords;
      const int64_t row = panel * kPanelRows;
      PackChunk(static_cast<const char*>(source.data) + row * stride_bytes, stride_bytes,
                std::min(kPanelRows, out.rows_ - row), row_bytes, dword,
                std::min(kChunkDwords, row_dwords - dword), packed + panel * panel_dwords);
    });
    const int64_t row = first * kPanelRows;
    done(row, std::min(count * kPanelRows, out.rows_ - row));
  }
  return out;
}

}  // namespace gdn
