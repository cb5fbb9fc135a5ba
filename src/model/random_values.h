// SPDX-License-Identifier: Apache-2.0
// Random tensors for random checkpoints.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/function_ref.h"
#include "base/rng.h"
#include "base/status.h"
#include "base/thread_pool.h"
#include "tensor/tensor.h"

namespace gdn {

struct ValueDistribution {
  float mean = 0;
  float std = 1;
  bool heavy_rows = false;  // each row scaled by 1 / sqrt(u), u uniform in [0.02, 1)
};

// A stream of its own for each tensor, so that no order of writing matters.
Rng RngOfTensor(uint64_t seed, std::string_view name);

// Hands the bytes of a tensor of float dtype to sink, in order, in pieces of some 1 MiB or one
// row. Values are nearly normal: mean + std * z with z the centred and scaled sum of the four
// 16-bit fields of one 64-bit number (bounded by 3.47), integers until one last rounding, so
// that no libm decides the bits and a gigabyte takes seconds.
Status GenerateTensor(Rng rng, const ValueDistribution& distribution, DType dtype,
                      const Shape& shape, FunctionRef<Status(std::span<const std::byte>)> sink);

// The values of GenerateTensor, written to a contiguous tensor by all threads of the pool: the same
// for any number of them.
void FillTensor(Rng rng, const ValueDistribution& distribution, ThreadPool& pool, const Tensor& to);

}  // namespace gdn
