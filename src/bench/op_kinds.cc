// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "base/str.h"
#include "bench/op_case.h"

namespace gdn {
namespace {

OpDims With(OpDims dims, OpForm form) {
  dims.form = form;
  if (form == OpForm::kDecode) dims.tokens = dims.sequences = 1;
  return dims;
}

std::vector<OpDims> PrefillAlone(const OpDims& dims) { return {dims}; }

std::vector<OpDims> DecodeAlone(const OpDims& dims) { return {With(dims, OpForm::kDecode)}; }

std::vector<OpDims> PrefillAndDecode(const OpDims& dims) {
  return {dims, With(dims, OpForm::kDecode)};
}

std::vector<OpDims> EveryForm(const OpDims& dims) {
  return {dims, With(dims, OpForm::kRecurrent), With(dims, OpForm::kDecode)};
}

// The matrices of the MLP, at the prompt's rows and at one.
std::vector<OpDims> Matrices(const OpDims& dims) {
  std::vector<OpDims> out;
  for (const int64_t rows : {dims.tokens, int64_t{8}, int64_t{1}}) {
    OpDims up = dims;
    up.rows = rows;
    up.cols = dims.hidden;
    up.outs = dims.intermediate;
    OpDims down = up;
    std::swap(down.cols, down.outs);
    out.push_back(up);
    out.push_back(down);
  }
  return out;
}

constexpr std::array<OpKind, 15> kKinds = {{
    {"linear", MakeLinearCase, Matrices},
    {"linear_silu_and_mul", MakeLinearSiluAndMulCase, PrefillAndDecode},
    {"gated_delta_rule", MakeGatedDeltaRuleCase, EveryForm},
    {"gdn_prep", MakeGdnPrepCase, PrefillAndDecode},
    {"causal_conv1d", MakeCausalConv1dCase, PrefillAndDecode},
    {"attention", MakeAttentionCase, PrefillAndDecode},
    {"rms_norm", MakeRmsNormCase, PrefillAlone},
    {"rms_norm_gated", MakeRmsNormGatedCase, PrefillAlone},
    {"rope", MakeRopeCase, PrefillAlone},
    {"silu_and_mul", MakeSiluAndMulCase, PrefillAlone},
    {"sigmoid_mul", MakeSigmoidMulCase, PrefillAlone},
    {"embedding", MakeEmbeddingCase, PrefillAlone},
    {"argmax", MakeArgmaxCase, DecodeAlone},
    {"moe_router_topk", MakeMoeRouterTopkCase, PrefillAlone},
    {"moe_combine", MakeMoeCombineCase, PrefillAlone},
}};

}  // namespace

std::span<const OpKind> OpKinds() { return kKinds; }

Result<const OpKind*> FindOpKind(std::string_view name) {
  std::string names;
  for (const OpKind& kind : kKinds) {
    if (name == kind.name) return &kind;
    StrAppend(names, StrCat(kind.name, ", "));
  }
  return InvalidArgument(StrCat("operator is ", Quoted(name), ", want one of ", names, "all"));
}

}  // namespace gdn
