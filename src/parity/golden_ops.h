// SPDX-License-Identifier: Apache-2.0
// The operators of golden cases, one function each, and what they share.
#pragma once

#include <initializer_list>
#include <string>

#include "parity/runner.h"

namespace gdn {

Result<Outputs> RunGdnPrefill(Workbench& bench, const GoldenCase& golden, const Numerics& numerics);
Result<Outputs> RunGdnDecode(Workbench& bench, const GoldenCase& golden);
Result<Outputs> RunGdnPackedDecode(Workbench& bench, const GoldenCase& golden);
Result<Outputs> RunGdnPrep(Workbench& bench, const GoldenCase& golden);
Result<Outputs> RunL2Norm(Workbench& bench, const GoldenCase& golden);
Result<Outputs> RunConvFwd(Workbench& bench, const GoldenCase& golden);
Result<Outputs> RunConvUpdate(Workbench& bench, const GoldenCase& golden);
Result<Outputs> RunRmsNorm(Workbench& bench, const GoldenCase& golden);
Result<Outputs> RunRmsNormGated(Workbench& bench, const GoldenCase& golden);
Result<Outputs> RunRope(Workbench& bench, const GoldenCase& golden);
Result<Outputs> RunSiluAndMul(Workbench& bench, const GoldenCase& golden);
Result<Outputs> RunDenseAttention(Workbench& bench, const GoldenCase& golden);
Result<Outputs> RunMatmul(Workbench& bench, const GoldenCase& golden);
Result<Outputs> RunMoeRouterTopk(Workbench& bench, const GoldenCase& golden);
Result<Outputs> RunMoeBlock(Workbench& bench, const GoldenCase& golden);

// The chunk form stage by stage, each fed the golden's own inputs; run by the scalar chunk
// reference, for the kernels fuse them. RunStage: the op is the stage's name. RunStagesOfPrefill:
// those stages of a gdn_prefill whose tensors are among its outputs; rows that the whole kernel has
// too are named by their stage. ablation: of the roundings; chunks stay those of the golden.
bool IsStage(const std::string& op);
std::vector<std::string> StageNames();
Result<Outputs> RunStage(const GoldenCase& golden, const std::string& name,
                         const Ablation& ablation = {});
Result<Outputs> RunStagesOfPrefill(const GoldenCase& golden, const Ablation& ablation);

// ---- shared by the above ----

// In memory that the host and the operators of the bench see (Workbench::memory()).
Result<OwnedTensor> NewTensor(DType dtype, const Shape& shape, MemorySource& memory = HostMemory());
Result<OwnedTensor> CopyOf(const ConstTensor& tensor, MemorySource& memory = HostMemory());
// tensor is contiguous, of floats.
Result<OwnedTensor> ToF32(const ConstTensor& tensor, MemorySource& memory = HostMemory());
void AddOutput(Outputs& outputs, const char* name, OwnedTensor tensor);
// Whether sequence n of N starts from its state: args.with_initial_state, a bool or a list of N.
Result<std::vector<uint8_t>> WithInitialState(const GoldenCase& golden, size_t num_seqs);
// The state of N sequences in slots 1..N of a pool [N + 1, ...] of dtype, NaN elsewhere.
Result<OwnedTensor> PoolFrom(const ConstTensor& state, DType dtype,
                             MemorySource& memory = HostMemory());
// x W^T with W [N, K] row-major, rounded once.
Result<OwnedTensor> Product(Workbench& bench, const ConstTensor& x, const ConstTensor& w,
                            DType round_to);
Result<float> ScaleOf(const GoldenCase& golden);  // args.scale
// The table for args.base and args.rotary_dim up to the last of positions.
Result<OwnedTensor> RopeTableFor(Workbench& bench, const GoldenCase& golden,
                                 const std::vector<int32_t>& positions);
// args[arg] must be one of these words (absent: the first). Returns its index.
Result<size_t> WordOf(const GoldenCase& golden, const char* arg,
                      std::initializer_list<const char*> words);

}  // namespace gdn
