// SPDX-License-Identifier: Apache-2.0
#include "ops/causal_conv1d/causal_conv1d_ref.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/causal_conv1d/causal_conv1d_cpu.cc"
#include <hwy/foreach_target.h>

#include "ops/common/simd-inl.h"

#ifndef GDN_OPS_CAUSAL_CONV1D_SHARED_
#define GDN_OPS_CAUSAL_CONV1D_SHARED_
#include <algorithm>
#include <array>
#include <cstring>

namespace gdn {

// Channels of one task: the weights, widened and transposed, and the live rows fit in L1.
inline constexpr int64_t kConvChannels = 256;
inline constexpr int64_t kConvTokens = 64;

// A block of the output. Blocks cut sequences anywhere but inside their first Kc-1 tokens: those
// read the state, and whoever computes them writes it afterwards.
struct ConvTask {
  int64_t first_token, last_token;
  int64_t first_channel, num_channels;
};

}  // namespace gdn
#endif

HWY_BEFORE_NAMESPACE();
namespace gdn {
namespace HWY_NAMESPACE {

// weights[j][c], f32, for the channels of one task.
using TapWeights = std::array<std::array<float, kConvChannels>, 4>;

template <size_t kTaps, class T>
HWY_INLINE void LoadTapWeights(const T* HWY_RESTRICT weight, size_t num_channels, TapWeights& out) {
  for (size_t c = 0; c < num_channels; ++c) {
    for (size_t j = 0; j < kTaps; ++j) out[j][c] = ToF32(weight[c * kTaps + j]);
  }
}

// Channels [c, c + n) of one token. taps[j] points at the input under tap j.
template <size_t kTaps, bool kRoundProduct, class T>
HWY_INLINE VF ConvSum(const std::array<const T*, kTaps>& taps, const TapWeights& weights, size_t c,
                      size_t n) {
  VF sum = hn::Zero(DF());
  HWY_UNROLL(4)
  for (size_t j = 0; j < kTaps; ++j) {
    const VF tap = LoadVecAny(taps[j] + c, n);
    const VF weight = LoadVecAny(weights[j].data() + c, n);
    if constexpr (kRoundProduct) {
      sum = hn::Add(sum, RoundVec<T>(hn::Mul(tap, weight)));
    } else {  // a 16-bit product is exact in f32, so that the fma adds no other rounding
      sum = hn::MulAdd(tap, weight, sum);
    }
  }
  return sum;
}

// One token, all channels of the task. Two passes: in one, the chain of a sum and of its silu would
// be too long for a core to overlap with the next.
template <size_t kTaps, bool kRoundProduct, class T>
HWY_INLINE void ConvToken(const std::array<const T*, kTaps>& taps, const TapWeights& weights,
                          size_t num_channels, T* HWY_RESTRICT out) {
  HWY_ALIGN std::array<float, kConvChannels> sums;
  ForEachVec(num_channels, [&](size_t c, size_t n) GDN_INLINE_LAMBDA {
    StoreVec(ConvSum<kTaps, kRoundProduct, T>(taps, weights, c, n), sums.data() + c);
  });
  ForEachVec(num_channels, [&](size_t c, size_t n) GDN_INLINE_LAMBDA {
    StoreVecAny(SiluVec(LoadVec(sums.data() + c)), out + c, n);
  });
}

// Tokens [first, last) of sequence n.
template <size_t kTaps, bool kRoundProduct, class T>
void ConvTokens(const CausalConv1dArgs& args, const ConvTask& task, size_t n, int64_t first,
                int64_t last, const TapWeights& weights) {
  constexpr auto kKept = static_cast<int64_t>(kTaps) - 1;
  static constexpr std::array<T, kConvChannels> kZeros{};
  const auto num_channels = static_cast<size_t>(task.num_channels);
  const int64_t sequence_first = args.cu_seqlens[n];
  const int64_t sequence_last = args.cu_seqlens[n + 1];
  const int64_t channels = args.x.dim(1);
  const bool fresh = args.has_initial_state[n] == 0;
  T* state = args.state.Row<T>(args.state_slots[n]) + task.first_channel;
  // The input at a position of the sequence; negative ones lie in the state.
  const auto input = [&](int64_t position) -> const T* {
    if (position >= 0) return args.x.Row<T>(sequence_first + position) + task.first_channel;
    return fresh ? kZeros.data() : state + (position + kKept) * channels;
  };
  for (int64_t token = first; token < last; ++token) {
    std::array<const T*, kTaps> taps;
    for (size_t j = 0; j < kTaps; ++j) {
      taps[j] = input(token - sequence_first - kKept + static_cast<int64_t>(j));
    }
    ConvToken<kTaps, kRoundProduct, T>(taps, weights, num_channels,
                                       args.out.Row<T>(token) + task.first_channel);
  }
  if (first != sequence_first) return;
  const int64_t length = sequence_last - sequence_first;
  for (int64_t j = 0; j < kKept; ++j) {  // upwards: a short sequence moves old rows down
    std::memcpy(state + j * channels, input(length - kKept + j), num_channels * sizeof(T));
  }
}

template <size_t kTaps, bool kRoundProduct, class T>
void RunBlock(const CausalConv1dArgs& args, const ConvTask& task) {
  constexpr auto kKept = static_cast<int64_t>(kTaps) - 1;
  TapWeights weights;
  LoadTapWeights<kTaps>(args.weight.Row<T>(task.first_channel),
                        static_cast<size_t>(task.num_channels), weights);
  const auto& cu = args.cu_seqlens;
  const auto after = std::upper_bound(cu.begin(), cu.end(), task.first_token,
                                      [](int64_t token, int32_t end) { return token < end; });
  for (auto n = static_cast<size_t>(after - cu.begin()) - 1;
       n + 1 < cu.size() && cu[n] < task.last_token; ++n) {
    const auto cut = [&](int64_t token) -> int64_t {
      if (token <= cu[n]) return cu[n];
      return std::min<int64_t>(cu[n + 1], std::max<int64_t>(token, cu[n] + kKept));
    };
    const int64_t first = cut(task.first_token);
    const int64_t last = cut(task.last_token);
    if (first == last) continue;
    if (args.state_slots[n] > 0) {
      ConvTokens<kTaps, kRoundProduct, T>(args, task, n, first, last, weights);
      continue;
    }
    for (int64_t token = first; token < last; ++token) {
      std::fill_n(args.out.Row<T>(token) + task.first_channel, task.num_channels, T{});
    }
  }
}

void RunConvTask(const CausalConv1dArgs& args, const ConvTask& task) {
  DispatchFloat(args.x.dtype, [&](auto tag) {
    using T = decltype(tag);
    const auto run = [&](auto taps) {
      constexpr size_t kTaps = decltype(taps)::value;
      if (!std::is_same_v<T, float> && args.product == ConvProduct::kRounded) {
        RunBlock<kTaps, !std::is_same_v<T, float>, T>(args, task);
      } else {
        RunBlock<kTaps, false, T>(args, task);
      }
    };
    switch (args.weight.dim(1)) {
      case 2:
        return run(std::integral_constant<size_t, 2>());
      case 3:
        return run(std::integral_constant<size_t, 3>());
      default:
        return run(std::integral_constant<size_t, 4>());
    }
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace gdn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gdn {
namespace {
HWY_EXPORT(RunConvTask);
}  // namespace

void RunCausalConv1dCpu(const ExecContext& ctx, const CausalConv1dArgs& args) {
  const int64_t num_tokens = args.x.dim(0);
  const int64_t channels = args.x.dim(1);
  const int64_t token_blocks = (num_tokens + kConvTokens - 1) / kConvTokens;
  const int64_t channel_blocks = (channels + kConvChannels - 1) / kConvChannels;
  ctx.pool->Run(token_blocks * channel_blocks, [&](int64_t index, int /*worker*/) {
    ConvTask task{};
    task.first_token = index / channel_blocks * kConvTokens;
    task.last_token = std::min(num_tokens, task.first_token + kConvTokens);
    task.first_channel = index % channel_blocks * kConvChannels;
    task.num_channels = std::min(kConvChannels, channels - task.first_channel);
    HWY_DYNAMIC_DISPATCH(RunConvTask)(args, task);
  });
}

}  // namespace gdn
#endif  // HWY_ONCE
