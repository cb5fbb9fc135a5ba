// SPDX-License-Identifier: Apache-2.0
#include "parity/gates.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "ops/gated_delta_rule/gated_delta_rule.h"

namespace gdn {
namespace {

constexpr double kRouterWeights = 2e-7;
constexpr int64_t kPackedStateElements = 16;
constexpr double kExactStateMaxAbs = 1e-7;
constexpr double kLeastDifferShare = 1e-3;
constexpr double kLeastNmse = 1e-9;
constexpr double kTimesNoise = 4;
// A tenth of the recurrence's distance.
constexpr double kWholeNmseBf16 = 1e-6;
constexpr double kWholeNmseF16 = 2e-8;
constexpr double kF32Nmse = 1e-12;
constexpr double kF32OfLargest = 1e-6;
constexpr double kWeakLogDecay = -0.02;

constexpr Gate kEqual{.max_differ = 0};
constexpr Gate kF32Gate{.max_abs_of_largest = kF32OfLargest, .max_nmse = kF32Nmse};

bool Is16Bit(DType dtype) { return dtype == DType::kBf16 || dtype == DType::kF16; }

Gate NoiseGate(const Noise& noise) {
  return {.max_differ_share = std::max(kLeastDifferShare, kTimesNoise * noise.differ),
          .max_nmse = std::max(kLeastNmse, kTimesNoise * noise.nmse)};
}

// out, state_out: of the whole kernel or, under other names, of the stages that make them.
bool IsStateOfPrefill(const GoldenCase& golden, const std::string& output) {
  return (golden.op() == "gdn_prefill" || golden.op() == "chunk_fwd_h") &&
         (output == "state_out" || output == "chunk_fwd_h");
}

void AppendBound(std::string& out, const char* name, double bound, const char* format) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, bound);
  if (!out.empty()) out += ", ";
  out += std::string(name) + " <= " + text.data();
}

}  // namespace

bool Gate::Passes(const Distance& d) const {
  // Written so that a NaN fails.
  const auto within = [](const auto& bound, auto value) { return !bound || value <= *bound; };
  return within(max_differ, d.differ) && within(max_ulps, d.max_ulps) &&
         (!max_differ_share ||
          static_cast<double>(d.differ) <= *max_differ_share * static_cast<double>(d.elements)) &&
         within(max_abs, d.max_abs) &&
         (!max_abs_of_largest || d.max_abs <= *max_abs_of_largest * d.largest) &&
         within(max_nmse, d.nmse);
}

std::string Gate::ToString() const {
  std::string out = by_stage ? "by its stages" : "";
  if (max_differ) AppendBound(out, "differ", static_cast<double>(*max_differ), "%.0f");
  if (max_differ_share) AppendBound(out, "differ", *max_differ_share * 100, "%.3g%%");
  if (max_ulps) AppendBound(out, "ulps", static_cast<double>(*max_ulps), "%.0f");
  if (max_abs) AppendBound(out, "max abs", *max_abs, "%.3g");
  if (max_abs_of_largest) AppendBound(out, "max abs", *max_abs_of_largest, "%.3g of the largest");
  if (max_nmse) AppendBound(out, "nmse", *max_nmse, "%.3g");
  return out;
}

Gate GateFor(const GoldenCase& golden, const std::string& output, const std::string& noise_key,
             const Distance& distance, bool by_stage) {
  if (by_stage) {
    const bool is_f16 = golden.Tensor("v").value().dtype == DType::kF16;
    return {.max_nmse = std::max(is_f16 ? kWholeNmseF16 : kWholeNmseBf16,
                                 kTimesNoise * golden.noise(noise_key).nmse),
            .by_stage = true};
  }
  const std::string& op = golden.op();
  const bool is_16bit = Is16Bit(distance.dtype);
  if (distance.dtype == DType::kI32) return kEqual;
  if (output == "topk_weights") return {.max_abs = kRouterWeights};
  if (output == "conv_state_out" || output == "residual_out" || output == "cum_log_decay") {
    return kEqual;
  }
  if (op == "gdn_packed_decode_bf16" && is_16bit) {
    return output == "state_out" ? Gate{.max_differ = kPackedStateElements, .max_ulps = 1} : kEqual;
  }
  if (is_16bit && (op == "silu_and_mul" || op == "rmsnorm" || op == "moe_block")) return kEqual;
  if (IsStateOfPrefill(golden, output) && golden.has_noise()) {
    return {.max_nmse = std::max(kLeastNmse, kTimesNoise * golden.noise(noise_key).nmse)};
  }
  const bool is_chunk_form =
      op == "gdn_prefill" && golden.Has("v") && golden.Tensor("v").value().dtype != DType::kF32;
  if (is_chunk_form && !golden.has_noise()) {
    return output == "state_out" ? Gate{.max_abs = kExactStateMaxAbs} : kEqual;
  }
  return is_16bit ? NoiseGate(golden.noise(noise_key)) : kF32Gate;
}

Result<bool> IsGatedByStage(const GoldenCase& golden) {
  if (golden.op() != "gdn_prefill" || !golden.has_noise()) return false;
  GDN_ASSIGN_OR_RETURN(const ConstTensor v, golden.Tensor("v", 3));
  if (v.dtype == DType::kF32) return false;
  GDN_ASSIGN_OR_RETURN(const ConstTensor log_decay, golden.Tensor("g", 2));
  GDN_ASSIGN_OR_RETURN(const std::vector<int32_t> cu_seqlens, golden.Ints("query_start_loc"));
  for (size_t n = 0; n + 1 < cu_seqlens.size(); ++n) {
    const int64_t length = cu_seqlens[n + 1] - int64_t{cu_seqlens[n]};
    if (length <= kChunkSize) continue;
    for (int64_t head = 0; head < log_decay.dim(1); ++head) {
      double sum = 0;
      for (int64_t t = cu_seqlens[n]; t < cu_seqlens[n + 1]; ++t) {
        sum += log_decay.Row<float>(t)[head];
      }
      if (sum / static_cast<double>(length) > kWeakLogDecay) return true;
    }
  }
  return false;
}

}  // namespace gdn
