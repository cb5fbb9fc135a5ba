// SPDX-License-Identifier: Apache-2.0
// Where the elements of a Weight lie, for the kernels of ops/linear and ops/embedding.
#pragma once

#include <cstdint>
#include <cstring>

#include "ops/linear/weight.h"

namespace gdn {

// Consecutive k of one row that share a dword of a panel.
constexpr int64_t KPerDword(DType dtype) { return 4 / static_cast<int64_t>(SizeOf(dtype)); }

constexpr int64_t NumPanels(int64_t rows) {
  return (rows + Weight::kPanelRows - 1) / Weight::kPanelRows;
}

// Dwords from one panel to the next.
constexpr int64_t PanelDwords(int64_t cols, DType dtype) {
  return (cols + KPerDword(dtype) - 1) / KPerDword(dtype) * Weight::kPanelRows;
}

// The dword that holds element (row, col) of a kPanel32 weight.
inline const uint32_t* PanelDword(const Weight& weight, int64_t row, int64_t col) {
  const DType dtype = weight.dtype();
  return static_cast<const uint32_t*>(weight.data()) +
         row / Weight::kPanelRows * PanelDwords(weight.cols(), dtype) +
         col / KPerDword(dtype) * Weight::kPanelRows + row % Weight::kPanelRows;
}

// Element (row, col) in either layout; T is the type of the weight's dtype.
template <class T>
T WeightAt(const Weight& weight, int64_t row, int64_t col) {
  if (weight.layout() == WeightLayout::kRowMajor) {
    return static_cast<const T*>(weight.data())[row * weight.cols() + col];
  }
  T value;
  const auto* dword = reinterpret_cast<const char*>(PanelDword(weight, row, col));
  std::memcpy(&value, dword + col % KPerDword(DTypeOf<T>()) * static_cast<int64_t>(sizeof(T)),
              sizeof(T));
  return value;
}

}  // namespace gdn
