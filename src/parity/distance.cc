// SPDX-License-Identifier: Apache-2.0
#include "parity/distance.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/half.h"

namespace gdn {
namespace {

double ElementAt(const ConstTensor& tensor, int64_t i) {
  if (tensor.dtype == DType::kI32) return tensor.As<int32_t>()[i];
  return DispatchFloat(tensor.dtype,
                       [&](auto t) -> double { return ToF32(tensor.As<decltype(t)>()[i]); });
}

bool HoldsOnlyBf16(const ConstTensor& tensor) {
  if (tensor.dtype != DType::kF32) return false;
  const auto* data = tensor.As<float>();
  return std::all_of(data, data + tensor.shape.NumElements(), [](float x) {
    return std::bit_cast<uint32_t>(RoundTo<Bf16>(x)) == std::bit_cast<uint32_t>(x);
  });
}

// The bits of x in dtype, as an integer that grows with the value.
int64_t OrderOf(double x, DType dtype) {
  const auto ordered = [](uint32_t bits, int width) {
    const uint32_t sign = 1U << (width - 1);
    return (bits & sign) != 0 ? -static_cast<int64_t>(bits & (sign - 1)) - 1
                              : static_cast<int64_t>(bits);
  };
  const auto as_f32 = static_cast<float>(x);
  switch (dtype) {
    case DType::kBf16:
      return ordered(FromF32<Bf16>(as_f32).bits, 16);
    case DType::kF16:
      return ordered(FromF32<F16>(as_f32).bits, 16);
    case DType::kF32:
      return ordered(std::bit_cast<uint32_t>(as_f32), 32);
    case DType::kI32:
      break;
  }
  return static_cast<int64_t>(x);
}

}  // namespace

Distance Compare(const ConstTensor& got, const ConstTensor& want, bool widened) {
  GDN_CHECK(got.shape == want.shape && got.IsContiguous() && want.IsContiguous());
  GDN_CHECK(IsFloat(got.dtype) == IsFloat(want.dtype));
  Distance out{.dtype = widened && HoldsOnlyBf16(want) ? DType::kBf16 : want.dtype};
  out.elements = want.shape.NumElements();
  double error = 0;
  double norm = 0;
  for (int64_t i = 0; i < out.elements; ++i) {
    const double x = ElementAt(got, i);
    const double y = ElementAt(want, i);
    const int64_t order = OrderOf(x, out.dtype);
    const int64_t wanted = OrderOf(y, out.dtype);
    if (order != wanted) ++out.differ;
    out.max_ulps = std::max(out.max_ulps, std::abs(order - wanted));
    out.largest = std::max(out.largest, std::abs(y));
    // Equal infinities are no distance, and NaN against NaN is none either.
    const bool same = x == y || (std::isnan(x) && std::isnan(y));
    double d = same ? 0 : std::abs(x - y);
    if (std::isnan(d)) d = std::numeric_limits<double>::infinity();
    out.max_abs = std::max(out.max_abs, d);
    error += d * d;
    norm += std::isfinite(y) ? y * y : 0;
  }
  out.nmse = error == 0 ? 0 : error / norm;  // infinite where the golden is all zeros
  return out;
}

}  // namespace gdn
