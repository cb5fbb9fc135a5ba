// SPDX-License-Identifier: Apache-2.0
// The matrix of a linear layer (and of the embedding): opaque to everything but ops/linear and
// ops/embedding, so that packed panels and quantised blocks fit behind one type.
#pragma once

#include <cstdint>

#include "base/function_ref.h"
#include "base/status.h"
#include "base/thread_pool.h"
#include "tensor/storage.h"
#include "tensor/tensor.h"

namespace gdn {

enum class WeightFormat : uint8_t { kF32, kF16, kBf16 };

enum class WeightLayout : uint8_t {
  // [N, K], K innermost: as checkpoints store it. Read by the scalar reference kernels.
  kRowMajor,
  // Panels of kPanelRows output rows, one after another; inside a panel k is outermost and the 32
  // rows lie side by side in dwords. 16-bit formats pair k: a dword holds (k even: low half, k odd:
  // high half) of one row, so that widening bf16 is one shift or one mask. f32: a dword is one k.
  // N is padded to a multiple of 32 and an odd K of a 16-bit format to an even one, with zeros.
  kPanel32,
};

class Weight {
 public:
  static constexpr int64_t kPanelRows = 32;

  Weight() = default;
  // A view of a contiguous row-major tensor [N, K] of floats that outlives the weight.
  static Weight View(const ConstTensor& rows);
  // A packed copy of source [N, K] (dtype f32, f16 or bf16; the format is the dtype). Work goes in
  // stripes of rows; after each, done(first_row, num_rows) says which rows of source are no longer
  // needed, so that the caller can drop their pages; stripes ascend and cover every row once.
  // Values are copied bit for bit. Rows of source may be strided. The copy lies in memory, which
  // the host can write. Errors: kInvalidArgument for a rank, an extent or a dtype that no weight
  // has; kOutOfMemory.
  static Result<Weight> Pack(const ConstTensor& source, ThreadPool& pool,
                             FunctionRef<void(int64_t first_row, int64_t num_rows)> done,
                             MemorySource& memory = HostMemory());
  // A row-major copy in the host's memory, of a weight that lies there. Errors: kOutOfMemory.
  Result<Weight> RowMajor() const;
  // The same matrix with its bytes in storage, on whatever device.
  Weight In(Storage storage) const;

  int64_t rows() const { return rows_; }  // N: outputs of the layer, tokens of an embedding
  int64_t cols() const { return cols_; }  // K: inputs
  WeightFormat format() const { return format_; }
  WeightLayout layout() const { return layout_; }
  DType dtype() const;
  const void* data() const { return data_; }
  size_t size_bytes() const;
  bool empty() const { return data_ == nullptr; }

 private:
  int64_t rows_ = 0;
  int64_t cols_ = 0;
  WeightFormat format_ = WeightFormat::kF32;
  WeightLayout layout_ = WeightLayout::kRowMajor;
  const void* data_ = nullptr;
  Storage owner_;  // empty for a view
};

}  // namespace gdn
