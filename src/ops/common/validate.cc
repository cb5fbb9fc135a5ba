// SPDX-License-Identifier: Apache-2.0
#include "ops/common/validate.h"

#include <algorithm>
#include <string>

#include "base/str.h"

namespace gdn {
namespace {

bool HasShape(const ConstTensor& tensor, std::initializer_list<NamedDim> dims) {
  if (tensor.shape.rank() != static_cast<int>(dims.size())) return false;
  int axis = 0;
  return std::ranges::all_of(dims,
                             [&](const NamedDim& dim) { return tensor.shape[axis++] == dim.size; });
}

std::string Want(DType dtype, std::initializer_list<NamedDim> dims) {
  std::string out = StrCat(Name(dtype), " [");
  const char* separator = "";
  for (const NamedDim& dim : dims) {
    StrAppend(out, StrCat(separator, dim.name, "=", dim.size));
    separator = ", ";
  }
  return out + "]";
}

}  // namespace

Status CheckTensor(const char* op, const char* name, const ConstTensor& tensor, DType dtype,
                   std::initializer_list<NamedDim> dims) {
  if (tensor.dtype != dtype || !HasShape(tensor, dims)) {
    return InvalidArgument(
        StrCat(op, ": ", name, " is ", Describe(tensor), ", want ", Want(dtype, dims)));
  }
  if (tensor.empty() && tensor.shape.NumElements() != 0) {
    return InvalidArgument(StrCat(op, ": ", name, " has no data, want ", Want(dtype, dims)));
  }
  if (tensor.shape.rank() > 0 && tensor.shape[-1] > 1 && tensor.stride(-1) != 1) {
    return InvalidArgument(
        StrCat(op, ": ", name, " has stride ", tensor.stride(-1), " on its last axis, want 1"));
  }
  return OkStatus();
}

Status CheckContiguous(const char* op, const char* name, const ConstTensor& tensor, DType dtype,
                       std::initializer_list<NamedDim> dims) {
  GDN_RETURN_IF_ERROR(CheckTensor(op, name, tensor, dtype, dims));
  if (!tensor.IsContiguous()) {
    return InvalidArgument(StrCat(op, ": ", name, " is strided, want it contiguous"));
  }
  return OkStatus();
}

Status CheckCuSeqlens(const char* op, std::span<const int32_t> cu_seqlens, int64_t num_tokens) {
  if (cu_seqlens.empty() || cu_seqlens.front() != 0) {
    return InvalidArgument(StrCat(op, ": cu_seqlens must start with 0"));
  }
  for (size_t n = 1; n < cu_seqlens.size(); ++n) {
    if (cu_seqlens[n] < cu_seqlens[n - 1]) {
      return InvalidArgument(StrCat(op, ": cu_seqlens[", n, "] is ", cu_seqlens[n],
                                    ", want at least ", cu_seqlens[n - 1]));
    }
  }
  if (cu_seqlens.back() != num_tokens) {
    return InvalidArgument(
        StrCat(op, ": cu_seqlens ends at ", cu_seqlens.back(), ", want T=", num_tokens));
  }
  return OkStatus();
}

Status CheckStateSlots(const char* op, std::span<const int32_t> state_slots, int64_t num_seqs,
                       int64_t num_slots) {
  if (static_cast<int64_t>(state_slots.size()) != num_seqs) {
    return InvalidArgument(
        StrCat(op, ": state_slots has ", state_slots.size(), " entries, want N=", num_seqs));
  }
  for (size_t n = 0; n < state_slots.size(); ++n) {
    const int32_t slot = state_slots[n];
    if (slot >= num_slots) {
      return InvalidArgument(
          StrCat(op, ": state_slots[", n, "] is ", slot, ", want below ", num_slots));
    }
    if (slot > 0 && std::find(state_slots.begin(), state_slots.begin() + static_cast<long>(n),
                              slot) != state_slots.begin() + static_cast<long>(n)) {
      return InvalidArgument(StrCat(op, ": state_slots[", n, "] repeats slot ", slot));
    }
  }
  return OkStatus();
}

}  // namespace gdn
