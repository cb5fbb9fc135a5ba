// SPDX-License-Identifier: Apache-2.0
// The sequences of a call (backend/vulkan/batch.h): bindings 0 to 2. Included after the push
// constants, whose first four are num_sequences, cu_base, slots_base and initial_base.
#ifndef GDN_OPS_COMMON_SEQUENCES_GLSL_
#define GDN_OPS_COMMON_SEQUENCES_GLSL_

layout(binding = 0) readonly buffer CuSeqlens { int cu_seqlens[]; };
layout(binding = 1) readonly buffer StateSlots { int state_slots[]; };
layout(binding = 2) readonly buffer HasInitialState { uint has_initial_state[]; };  // bytes

uint FirstToken(uint sequence) { return uint(cu_seqlens[cu_base + sequence]); }
uint CountTokens(uint sequence) { return FirstToken(sequence + 1u) - FirstToken(sequence); }
int StateSlot(uint sequence) { return state_slots[slots_base + sequence]; }
bool HasInitial(uint sequence) {
  const uint flags = has_initial_state[initial_base + sequence / 4u];
  return ((flags >> (8u * (sequence % 4u))) & 0xFFu) != 0u;
}

// Tokens [first, first + count) of the batch, the index-th piece of a sequence.
struct Segment {
  uint sequence;
  uint index;
  uint first;
  uint count;
};

uint CountSegments(uint sequence, uint segment_length) {
  return (CountTokens(sequence) + segment_length - 1u) / segment_length;
}

// The segment of that number in the batch; there must be one.
Segment SegmentAt(uint number, uint segment_length) {
  uint sequence = 0u;
  for (; sequence + 1u < num_sequences; ++sequence) {
    const uint segments = CountSegments(sequence, segment_length);
    if (number < segments) break;
    number -= segments;
  }
  const uint before = number * segment_length;
  const uint left = CountTokens(sequence) - before;
  return Segment(sequence, number, FirstToken(sequence) + before, min(left, segment_length));
}

#endif  // GDN_OPS_COMMON_SEQUENCES_GLSL_
