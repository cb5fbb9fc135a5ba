// SPDX-License-Identifier: Apache-2.0
// The operators of a linear-attention layer, with inputs that lie as the layer has them.
#include <algorithm>
#include <cmath>

#include "base/str.h"
#include "bench/op_case.h"
#include "ops/causal_conv1d/causal_conv1d.h"
#include "ops/gated_delta_rule/gated_delta_rule.h"
#include "ops/gdn_prep/gdn_prep.h"

namespace gdn {
namespace {

bool IsDecode(const OpDims& dims) { return dims.form == OpForm::kDecode; }

// Prompts of one length, or each token a sequence.
int64_t NumSequences(const OpDims& d) { return IsDecode(d) ? d.tokens : d.sequences; }

const char* FormName(OpForm form) {
  return form == OpForm::kDecode ? "decode" : form == OpForm::kRecurrent ? "recurrent" : "chunk";
}

std::string ShapeText(const OpDims& d, const char* form) {
  return StrCat(form, " ", Name(d.dtype), IsDecode(d) ? " N " : " T ", d.tokens, " H ", d.key_heads,
                " HV ", d.value_heads, " D ", d.head_dim,
                NumSequences(d) > 1 && !IsDecode(d) ? StrCat(" N ", NumSequences(d)) : "");
}

std::span<const int32_t> CuSeqlens(const OpDims& d, OpInputs& in) {
  return in.Range(0, NumSequences(d) + 1, d.tokens / NumSequences(d));
}

struct Heads {
  int64_t q_columns;
  int64_t channels;  // q | k | v of the convolution

  explicit Heads(const OpDims& d)
      : q_columns(d.key_heads * d.head_dim), channels(2 * q_columns + d.value_heads * d.head_dim) {}
};

}  // namespace

double GdnChunkFlops(int64_t tokens, int64_t k_dim, int64_t v_dim) {
  double flops = 0;
  const auto k = static_cast<double>(k_dim);
  const auto v = static_cast<double>(v_dim);
  for (int64_t first = 0; first < tokens; first += kChunkSize) {
    const auto c = static_cast<double>(std::min(kChunkSize, tokens - first));
    flops += 3 * 2 * c * k * v + c * c * (3 * k + 2 * v) + c * c * c / 3;
  }
  return flops;
}

double GdnRecurrentFlops(int64_t tokens, int64_t k_dim, int64_t v_dim) {
  return 7 * static_cast<double>(tokens) * static_cast<double>(k_dim * v_dim);
}

OpCase MakeGatedDeltaRuleCase(const OpDims& d, int num_threads, OpInputs& in) {
  const int64_t t = d.tokens;
  const int64_t n = NumSequences(d);
  const DType qk_dtype = IsDecode(d) ? DType::kF32 : d.dtype;
  const size_t state_bytes = static_cast<size_t>(n * d.value_heads * d.head_dim * d.head_dim) * 4;
  // A model comes back to a layer's states after all its other layers, with its weights between.
  const int64_t copies = IsDecode(d) ? in.NumCopies(state_bytes) : 1;
  const Heads heads(d);
  const Tensor conv = in.Random(d.dtype, {t, heads.channels});
  GatedDeltaRuleArgs args;
  args.q = in.UnitRows(qk_dtype, {t, d.key_heads, d.head_dim});
  args.k = in.UnitRows(qk_dtype, {t, d.key_heads, d.head_dim});
  args.v = conv.Columns(2 * heads.q_columns, d.value_heads * d.head_dim)
               .SplitLast(d.value_heads, d.head_dim);
  args.log_decay = in.Random(DType::kF32, {t, d.value_heads}, 0.03F, -0.12F);
  args.beta = in.Random(DType::kF32, {t, d.value_heads}, 0.14F, 0.5F);
  // The null slot lies in front, in a copy that is never used.
  args.state =
      in.RandomCopies(copies + 1, DType::kF32, {n, d.value_heads, d.head_dim, d.head_dim}, 0.1F);
  args.cu_seqlens = CuSeqlens(d, in);
  args.has_initial_state = in.Flags(static_cast<size_t>(n), true);
  args.scale = static_cast<float>(1 / std::sqrt(static_cast<double>(d.head_dim)));
  args.out = in.Zeros(d.dtype, {t, d.value_heads, d.head_dim});
  const std::span<const int32_t> slots = in.Range(n, copies * n);

  OpCase out;
  out.shape = ShapeText(d, FormName(d.form));
  const auto value_heads = static_cast<double>(d.value_heads);
  out.flops =
      value_heads * (d.form == OpForm::kChunk
                         ? static_cast<double>(n) * GdnChunkFlops(t / n, d.head_dim, d.head_dim)
                         : GdnRecurrentFlops(t, d.head_dim, d.head_dim));
  // q, k and v read, o written; decay and beta; the state read and written.
  out.bytes = BytesOf(2 * t * heads.q_columns, qk_dtype) +
              BytesOf(2 * t * d.value_heads * d.head_dim, d.dtype) +
              BytesOf(2 * t * d.value_heads, DType::kF32) + 2 * static_cast<double>(state_bytes);
  out.scratch_bytes = GatedDeltaRuleScratchBytes(d.head_dim, d.head_dim, num_threads);
  out.device_scratch_bytes =
      GatedDeltaRuleDeviceScratchBytes(d.dtype, d.value_heads, d.head_dim, d.head_dim, t);
  out.num_copies = copies;
  out.outputs = {args.out, args.state};
  out.run = [args, slots, n, form = d.form](const ExecContext& ctx, int64_t copy) {
    GatedDeltaRuleArgs call = args;
    call.state_slots = slots.subspan(static_cast<size_t>(copy * n), static_cast<size_t>(n));
    return form == OpForm::kChunk       ? GatedDeltaRuleChunk(ctx, call)
           : form == OpForm::kRecurrent ? GatedDeltaRuleBlocked(ctx, call)
                                        : GatedDeltaRuleRecurrent(ctx, call);
  };
  return out;
}

OpCase MakeGdnPrepCase(const OpDims& d, int /*num_threads*/, OpInputs& in) {
  const int64_t t = d.tokens;
  const DType qk_dtype = IsDecode(d) ? DType::kF32 : d.dtype;
  const Heads heads(d);
  const Tensor conv = in.Random(d.dtype, {t, heads.channels});
  GdnPrepArgs args;
  args.q = conv.Columns(0, heads.q_columns).SplitLast(d.key_heads, d.head_dim);
  args.k = conv.Columns(heads.q_columns, heads.q_columns).SplitLast(d.key_heads, d.head_dim);
  args.a = in.Random(d.dtype, {t, d.value_heads});
  args.b = in.Random(d.dtype, {t, d.value_heads});
  args.a_log = in.Random(DType::kF32, {d.value_heads}, 0.8F, 0.5F);
  args.dt_bias = in.Random(DType::kF32, {d.value_heads}, 1, -1);
  args.form = IsDecode(d) ? GdnForm::kDecode : GdnForm::kPrefill;
  args.q_out = in.Zeros(qk_dtype, {t, d.key_heads, d.head_dim});
  args.k_out = in.Zeros(qk_dtype, {t, d.key_heads, d.head_dim});
  args.log_decay = in.Zeros(DType::kF32, {t, d.value_heads});
  args.beta = in.Zeros(DType::kF32, {t, d.value_heads});

  OpCase out;
  out.shape = ShapeText(d, IsDecode(d) ? "decode" : "prefill");
  const int64_t qk = 2 * t * heads.q_columns;
  const int64_t gates = 2 * t * d.value_heads;
  // A square, its sum, the scaling of each element; some 5 functions a gate.
  out.flops = static_cast<double>(3 * qk + 5 * gates);
  out.bytes = BytesOf(qk + gates, d.dtype) + BytesOf(qk, qk_dtype) + BytesOf(gates, DType::kF32);
  out.outputs = {args.q_out, args.k_out, args.log_decay, args.beta};
  out.run = [args](const ExecContext& ctx, int64_t) { return GdnPrep(ctx, args); };
  return out;
}

OpCase MakeCausalConv1dCase(const OpDims& d, int /*num_threads*/, OpInputs& in) {
  const int64_t t = d.tokens;
  const int64_t n = NumSequences(d);
  const int64_t channels = Heads(d).channels;
  const int64_t taps = d.conv_kernel;
  CausalConv1dArgs args;
  args.x = in.Random(d.dtype, {t, channels});
  args.weight = in.Random(d.dtype, {channels, taps}, 0.5F);
  args.state = in.Random(d.dtype, {n + 1, taps - 1, channels});
  args.cu_seqlens = CuSeqlens(d, in);
  args.state_slots = in.Range(1, n);
  args.has_initial_state = in.Flags(static_cast<size_t>(n), true);
  args.out = in.Zeros(d.dtype, {t, channels});

  OpCase out;
  out.shape = StrCat(IsDecode(d) ? "decode " : "prefill ", Name(d.dtype),
                     IsDecode(d) ? " N " : " T ", t, " C ", channels, " taps ", taps);
  // A product and a sum a tap, and silu's 3; x read, out written, the state both, the taps read.
  out.flops = static_cast<double>(t * channels) * (2 * static_cast<double>(taps) + 3);
  out.bytes = BytesOf((2 * t + 2 * n * (taps - 1) + taps) * channels, d.dtype);
  out.outputs = {args.out, args.state};
  out.run = [args](const ExecContext& ctx, int64_t) { return CausalConv1d(ctx, args); };
  return out;
}

}  // namespace gdn
