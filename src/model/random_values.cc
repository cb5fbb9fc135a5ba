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

// A tensor as rows of its last axes.
struct Rows {
  int64_t count;
  size_t columns;

  explicit Rows(const Shape& shape)
      : count(shape.rank() == 0 ? 1 : shape[0]),
        columns(count == 0 ? 0 : static_cast<size_t>(shape.NumElements() / count)) {}
};

// Draws what count rows take, in their order.
template <class T>
void FillRows(Rng& rng, const ValueDistribution& distribution, size_t count, size_t columns,
              T* out) {
  for (size_t r = 0; r < count; ++r) {
    float std = distribution.std;
    if (distribution.heavy_rows) {
      std *= static_cast<float>(1 / std::sqrt(0.02 + 0.98 * rng.NextUniform()));
    }
    FillRow<T>(rng, distribution.mean, std, {out + r * columns, columns});
  }
}

template <class T>
Status Generate(Rng& rng, const ValueDistribution& distribution, const Shape& shape,
                FunctionRef<Status(std::span<const std::byte>)> sink) {
  constexpr size_t kPieceElements = (size_t{1} << 20) / sizeof(T);
  if (shape.NumElements() == 0) return OkStatus();
  const Rows rows(shape);
  const auto rows_at_once =
      static_cast<int64_t>(std::max<size_t>(1, kPieceElements / rows.columns));
  std::vector<T> piece(static_cast<size_t>(std::min(rows.count, rows_at_once)) * rows.columns);
  for (int64_t first = 0; first < rows.count; first += rows_at_once) {
    const auto count = static_cast<size_t>(std::min(rows_at_once, rows.count - first));
    FillRows<T>(rng, distribution, count, rows.columns, piece.data());
    GDN_RETURN_IF_ERROR(sink(std::as_bytes(std::span(piece).first(count * rows.columns))));
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

void FillTensor(Rng rng, const ValueDistribution& distribution, ThreadPool& pool,
                const Tensor& to) {
  GDN_CHECK(to.IsContiguous());
  if (to.shape.NumElements() == 0) return;
  constexpr size_t kTaskElements = size_t{1} << 16;
  const Rows rows(to.shape);
  const auto task_rows = static_cast<int64_t>(std::max<size_t>(1, kTaskElements / rows.columns));
  const uint64_t draws_a_row = rows.columns + (distribution.heavy_rows ? 1 : 0);
  pool.Run((rows.count + task_rows - 1) / task_rows, [&](int64_t task, int) {
    const int64_t first = task * task_rows;
    Rng own = rng;
    own.Skip(static_cast<uint64_t>(first) * draws_a_row);
    DispatchFloat(to.dtype, [&]<class T>(T) {
      FillRows<T>(own, distribution, static_cast<size_t>(std::min(task_rows, rows.count - first)),
                  rows.columns, to.As<T>() + static_cast<size_t>(first) * rows.columns);
    });
  });
}

}  // namespace gdn
