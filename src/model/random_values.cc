// SPDX-License-Identifier: Apache-2.0
#include "model/random_values.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace gdn {
namespace {

// Variance of a sum of four uniform 16-bit integers: 4 (65536^2 - 1) / 12.
constexpr double kFieldSumVariance = (0x1p32 - 1) / 3;
constexpr int32_t kFieldSumMean = 2 * 65535;

template <class T>
void FillRow(Rng& rng, float mean, float std, std::span<T> row) {
  const auto scale = static_cast<float>(static_cast<double>(std) / std::sqrt(kFieldSumVariance));
  for (T& value : row) {
    const uint64_t bits = rng.NextU64();
    const auto sum = static_cast<int32_t>((bits & 0xFFFF) + ((bits >> 16) & 0xFFFF) +
                                          ((bits >> 32) & 0xFFFF) + (bits >> 48));
    value = FromF32<T>(mean + static_cast<float>(sum - kFieldSumMean) * scale);
  }
}

template <class T>
Status Generate(Rng& rng, const ValueDistribution& distribution, const Shape& shape,
                FunctionRef<Status(std::span<const std::byte>)> sink) {
  constexpr size_t kPieceElements = (size_t{1} << 20) / sizeof(T);
  if (shape.NumElements() == 0) return OkStatus();
  const int64_t rows = shape.rank() == 0 ? 1 : shape[0];
  const auto columns = static_cast<size_t>(shape.NumElements() / rows);
  const auto rows_at_once = static_cast<int64_t>(std::max<size_t>(1, kPieceElements / columns));
  std::vector<T> piece(static_cast<size_t>(std::min(rows, rows_at_once)) * columns);
  for (int64_t first = 0; first < rows; first += rows_at_once) {
    const auto count = static_cast<size_t>(std::min(rows_at_once, rows - first));
    for (size_t r = 0; r < count; ++r) {
      float std = distribution.std;
      if (distribution.heavy_rows) {
        std *= static_cast<float>(1 / std::sqrt(0.02 + 0.98 * rng.NextUniform()));
      }
      FillRow<T>(rng, distribution.mean, std, std::span(piece).subspan(r * columns, columns));
    }
    GDN_RETURN_IF_ERROR(sink(std::as_bytes(std::span(piece).first(count * columns))));
  }
  return OkStatus();
}

}  // namespace

Rng RngOfTensor(uint64_t seed, std::string_view name) {
  // FNV-1a (Fowler, Noll, Vo).
  uint64_t hash = 0xCBF29CE484222325;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  return Rng(Rng(seed).NextU64() ^ hash);
}

Status GenerateTensor(Rng rng, const ValueDistribution& distribution, DType dtype,
                      const Shape& shape, FunctionRef<Status(std::span<const std::byte>)> sink) {
  return DispatchFloat(dtype,
                       [&]<class T>(T) { return Generate<T>(rng, distribution, shape, sink); });
}

}  // namespace gdn
