// SPDX-License-Identifier: Apache-2.0
// Where the elements of a Weight lie, for the kernels of ops/linear and ops/embedding.
#pragma once

#include <algorithm>
#include <cstddef>
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

// An output's sum, on every device: k is cut into at most 8 slices of this length, which K alone
// decides. A slice is summed with k ascending into one accumulator, by fma; the slices are added in
// order, from 0. Eight invocations of a GPU can so share an output.
constexpr int64_t SliceCols(int64_t cols) { return (cols + 255) / 256 * 32; }

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

// Rows of a weight whose bytes lie side by side.
struct WeightPart {
  int64_t first_row = 0;
  int64_t num_rows = 0;
  const void* data = nullptr;
  size_t bytes = 0;
};

// Calls body(WeightPart) over all rows in order, for devices that bound the bytes of one binding. A
// part has a multiple of 32 rows, but for the last, and at most max_bytes, but for a part of 32
// rows that alone has more.
template <class Body>
void ForEachPart(const Weight& weight, uint64_t max_bytes, const Body& body) {
  const int64_t panel_bytes =
      weight.layout() == WeightLayout::kPanel32
          ? PanelDwords(weight.cols(), weight.dtype()) * 4
          : Weight::kPanelRows * weight.cols() * static_cast<int64_t>(SizeOf(weight.dtype()));
  // No axis of a dispatch over panels is longer than every device allows.
  constexpr uint64_t kMaxPanels = 32768;
  const auto panels = static_cast<int64_t>(
      std::clamp<uint64_t>(max_bytes / static_cast<uint64_t>(panel_bytes), 1, kMaxPanels));
  for (int64_t panel = 0; panel < NumPanels(weight.rows()); panel += panels) {
    const int64_t row = panel * Weight::kPanelRows;
    const int64_t offset = panel * panel_bytes;
    body(
        WeightPart{.first_row = row,
                   .num_rows = std::min(panels * Weight::kPanelRows, weight.rows() - row),
                   .data = static_cast<const std::byte*>(weight.data()) + offset,
                   .bytes = static_cast<size_t>(std::min(
                       panels * panel_bytes, static_cast<int64_t>(weight.size_bytes()) - offset))});
  }
}

}  // namespace gdn
