// SPDX-License-Identifier: Apache-2.0
// Matrices are column-major to cuBLASLt: out^T [n, m] = weight [n, k] x^T [k, m], where the weight
// is its transpose, [k, n] with k innermost. Source: cuBLAS documentation, "Using the cuBLASLt
// API".
#include "backend/gpu/cuda/cublaslt.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <algorithm>
#include <string>

#include "base/str.h"

namespace gdn::gpu {
namespace {

// What NVIDIA recommends for Hopper; older devices need less.
constexpr size_t kWorkspaceBytes = size_t{32} << 20;
constexpr uint32_t kMostAlignment = 256;

cudaDataType_t TypeOf(DType dtype) {
  return dtype == DType::kF32 ? CUDA_R_32F : dtype == DType::kF16 ? CUDA_R_16F : CUDA_R_16BF;
}

uint32_t AlignmentOf(const void* data) {
  const auto address = reinterpret_cast<uintptr_t>(data);
  return static_cast<uint32_t>(std::min<uintptr_t>(address & (~address + 1), kMostAlignment));
}

}  // namespace

CublasLt::~CublasLt() {
  for (const auto& [key, plan] : plans_) Destroy(plan);
  if (workspace_ != nullptr) (void)cudaFree(workspace_);
  if (handle_ != nullptr) (void)functions_.destroy(handle_);
  if (library_ != nullptr) (void)dlclose(library_);
}

Status CublasLt::LoadFunctions() {
  const std::string name = StrCat("libcublasLt.so.", CUDART_VERSION / 1000);
  library_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library_ == nullptr) {
    return Unsupported(StrCat("--gemm vendor wants ", name, ": ", dlerror()));
  }
  Status status;
  const auto load = [&](auto& function, const char* symbol) {
    function =
        reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library_, symbol));
    if (function == nullptr && status.ok()) {
      status = Unsupported(StrCat("--gemm vendor: ", name, " has no ", symbol));
    }
  };
  load(functions_.create, "cublasLtCreate");
  load(functions_.destroy, "cublasLtDestroy");
  load(functions_.status_string, "cublasLtGetStatusString");
  load(functions_.desc_create, "cublasLtMatmulDescCreate");
  load(functions_.desc_destroy, "cublasLtMatmulDescDestroy");
  load(functions_.desc_set, "cublasLtMatmulDescSetAttribute");
  load(functions_.layout_create, "cublasLtMatrixLayoutCreate");
  load(functions_.layout_destroy, "cublasLtMatrixLayoutDestroy");
  load(functions_.preference_create, "cublasLtMatmulPreferenceCreate");
  load(functions_.preference_destroy, "cublasLtMatmulPreferenceDestroy");
  load(functions_.preference_set, "cublasLtMatmulPreferenceSetAttribute");
  load(functions_.heuristic, "cublasLtMatmulAlgoGetHeuristic");
  load(functions_.matmul, "cublasLtMatmul");
  if (!status.ok()) {
    (void)dlclose(library_);
    library_ = nullptr;
  }
  return status;
}

Status CublasLt::Check(cublasStatus_t status, const char* doing) const {
  if (status == CUBLAS_STATUS_SUCCESS) return OkStatus();
  return Unsupported(StrCat("cuBLASLt, ", doing, ": ", functions_.status_string(status)));
}

Status CublasLt::Open() {
  if (handle_ != nullptr) return OkStatus();
  if (library_ == nullptr) GDN_RETURN_IF_ERROR(LoadFunctions());
  if (workspace_ == nullptr && cudaMalloc(&workspace_, kWorkspaceBytes) != cudaSuccess) {
    (void)cudaGetLastError();
    return OutOfMemory(StrCat("no memory for cuBLASLt: ", kWorkspaceBytes, " bytes wanted"));
  }
  return Check(functions_.create(&handle_), "opening the device");
}

Status CublasLt::Describe(const Gemm& g, Plan& plan) const {
  GDN_RETURN_IF_ERROR(
      Check(functions_.desc_create(&plan.desc, CUBLAS_COMPUTE_32F, CUDA_R_32F), "a product"));
  const cublasOperation_t transposed = CUBLAS_OP_T;
  GDN_RETURN_IF_ERROR(Check(
      functions_.desc_set(plan.desc, CUBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof transposed),
      "a product"));
  const auto layout = [&](cublasLtMatrixLayout_t* out, DType dtype, int64_t rows, int64_t cols,
                          int64_t stride) {
    return Check(functions_.layout_create(out, TypeOf(dtype), static_cast<uint64_t>(rows),
                                          static_cast<uint64_t>(cols), stride),
                 "a matrix");
  };
  GDN_RETURN_IF_ERROR(layout(&plan.weight, g.dtype, g.k, g.n, g.k));
  GDN_RETURN_IF_ERROR(layout(&plan.x, g.dtype, g.k, g.m, g.x_stride));
  return layout(&plan.out, g.out_dtype, g.n, g.m, g.out_stride);
}

Status CublasLt::ChooseAlgorithm(const Key& key, Plan& plan) const {
  cublasLtMatmulPreference_t preference = nullptr;
  GDN_RETURN_IF_ERROR(Check(functions_.preference_create(&preference), "a preference"));
  Status status;
  const auto set = [&](cublasLtMatmulPreferenceAttributes_t name, auto value) {
    if (status.ok()) {
      status =
          Check(functions_.preference_set(preference, name, &value, sizeof value), "a preference");
    }
  };
  set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, uint64_t{kWorkspaceBytes});
  // Parts of k are added in f32: by default those of a 16-bit product may be rounded first.
  set(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, uint32_t{CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE});
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, std::get<7>(key));
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, std::get<8>(key));
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, std::get<9>(key));
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, std::get<9>(key));
  cublasLtMatmulHeuristicResult_t found{};
  int count = 0;
  if (status.ok()) {
    status = Check(functions_.heuristic(handle_, plan.desc, plan.weight, plan.x, plan.out, plan.out,
                                        preference, 1, &found, &count),
                   "choosing an algorithm");
  }
  (void)functions_.preference_destroy(preference);
  if (status.ok() && count == 0) status = Unsupported("cuBLASLt has no algorithm for a product");
  if (status.ok()) status = Check(found.state, "choosing an algorithm");
  plan.algorithm = found.algo;
  return status;
}

void CublasLt::Destroy(const Plan& plan) const {
  for (const auto layout : {plan.weight, plan.x, plan.out}) {
    if (layout != nullptr) (void)functions_.layout_destroy(layout);
  }
  if (plan.desc != nullptr) (void)functions_.desc_destroy(plan.desc);
}

Status CublasLt::Run(const Gemm& g, cudaStream_t stream) {
  const Key key(g.m, g.n, g.k, g.x_stride, g.out_stride, g.dtype, g.out_dtype,
                AlignmentOf(g.weight), AlignmentOf(g.x), AlignmentOf(g.out));
  auto at = plans_.find(key);
  if (at == plans_.end()) {
    Plan plan;
    Status status = Describe(g, plan);
    if (status.ok()) status = ChooseAlgorithm(key, plan);
    if (!status.ok()) {
      Destroy(plan);
      return status;
    }
    at = plans_.emplace(key, plan).first;
  }
  const Plan& plan = at->second;
  const float one = 1;
  const float zero = 0;
  return Check(functions_.matmul(handle_, plan.desc, &one, g.weight, plan.weight, g.x, plan.x,
                                 &zero, g.out, plan.out, g.out, plan.out, &plan.algorithm,
                                 workspace_, kWorkspaceBytes, stream),
               "a product");
}

}  // namespace gdn::gpu
