// SPDX-License-Identifier: Apache-2.0
#include "bench/op_dims.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/str.h"
#include "ops/moe_router_topk/moe_router_topk.h"

namespace gdn {
namespace {

// Dense ones: tools/make_checkpoint/configs; 35b-a3b: Qwen3.5-35B-A3B, intermediate of an expert.
constexpr std::array<OpPreset, 4> kPresets = {{
    {"0.8b", {}},
    {"4b",
     {.hidden = 2560, .intermediate = 9216, .value_heads = 32, .attn_heads = 16, .kv_heads = 4}},
    {"27b",
     {.hidden = 5120, .intermediate = 17408, .value_heads = 48, .attn_heads = 24, .kv_heads = 4}},
    {"35b-a3b", {.hidden = 2048, .intermediate = 512, .value_heads = 32, .attn_heads = 16}},
}};

struct Bound {
  const char* option;
  int64_t OpDims::*field;
  int64_t min;
  int64_t max;
};

// So that no product of the ones that make a tensor overflows, and no typing error asks for a
// terabyte without saying so.
constexpr std::array<Bound, 18> kBounds = {{
    {"--tokens", &OpDims::tokens, 1, 1 << 20},
    {"--sequences", &OpDims::sequences, 1, 1 << 20},
    {"--hidden", &OpDims::hidden, 1, 1 << 20},
    {"--intermediate", &OpDims::intermediate, 1, 1 << 20},
    {"--vocab", &OpDims::vocab, 1, 1 << 24},
    {"--key-heads", &OpDims::key_heads, 1, 1024},
    {"--value-heads", &OpDims::value_heads, 1, 1024},
    {"--head-dim", &OpDims::head_dim, 1, 256},
    {"--conv-kernel", &OpDims::conv_kernel, 2, 4},
    {"--attn-heads", &OpDims::attn_heads, 1, 1024},
    {"--kv-heads", &OpDims::kv_heads, 1, 1024},
    {"--attn-dim", &OpDims::attn_dim, 1, 512},
    {"--context", &OpDims::context, 1, 1 << 20},
    {"--experts", &OpDims::experts, 1, kMoeMaxExperts},
    {"--top-k", &OpDims::top_k, 1, kMoeMaxExperts},
    {"--rows", &OpDims::rows, 0, 1 << 20},
    {"--cols", &OpDims::cols, 0, 1 << 20},
    {"--outs", &OpDims::outs, 0, 1 << 24},
}};

Status CheckMultiple(const char* what, int64_t of, const char* base, int64_t number) {
  if (of % number == 0) return OkStatus();
  return InvalidArgument(StrCat(what, " is ", of, ", want a multiple of ", base, " ", number));
}

// num of the larger count, with the ratio to the smaller one kept.
void ShrinkHeads(int64_t& large, int64_t& small, int64_t num) {
  const int64_t ratio = large / small;
  small = std::min(small, num);
  large = small * ratio;
}

}  // namespace

std::span<const OpPreset> OpPresets() { return kPresets; }

Result<OpDims> PresetDims(std::string_view name) {
  std::string names;
  for (const OpPreset& preset : kPresets) {
    if (name == preset.name) return preset.dims;
    StrAppend(names, StrCat(names.empty() ? "" : ", ", preset.name));
  }
  return InvalidArgument(StrCat("preset is ", Quoted(name), ", want one of ", names));
}

Status CheckDims(const OpDims& dims) {
  for (const Bound& bound : kBounds) {
    const int64_t value = dims.*bound.field;
    if (value < bound.min || value > bound.max) {
      return InvalidArgument(StrCat(bound.option, " is ", value, ", want 1 to ", bound.max));
    }
  }
  GDN_RETURN_IF_ERROR(CheckMultiple("--tokens", dims.tokens, "--sequences", dims.sequences));
  GDN_RETURN_IF_ERROR(
      CheckMultiple("--value-heads", dims.value_heads, "--key-heads", dims.key_heads));
  GDN_RETURN_IF_ERROR(CheckMultiple("--attn-heads", dims.attn_heads, "--kv-heads", dims.kv_heads));
  if (dims.top_k > dims.experts) {
    return InvalidArgument(
        StrCat("--top-k is ", dims.top_k, ", want at most --experts ", dims.experts));
  }
  return OkStatus();
}

OpDims SmallDims(OpDims dims) {
  const auto cap = [](int64_t& value, int64_t most) { value = std::min(value, most); };
  // Tails everywhere: a chunk and a half, a panel and one row, no multiple of a vector.
  cap(dims.tokens, dims.form == OpForm::kDecode ? 3 : 100);
  cap(dims.sequences, 3);
  dims.tokens -= dims.tokens % dims.sequences;
  cap(dims.rows, 37);
  cap(dims.cols, 1031);
  cap(dims.outs, 97);
  cap(dims.hidden, 1031);
  cap(dims.intermediate, 97);
  cap(dims.vocab, 1000);
  cap(dims.context, 150);
  ShrinkHeads(dims.value_heads, dims.key_heads, 2);
  ShrinkHeads(dims.attn_heads, dims.kv_heads, 2);
  return dims;
}

}  // namespace gdn
