// SPDX-License-Identifier: Apache-2.0
#include "ops/common/rows.h"

#include <cstddef>

#include "base/str.h"
#include "ops/common/overlap.h"
#include "ops/common/validate.h"

namespace gdn {
namespace {

bool SameView(const ConstTensor& a, const ConstTensor& b) {
  if (a.data != b.data || a.dtype != b.dtype || !(a.shape == b.shape)) return false;
  for (int axis = 0; axis < a.shape.rank(); ++axis) {
    if (a.shape[axis] > 1 && a.stride(axis) != b.stride(axis)) return false;
  }
  return true;
}

// Both are matrices of one row stride, and in the period of that stride their rows lie apart.
bool RowsInterleave(const ConstTensor& a, const ConstTensor& b) {
  if (a.shape.rank() != 2 || b.shape.rank() != 2) return false;
  const auto size_a = static_cast<int64_t>(SizeOf(a.dtype));
  const auto size_b = static_cast<int64_t>(SizeOf(b.dtype));
  const int64_t period = a.stride(0) * size_a;
  if (period <= 0 || b.stride(0) * size_b != period) return false;
  const int64_t distance = static_cast<const char*>(b.data) - static_cast<const char*>(a.data);
  const int64_t offset = (distance % period + period) % period;
  return offset >= a.dim(1) * size_a && offset + b.dim(1) * size_b <= period;
}

Status CheckRowStride(const char* op, const char* name, const ConstTensor& x, int64_t min_stride) {
  if (x.dim(0) > 1 && x.stride(0) < min_stride) {
    return InvalidArgument(
        StrCat(op, ": ", name, " has row stride ", x.stride(0), ", want at least ", min_stride));
  }
  return OkStatus();
}

}  // namespace

Status CheckRows(const char* op, const char* name, const ConstTensor& x) {
  if (!IsFloat(x.dtype) || x.shape.rank() != 2 || x.dim(0) < 0 || x.dim(1) < 1) {
    return InvalidArgument(
        StrCat(op, ": ", name, " is ", Describe(x), ", want f32, f16 or bf16 [R, n >= 1]"));
  }
  GDN_RETURN_IF_ERROR(CheckTensor(op, name, x, x.dtype, {{"R", x.dim(0)}, {"n", x.dim(1)}}));
  return CheckRowStride(op, name, x, 0);
}

Status CheckRowsOut(const char* op, const char* name, const ConstTensor& out,
                    const ConstTensor& x) {
  GDN_RETURN_IF_ERROR(CheckTensor(op, name, out, x.dtype, {{"R", x.dim(0)}, {"n", x.dim(1)}}));
  return CheckRowStride(op, name, out, out.dim(1));
}

Status CheckAlias(const char* op, const char* out_name, const ConstTensor& out, const char* in_name,
                  const ConstTensor& in, Alias allowed) {
  if (allowed == Alias::kExact && SameView(out, in)) return OkStatus();
  const auto [out_first, out_last] = ByteRange(out);
  const auto [in_first, in_last] = ByteRange(in);
  if (out_first >= in_last || in_first >= out_last || RowsInterleave(out, in)) return OkStatus();
  return InvalidArgument(StrCat(
      op, ": ", out_name, " overlaps ", in_name,
      allowed == Alias::kExact ? ", want it exactly equal or apart" : ", want memory of its own"));
}

}  // namespace gdn
