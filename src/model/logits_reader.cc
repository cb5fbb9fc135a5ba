// SPDX-License-Identifier: Apache-2.0
#include "model/logits_reader.h"

#include <algorithm>

#include "backend/backend.h"
#include "ops/argmax/argmax.h"

namespace gdn {

Status LogitsReader::Plan(const RunLimits& limits, int64_t vocab_size) {
  const auto elements = static_cast<size_t>(limits.max_logit_rows * vocab_size);
  GDN_ASSIGN_OR_RETURN(logits_, Storage::Allocate(elements * sizeof(float), "logits"));
  largest_.reserve(static_cast<size_t>(limits.max_logit_rows));
  return OkStatus();
}

Result<ConstTensor> LogitsReader::Read(const ExecContext& exec, const Batch& batch,
                                       const ConstTensor& logits, const Tensor& largest) {
  const ConstTensor on_host(logits_.data(), DType::kF32, logits.shape);
  largest_.clear();
  if (batch.logit_rows.empty()) {
    GDN_RETURN_IF_ERROR(exec.backend->Finish());
    return on_host;
  }
  const bool finds_largest = std::ranges::any_of(batch.wants_largest, [](uint8_t w) { return w; });
  if (finds_largest) {
    GDN_RETURN_IF_ERROR(Argmax(exec, {logits, largest}));
    largest_.resize(batch.logit_rows.size());
    GDN_RETURN_IF_ERROR(
        exec.backend->Read(largest_.data(), largest.data, largest_.size() * sizeof(int32_t)));
  }
  GDN_RETURN_IF_ERROR(ReadRows(
      *exec.backend, finds_largest ? batch.wants_largest : std::span<const uint8_t>(), logits));
  return on_host;
}

// Runs of rows at a time.
Status LogitsReader::ReadRows(Backend& backend, std::span<const uint8_t> left_out,
                              const ConstTensor& logits) {
  const auto row_bytes = static_cast<size_t>(logits.dim(1)) * sizeof(float);
  const auto num_rows = static_cast<size_t>(logits.dim(0));
  const auto* on_device = static_cast<const std::byte*>(logits.data);
  for (size_t row = 0; row < num_rows;) {
    size_t end = row;
    while (end < num_rows && (left_out.empty() || left_out[end] == 0)) ++end;
    if (end > row) {
      GDN_RETURN_IF_ERROR(backend.Read(logits_.data() + row * row_bytes,
                                       on_device + row * row_bytes, (end - row) * row_bytes));
    }
    row = end + 1;
  }
  return OkStatus();
}

}  // namespace gdn
