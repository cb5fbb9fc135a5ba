// SPDX-License-Identifier: Apache-2.0
// The sizes that an operator is measured with: those of a model, or any others.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/status.h"
#include "tensor/dtype.h"

namespace gdn {

enum class OpForm : uint8_t {
  kChunk,      // prefill, the chunk form where there are two
  kRecurrent,  // prefill, the recurrence
  kDecode,     // tokens are sequences of one token each
};

struct OpDims {
  DType dtype = DType::kBf16;
  OpForm form = OpForm::kChunk;
  int64_t tokens = 2048;
  int64_t sequences = 1;  // of equal length, that the tokens of a prefill are; linear attention
  int64_t hidden = 1024;
  int64_t intermediate = 3584;
  int64_t vocab = 248320;
  // Linear attention.
  int64_t key_heads = 16;
  int64_t value_heads = 16;
  int64_t head_dim = 128;
  int64_t conv_kernel = 4;
  // Full attention.
  int64_t attn_heads = 8;
  int64_t kv_heads = 2;
  int64_t attn_dim = 256;
  int64_t rotary_dim = 64;
  int64_t context = 2048;  // tokens that a decode reads, its own included
  // Mixtures of experts.
  int64_t experts = 256;
  int64_t top_k = 8;
  // Of the operators over matrices; 0: what the operator has in the model.
  int64_t rows = 0;
  int64_t cols = 0;
  int64_t outs = 0;
};

struct OpPreset {
  const char* name;
  OpDims dims;
};
std::span<const OpPreset> OpPresets();
// Errors: kInvalidArgument, with the list.
Result<OpDims> PresetDims(std::string_view name);

// Every size within bounds, heads that divide. Errors: kInvalidArgument, naming the option.
Status CheckDims(const OpDims& dims);

// The same operator, so small that the scalar reference takes well under a second.
OpDims SmallDims(OpDims dims);

}  // namespace gdn
