// SPDX-License-Identifier: Apache-2.0
// What the host gives the kernels of the gated delta rule, and the sizes of their blocks.
#pragma once

#include "backend/gpu/operands.h"
#include "backend/gpu/shared_bytes.h"

namespace gdn::gpu {

// Of one call, for the three stages of the chunk form and for the recurrence.
struct GatedDeltaRuleParams {
  Sequences sequences;
  Heads q, k, v;
  Rows log_decay, beta;  // f32
  void* state = nullptr;
  int64_t slot_stride = 0;
  void* out = nullptr;
  uint32_t num_value_heads = 0;
  uint32_t heads_per_key = 0;
  uint32_t k_dim = 0;
  uint32_t v_dim = 0;
  float scale = 0;

  // Recurrence alone.
  uint32_t has_wide_keys = 0;   // q and k are f32
  uint32_t has_wide_state = 0;  // the state is

  // Chunk form alone: chunks [first_chunk, first_chunk + num_chunks) of the batch are in scratch,
  // each with 64 rows, zero behind its last token.
  uint32_t is_tf32 = 0;
  uint32_t has_pairs = 0;  // elements 2 i, 2 i + 1 of q, k, v, w, u and h are one aligned dword
  uint32_t first_chunk = 0;
  uint32_t num_chunks = 0;
  uint32_t unused = 0;
  float* cum = nullptr;  // [chunks, HV, 64]
  void* w = nullptr;     // [chunks, HV, 64, K] D
  void* u = nullptr;     // [chunks, HV, 64, V] D, then v'
  void* h = nullptr;     // [chunks, HV, V, K] D
};

constexpr uint32_t kGdrChunk = 64;
constexpr uint32_t kGdrPitch = kGdrChunk + 8;  // of tiles 64 wide: keeps rows in different banks
constexpr uint32_t kGdrIntraThreads = 256;
constexpr uint32_t kGdrStateThreads = 128;
constexpr uint32_t kGdrStateRows = 32;  // value rows of a block of the state stage
constexpr uint32_t kGdrOutputThreads = 256;
constexpr uint32_t kGdrRecurrentRows = 16;  // value rows of a block of the recurrence

// Value columns of a block of the output stage.
constexpr uint32_t GdrOutputColumns(uint32_t element_bytes) {
  return element_bytes == 4 ? 64 : 128;
}

// Blocks of 16 x 16: of A, of T, on and below the diagonal, and three for products.
constexpr uint32_t kGdrSolveFloats = (10 + 10 + 3) * 256;

constexpr uint32_t Larger(uint32_t a, uint32_t b) { return a > b ? a : b; }
constexpr uint32_t GdrTileBytes(uint32_t rows, uint32_t element_bytes) {
  return rows * kGdrPitch * element_bytes;
}
// Three rows of 64 floats; T; and, one after another, k beta and k, the blocks, and columns of k or
// v.
constexpr uint32_t GdrIntraSharedBytes(uint32_t element_bytes) {
  return 3 * SharedBytes<float>(kGdrChunk) + GdrTileBytes(kGdrChunk, element_bytes) +
         Larger(GdrTileBytes(kGdrChunk, 4) + GdrTileBytes(kGdrChunk, element_bytes),
                kGdrSolveFloats * 4);
}
// The state rounded, a tile of w or of k, decayed values, and a row of floats.
constexpr uint32_t GdrStateSharedBytes(uint32_t element_bytes, uint32_t key_columns) {
  return kGdrStateRows * (key_columns + 8) * element_bytes +
         GdrTileBytes(kGdrChunk, element_bytes) + GdrTileBytes(kGdrStateRows, element_bytes) +
         SharedBytes<float>(kGdrChunk);
}
// q, P, a tile of k, of h or of values, and a row of floats.
constexpr uint32_t GdrOutputSharedBytes(uint32_t element_bytes) {
  return 2 * GdrTileBytes(kGdrChunk, element_bytes) +
         GdrTileBytes(Larger(GdrOutputColumns(element_bytes), kGdrChunk), element_bytes) +
         SharedBytes<float>(kGdrChunk);
}

}  // namespace gdn::gpu
