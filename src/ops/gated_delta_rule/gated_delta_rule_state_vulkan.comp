// SPDX-License-Identifier: Apache-2.0
// chunk_fwd_h of README.md: a workgroup takes sixteen value rows of a head's state through the
// chunks of its sequence that are in scratch. A chunk costs it w, k and its columns of u, in whose
// place it leaves v'; and it writes its rows of the state, rounded, for the output stage. The state
// itself is read and written once.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "ops/gated_delta_rule/chunk.glsl"

layout(constant_id = 0) const uint kKeyDim = 128;
layout(constant_id = 1) const uint kKeyColumns = 128;  // a power of two from kKeyDim and 16 on

layout(binding = 3) readonly buffer K { ELEMENT k[]; };
layout(binding = 4) readonly buffer Cum { float cum[]; };
layout(binding = 5) readonly buffer W { ELEMENT w[]; };
layout(binding = 6) buffer U { ELEMENT u[]; };
layout(binding = 7) writeonly buffer H { ELEMENT h[]; };
layout(binding = 8) buffer State { float state[]; };

// An invocation owns one column of the state, in kRows rows side by side.
const uint kRows = kKeyColumns / 16u;
const uint kStride = kKeyDim + 1u;
shared float snapshot[16 * kStride];
shared float decayed[64 * 17];  // v' decayed to the chunk's end
float s[16];  // [kRows]

uint OwnColumn() { return gl_LocalInvocationID.x % kKeyColumns; }
uint OwnRow() { return gl_LocalInvocationID.x / kKeyColumns * kRows; }
uint FirstRow() { return gl_WorkGroupID.x * 16u; }
bool IsOwn(uint e) { return OwnColumn() < kKeyDim && FirstRow() + OwnRow() + e < v_dim; }

void Snapshot(uint h_at) {
  for (uint e = 0u; e < kRows; ++e) {
    const uint row = OwnRow() + e;
    if (OwnColumn() < kKeyDim) snapshot[row * kStride + OwnColumn()] = Round(s[e]);
    if (IsOwn(e)) h[h_at + (FirstRow() + row) * kKeyDim + OwnColumn()] = TO_ELEMENT(s[e]);
  }
}

// From u and w, v' in the place of u, and decayed.
void NewValues(uint w_at, uint u_at, uint cum_at, uint count) {
  const uint self = gl_LocalInvocationID.x;
  const uint column = self % 16u;
  precise float sums[4];
  for (uint r = 0u; r < 4u; ++r) sums[r] = 0.0;
  for (uint m0 = 0u; m0 < kKeyDim; m0 += 16u) {
    barrier();
    for (uint e = self; e < 1024u; e += 256u) {
      const uint m = m0 + e % 16u;
      const uint i = e / 16u;
      tile_rows[i * 17u + e % 16u] = m < kKeyDim ? FROM_ELEMENT(w[w_at + i * kKeyDim + m]) : 0.0;
    }
    barrier();
    for (uint m = m0; m < min(m0 + 16u, kKeyDim); ++m) {
      const float x = snapshot[column * kStride + m];
      [[unroll]] for (uint r = 0u; r < 4u; ++r) {
        sums[r] = fma(tile_rows[TileRow(r) * 17u + m - m0], x, sums[r]);
      }
    }
  }
  const float last = cum[cum_at + count - 1u];
  const bool is_column = FirstRow() + column < v_dim;
  for (uint r = 0u; r < 4u; ++r) {
    const uint i = TileRow(r);
    const uint at = u_at + i * v_dim + FirstRow() + column;
    precise const float value = is_column ? FROM_ELEMENT(u[at]) - sums[r] : 0.0;
    precise const float tail = value * Exp(last - cum[cum_at + i]);
    decayed[i * 17u + column] = Round(tail);
    if (is_column) u[at] = TO_ELEMENT(value);
  }
  barrier();
}

void Advance(Segment chunk, uint cum_at) {
  const uint key_head = gl_WorkGroupID.y / heads_per_key;
  const uint k_at = k_base + key_head * k_head_stride + OwnColumn();
  precise float added[16];
  for (uint e = 0u; e < kRows; ++e) added[e] = 0.0;
  for (uint i = 0u; i < chunk.count; ++i) {
    const uint at = k_at + (chunk.first + i) * k_stride;
    const float key = OwnColumn() < kKeyDim ? FROM_ELEMENT(k[at]) : 0.0;
    for (uint e = 0u; e < kRows; ++e) {
      added[e] = fma(key, decayed[i * 17u + OwnRow() + e], added[e]);
    }
  }
  const float decay = Exp(cum[cum_at + chunk.count - 1u]);
  for (uint e = 0u; e < kRows; ++e) {
    precise const float next = s[e] * decay + added[e];
    s[e] = next;
  }
}

void main() {
  const uint head = gl_WorkGroupID.y;
  const uint sequence = gl_WorkGroupID.z;
  uint begin = 0u;
  for (uint n = 0u; n < sequence; ++n) begin += CountSegments(n, kChunk);
  const uint first = max(begin, first_chunk);
  const uint last = min(begin + CountSegments(sequence, kChunk), first_chunk + num_chunks);
  const int slot = StateSlot(sequence);
  if (first >= last || slot <= 0) return;
  const uint state_at = state_base + uint(slot) * slot_stride +
                        (head * v_dim + FirstRow() + OwnRow()) * kKeyDim + OwnColumn();
  // Chunks of another dispatch have left the state in its slot.
  const bool has_state = first > begin || HasInitial(sequence);
  for (uint e = 0u; e < kRows; ++e) {
    s[e] = 0.0;
    if (has_state && IsOwn(e)) s[e] = state[state_at + e * kKeyDim];
  }
  for (uint number = first; number < last; ++number) {
    const uint here = number - first_chunk;
    const Segment chunk = SegmentAt(number, kChunk);
    const uint cum_at = FloatsAt(here, head, kChunk);
    Snapshot(ElementsAt(here, head, v_dim * kKeyDim));
    NewValues(ElementsAt(here, head, kChunk * kKeyDim), ElementsAt(here, head, kChunk * v_dim),
              cum_at, chunk.count);
    Advance(chunk, cum_at);
  }
  for (uint e = 0u; e < kRows; ++e) {
    if (IsOwn(e)) state[state_at + e * kKeyDim] = s[e];
  }
}
