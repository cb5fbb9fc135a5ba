// SPDX-License-Identifier: Apache-2.0
// Checks that op entries share. Each answers with one line: "op: beta is [7, 4], want [T=7, HV=8]".
#pragma once

#include <initializer_list>
#include <span>
#include <string_view>

#include "base/status.h"
#include "tensor/tensor.h"

namespace gdn {

// One expected extent: its name in the op's contract and its value.
struct NamedDim {
  const char* name;
  int64_t size;
};

// The tensor has data (or no elements), this dtype, this shape, and elements of the last axis
// side by side. Outer strides may be anything.
Status CheckTensor(const char* op, const char* name, const ConstTensor& tensor, DType dtype,
                   std::initializer_list<NamedDim> dims);

// As CheckTensor, and contiguous as a whole.
Status CheckContiguous(const char* op, const char* name, const ConstTensor& tensor, DType dtype,
                       std::initializer_list<NamedDim> dims);

// cu_seqlens [N+1] starts at 0, never falls and ends at num_tokens. Empty sequences are legal.
Status CheckCuSeqlens(const char* op, std::span<const int32_t> cu_seqlens, int64_t num_tokens);

// state_slots [N]: below num_slots; a slot <= 0 is null; no slot > 0 twice.
Status CheckStateSlots(const char* op, std::span<const int32_t> state_slots, int64_t num_seqs,
                       int64_t num_slots);

}  // namespace gdn
