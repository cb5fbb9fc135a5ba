// SPDX-License-Identifier: Apache-2.0
// An operator with inputs of given sizes: what is checked, then measured.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/exec_context.h"
#include "bench/op_dims.h"
#include "bench/op_inputs.h"

namespace gdn {

struct OpCase {
  std::string shape;                // "bf16 T 2048 H 16 HV 16 D 128"
  double flops = 0;                 // that a call needs, whatever the kernel does
  double bytes = 0;                 // that a call has to read and write
  size_t scratch_bytes = 0;         // of ExecContext, on the CPU
  size_t device_scratch_bytes = 0;  // and on other devices
  int64_t num_copies = 1;           // of the inputs that must be cold
  std::function<Status(const ExecContext& ctx, int64_t copy)> run;
  std::vector<ConstTensor> outputs;  // of copy 0, contiguous

  std::shared_ptr<OpInputs> inputs;  // owns what run reads and writes
};

// An operator's inputs, made afresh at each call, with the same values. num_threads is for scratch.
struct OpKind {
  const char* name;
  OpCase (*make)(const OpDims& dims, int num_threads, OpInputs& in);
  // What `all` measures of it: changes of the dims.
  std::vector<OpDims> (*variants)(const OpDims& dims);
};
std::span<const OpKind> OpKinds();
// "all" is not among them. Errors: kInvalidArgument, with the list.
Result<const OpKind*> FindOpKind(std::string_view name);

OpCase MakeLinearCase(const OpDims& dims, int num_threads, OpInputs& in);
OpCase MakeLinearSiluAndMulCase(const OpDims& dims, int num_threads, OpInputs& in);
OpCase MakeEmbeddingCase(const OpDims& dims, int num_threads, OpInputs& in);
OpCase MakeArgmaxCase(const OpDims& dims, int num_threads, OpInputs& in);
OpCase MakeGatedDeltaRuleCase(const OpDims& dims, int num_threads, OpInputs& in);
OpCase MakeGdnPrepCase(const OpDims& dims, int num_threads, OpInputs& in);
OpCase MakeCausalConv1dCase(const OpDims& dims, int num_threads, OpInputs& in);
OpCase MakeAttentionCase(const OpDims& dims, int num_threads, OpInputs& in);
OpCase MakeRopeCase(const OpDims& dims, int num_threads, OpInputs& in);
OpCase MakeRmsNormCase(const OpDims& dims, int num_threads, OpInputs& in);
OpCase MakeRmsNormGatedCase(const OpDims& dims, int num_threads, OpInputs& in);
OpCase MakeSiluAndMulCase(const OpDims& dims, int num_threads, OpInputs& in);
OpCase MakeSigmoidMulCase(const OpDims& dims, int num_threads, OpInputs& in);
OpCase MakeMoeRouterTopkCase(const OpDims& dims, int num_threads, OpInputs& in);
OpCase MakeMoeCombineCase(const OpDims& dims, int num_threads, OpInputs& in);

// Bytes of so many elements, as a quantity to count with.
inline double BytesOf(int64_t elements, DType dtype) {
  return static_cast<double>(elements) * static_cast<double>(SizeOf(dtype));
}

// Needed flops of the chunk form for one value head: per chunk of C tokens three full products
// (w h, q h, the state's update), five triangular ones (k k^T, q k^T, T k, T v, P v), of which
// half, and the inverse, C^3 / 3. 9.0 MFLOP at C 64, K = V = 128.
double GdnChunkFlops(int64_t tokens, int64_t k_dim, int64_t v_dim);
// Of the recurrence: the decay, S k, the update, S q.
double GdnRecurrentFlops(int64_t tokens, int64_t k_dim, int64_t v_dim);
// Of causal attention: q k^T and P v over the keys up to each token's own.
double AttentionFlops(int64_t first_position, int64_t tokens, int64_t heads, int64_t head_dim);

}  // namespace gdn
