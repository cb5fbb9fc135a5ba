// SPDX-License-Identifier: Apache-2.0
// An invocation is a channel of a segment of a sequence; see causal_conv1d.h. The first segment of
// a sequence alone reads its state, and writes the new one afterwards. An input is read once and,
// at the beginning of a segment, kTaps - 1 of them once more; a decoded token reads and writes its
// state once.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "ops/common/numerics.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint kTaps = 4;
layout(constant_id = 1) const bool kRoundProduct = true;
layout(constant_id = 2) const uint kSegment = 16;

layout(binding = 3) readonly buffer X { ELEMENT x[]; };
layout(binding = 4) readonly buffer Weight { ELEMENT weight[]; };
layout(binding = 5) buffer State { ELEMENT state[]; };
layout(binding = 6) writeonly buffer Out { ELEMENT out_rows[]; };

layout(push_constant) uniform Push {
  uint num_sequences, cu_base, slots_base, initial_base;
  uint channels;
  uint x_base, x_stride;
  uint weight_base;
  uint state_base, slot_stride;
  uint out_base;
};
#include "ops/common/sequences.glsl"

const uint kKept = kTaps - 1u;

void ZeroRows(Segment segment, uint channel) {
  for (uint i = 0u; i < segment.count; ++i) {
    out_rows[out_base + (segment.first + i) * channels + channel] = TO_ELEMENT(0.0);
  }
}

float Convolve(float window[4], float taps[4]) {
  precise float sum = 0.0;
  [[unroll]] for (uint j = 0u; j < kTaps; ++j) {
    if (kRoundProduct) {
      precise const float product = window[j] * taps[j];
      sum += Round(product);
    } else {
      sum = fma(window[j], taps[j], sum);
    }
  }
  return sum;
}

// The last kTaps - 1 inputs of the sequence, bit for bit; those before it lie in its state, behind
// the place where they go.
void MoveState(uint sequence, uint state_at, uint channel) {
  const uint first = FirstToken(sequence);
  const uint count = CountTokens(sequence);
  for (uint j = 0u; j < kKept; ++j) {
    const uint at = state_at + j * channels;
    if (count + j >= kKept) {
      state[at] = x[x_base + (first + count + j - kKept) * x_stride + channel];
    } else if (HasInitial(sequence)) {
      state[at] = state[at + count * channels];
    } else {
      state[at] = TO_ELEMENT(0.0);
    }
  }
}

void main() {
  const uint channel = gl_GlobalInvocationID.x;
  if (channel >= channels) return;
  const Segment segment = SegmentAt(gl_WorkGroupID.y, kSegment);
  const int slot = StateSlot(segment.sequence);
  if (slot <= 0) {
    ZeroRows(segment, channel);
    return;
  }
  const uint state_at = state_base + uint(slot) * slot_stride + channel;
  const bool is_first = segment.index == 0u;
  float taps[4];
  float window[4];
  for (uint j = 0u; j < kTaps; ++j) {
    taps[j] = FROM_ELEMENT(weight[weight_base + channel * kTaps + j]);
    window[j] = 0.0;
  }
  for (uint j = 0u; j < kKept; ++j) {
    if (!is_first) {
      const uint token = segment.first + j - kKept;
      window[j + 1u] = FROM_ELEMENT(x[x_base + token * x_stride + channel]);
    } else if (HasInitial(segment.sequence)) {
      window[j + 1u] = FROM_ELEMENT(state[state_at + j * channels]);
    }
  }
  for (uint i = 0u; i < segment.count; ++i) {
    const uint token = segment.first + i;
    for (uint j = 0u; j < kKept; ++j) window[j] = window[j + 1u];
    window[kKept] = FROM_ELEMENT(x[x_base + token * x_stride + channel]);
    out_rows[out_base + token * channels + channel] = TO_ELEMENT(Silu(Convolve(window, taps)));
  }
  if (is_first) MoveState(segment.sequence, state_at, channel);
}
