// SPDX-License-Identifier: Apache-2.0
// Tensors and sequences as kernels see them: members of their parameters, on the host and there.
// These have no padding: steps are compared by the bytes of their launches' parameters.
#pragma once

#include <cstdint>

#include "backend/gpu/kernel.h"

namespace gdn::gpu {

// Rows of a tensor: element i of row r is data[r * stride + i]. T of a kernel's dtype.
struct Rows {
  const void* data = nullptr;
  int64_t stride = 0;
};
struct MutableRows {
  void* data = nullptr;
  int64_t stride = 0;
};

// [T, H, D]: element d of head h of token t is data[t * stride + h * head_stride + d].
struct Heads {
  const void* data = nullptr;
  int64_t stride = 0;
  int64_t head_stride = 0;
};

// The sequences of a call, at least one.
struct Sequences {
  const int32_t* cu_seqlens = nullptr;         // [N + 1]
  const int32_t* state_slots = nullptr;        // [N]; <= 0: null
  const uint8_t* has_initial_state = nullptr;  // [N]
  uint32_t count = 0;                          // N
  uint32_t unused = 0;
};

}  // namespace gdn::gpu
