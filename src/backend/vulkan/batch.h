// SPDX-License-Identifier: Apache-2.0
// Packed sequences and their heads as shaders see them.
#pragma once

#include <cstdint>
#include <span>

#include "backend/vulkan/operands.h"

namespace gdn::vulkan {

// Push constants that say where row [t, h] of a tensor [T, H, D] begins, in elements.
struct HeadsAt {
  uint32_t base = 0;
  uint32_t stride = 0;       // between tokens
  uint32_t head_stride = 0;  // between heads

  HeadsAt(const Stream& stream, const ConstTensor& tensor)
      : base(stream.Base(tensor)),
        stride(static_cast<uint32_t>(tensor.stride(0))),
        head_stride(static_cast<uint32_t>(tensor.stride(1))) {}
};

// The sequences of a call, uploaded for its dispatches; there is at least one. sequences.glsl reads
// them: Operands() are a shader's first three, Push its first push constants.
class Sequences {
 public:
  struct Push {
    uint32_t count;
    uint32_t cu_base, slots_base, initial_base;
  };

  Sequences(Stream& stream, std::span<const int32_t> cu_seqlens,
            std::span<const int32_t> state_slots, std::span<const uint8_t> has_initial_state)
      : cu_seqlens_{stream.Upload(cu_seqlens), cu_seqlens.size_bytes()},
        state_slots_{stream.Upload(state_slots), state_slots.size_bytes()},
        has_initial_state_{stream.Upload(has_initial_state), has_initial_state.size_bytes()},
        push_{static_cast<uint32_t>(state_slots.size()), stream.Base(cu_seqlens_.data, 4),
              stream.Base(state_slots_.data, 4), stream.Base(has_initial_state_.data, 4)} {}

  const Push& push() const { return push_; }
  const Operand& cu_seqlens() const { return cu_seqlens_; }
  const Operand& state_slots() const { return state_slots_; }
  const Operand& has_initial_state() const { return has_initial_state_; }

 private:
  Operand cu_seqlens_;
  Operand state_slots_;
  Operand has_initial_state_;
  Push push_;
};

// Segments of at most length tokens, counted from the first token of each sequence on.
inline int64_t CountSegments(std::span<const int32_t> cu_seqlens, int64_t length) {
  int64_t count = 0;
  for (size_t n = 0; n + 1 < cu_seqlens.size(); ++n) {
    count += (cu_seqlens[n + 1] - cu_seqlens[n] + length - 1) / length;
  }
  return count;
}

}  // namespace gdn::vulkan
