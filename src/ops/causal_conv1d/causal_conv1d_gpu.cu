// SPDX-License-Identifier: Apache-2.0
// A thread is a channel of a segment of a sequence; see causal_conv1d.h. The first segment of a
// sequence alone reads its state, and writes the new one afterwards. An input is read once and, at
// the beginning of a segment, kTaps - 1 of them once more; a decoded token reads and writes its
// state once.
#include "ops/causal_conv1d/causal_conv1d_gpu.h"

#include "ops/common/gpu_rows.h"

namespace gdn::GDN_GPU_NAMESPACE {

using Params = gpu::CausalConv1dParams;

template <class T, int kTaps>
GDN_DEVICE float Convolve(const float (&window)[kTaps], const float (&taps)[kTaps], bool rounds) {
  float sum = 0;
  GDN_UNROLL for (int j = 0; j < kTaps; ++j) {
    sum = rounds ? sum + Round<T>(window[j] * taps[j]) : Fma(window[j], taps[j], sum);
  }
  return sum;
}

// The last kTaps - 1 inputs of the sequence, bit for bit; those before it lie in its state, behind
// the place where they go.
template <class T, int kTaps>
GDN_DEVICE void MoveState(const Params& p, uint32_t sequence, T* state, uint64_t channel) {
  constexpr uint32_t kKept = kTaps - 1;
  const uint64_t first = FirstToken(p.sequences, sequence);
  const uint64_t count = CountTokens(p.sequences, sequence);
  GDN_UNROLL for (uint32_t j = 0; j < kKept; ++j) {
    T* to = state + j * p.channels;
    if (count + j >= kKept) {
      *to = RowAt<T>(p.x, first + count + j - kKept)[channel];
    } else if (p.sequences.has_initial_state[sequence] != 0) {
      *to = to[count * p.channels];
    } else {
      *to = FromF32<T>(0);
    }
  }
}

// The kTaps - 1 inputs before the segment, behind a first element that means nothing.
template <class T, int kTaps>
GDN_DEVICE void StartWindow(const Params& p, const Segment& segment, const T* state,
                            uint64_t channel, float (&window)[kTaps]) {
  constexpr uint32_t kKept = kTaps - 1;
  const bool has_initial = p.sequences.has_initial_state[segment.sequence] != 0;
  window[0] = 0;
  GDN_UNROLL for (uint32_t j = 0; j < kKept; ++j) {
    float value = 0;
    if (segment.index > 0) {
      value = ToF32(RowAt<T>(p.x, uint64_t{segment.first} + j - kKept)[channel]);
    } else if (has_initial) {
      value = ToF32(state[j * p.channels]);
    }
    window[j + 1] = value;
  }
}

template <class T, int kTaps>
GDN_GLOBAL(256)
void CausalConv1d(Params p) {
  const uint64_t block = RowOfBlock();
  const uint64_t channel = block % p.channel_blocks * BlockThreads() + ThreadIndex();
  const uint64_t number = block / p.channel_blocks;
  if (channel >= p.channels || number >= p.num_segments) return;
  const Segment segment = SegmentAt(p.sequences, static_cast<uint32_t>(number), gpu::kConvSegment);
  const int32_t slot = p.sequences.state_slots[segment.sequence];
  T* out = static_cast<T*>(p.out) + uint64_t{segment.first} * p.channels + channel;
  if (slot <= 0) {
    for (uint32_t i = 0; i < segment.count; ++i) out[i * p.channels] = FromF32<T>(0);
    return;
  }
  T* state = RowAt<T>(p.state, static_cast<uint64_t>(slot)) + channel;
  float taps[kTaps];
  const T* weight = static_cast<const T*>(p.weight) + channel * kTaps;
  GDN_UNROLL for (int j = 0; j < kTaps; ++j) taps[j] = ToF32(weight[j]);
  float window[kTaps];
  StartWindow<T, kTaps>(p, segment, state, channel, window);
  for (uint32_t i = 0; i < segment.count; ++i) {
    GDN_UNROLL for (int j = 0; j + 1 < kTaps; ++j) window[j] = window[j + 1];
    window[kTaps - 1] = ToF32(RowAt<T>(p.x, uint64_t{segment.first} + i)[channel]);
    const float sum = Convolve<T, kTaps>(window, taps, p.rounds_products != 0);
    out[i * p.channels] = FromF32<T>(Silu(sum));
  }
  if (segment.index == 0) MoveState<T, kTaps>(p, segment.sequence, state, channel);
}

// Of each dtype, with 2, 3 and 4 taps.
GDN_GPU_INSTANCES(causal_conv1d) = {GDN_GPU_INSTANCE(Params, CausalConv1d<float, 2>),
                                    GDN_GPU_INSTANCE(Params, CausalConv1d<float, 3>),
                                    GDN_GPU_INSTANCE(Params, CausalConv1d<float, 4>),
                                    GDN_GPU_INSTANCE(Params, CausalConv1d<F16, 2>),
                                    GDN_GPU_INSTANCE(Params, CausalConv1d<F16, 3>),
                                    GDN_GPU_INSTANCE(Params, CausalConv1d<F16, 4>),
                                    GDN_GPU_INSTANCE(Params, CausalConv1d<Bf16, 2>),
                                    GDN_GPU_INSTANCE(Params, CausalConv1d<Bf16, 3>),
                                    GDN_GPU_INSTANCE(Params, CausalConv1d<Bf16, 4>)};

}  // namespace gdn::GDN_GPU_NAMESPACE
