// SPDX-License-Identifier: Apache-2.0
// Element types of tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "base/check.h"
#include "base/half.h"

namespace gdn {

enum class DType : uint8_t { kF32, kF16, kBf16, kI32 };

constexpr size_t SizeOf(DType dtype) {
  return dtype == DType::kF32 || dtype == DType::kI32 ? 4 : 2;
}

constexpr const char* Name(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return "f32";
    case DType::kF16:
      return "f16";
    case DType::kBf16:
      return "bf16";
    case DType::kI32:
      return "i32";
  }
  return "?";
}

template <class T>
constexpr DType DTypeOf() {
  if constexpr (std::is_same_v<T, float>) {
    return DType::kF32;
  } else if constexpr (std::is_same_v<T, F16>) {
    return DType::kF16;
  } else if constexpr (std::is_same_v<T, Bf16>) {
    return DType::kBf16;
  } else {
    static_assert(std::is_same_v<T, int32_t>);
    return DType::kI32;
  }
}

// Calls f(T{}) with the C++ type of a float dtype: float, F16 or Bf16.
template <class F>
decltype(auto) DispatchFloat(DType dtype, F&& f) {
  switch (dtype) {
    case DType::kF16:
      return f(F16{});
    case DType::kBf16:
      return f(Bf16{});
    default:
      GDN_CHECK(dtype == DType::kF32);
      return f(float{});
  }
}

constexpr bool IsFloat(DType dtype) { return dtype != DType::kI32; }

}  // namespace gdn
