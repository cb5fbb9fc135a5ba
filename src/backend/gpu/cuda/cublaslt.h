// SPDX-License-Identifier: Apache-2.0
// NVIDIA's cuBLASLt, loaded at run time: the program neither links it nor needs it.
#pragma once

#include <cublasLt.h>

#include <cstdint>
#include <map>
#include <tuple>

#include "backend/gpu/gemm.h"
#include "base/status.h"

namespace gdn::gpu {

// Of one device: the one that is current when Open and Run are called.
class CublasLt {
 public:
  CublasLt() = default;
  CublasLt(const CublasLt&) = delete;
  CublasLt& operator=(const CublasLt&) = delete;
  ~CublasLt();

  // Errors: kUnsupported where there is no library of this build's version, or it finds no device;
  // kOutOfMemory for its workspace.
  Status Open();
  // Puts the product into the stream. Errors: kUnsupported for a product that it cannot compute.
  Status Run(const Gemm& gemm, cudaStream_t stream);

 private:
  // The library's functions, by their types in its header.
  struct Functions {
    decltype(&cublasLtCreate) create;
    decltype(&cublasLtDestroy) destroy;
    decltype(&cublasLtGetStatusString) status_string;
    decltype(&cublasLtMatmulDescCreate) desc_create;
    decltype(&cublasLtMatmulDescDestroy) desc_destroy;
    decltype(&cublasLtMatmulDescSetAttribute) desc_set;
    decltype(&cublasLtMatrixLayoutCreate) layout_create;
    decltype(&cublasLtMatrixLayoutDestroy) layout_destroy;
    decltype(&cublasLtMatmulPreferenceCreate) preference_create;
    decltype(&cublasLtMatmulPreferenceDestroy) preference_destroy;
    decltype(&cublasLtMatmulPreferenceSetAttribute) preference_set;
    decltype(&cublasLtMatmulAlgoGetHeuristic) heuristic;
    decltype(&cublasLtMatmul) matmul;
  };
  // How products of one shape are computed.
  struct Plan {
    cublasLtMatmulDesc_t desc = nullptr;
    cublasLtMatrixLayout_t weight = nullptr;
    cublasLtMatrixLayout_t x = nullptr;
    cublasLtMatrixLayout_t out = nullptr;
    cublasLtMatmulAlgo_t algorithm{};
  };
  // m, n, k, the strides, the dtypes, and what the three addresses are multiples of.
  using Key = std::tuple<int64_t, int64_t, int64_t, int64_t, int64_t, DType, DType, uint32_t,
                         uint32_t, uint32_t>;

  Status LoadFunctions();
  Status Check(cublasStatus_t status, const char* doing) const;
  Status Describe(const Gemm& gemm, Plan& plan) const;
  Status ChooseAlgorithm(const Key& key, Plan& plan) const;
  void Destroy(const Plan& plan) const;

  void* library_ = nullptr;
  Functions functions_{};
  cublasLtHandle_t handle_ = nullptr;
  void* workspace_ = nullptr;
  std::map<Key, Plan> plans_;
};

}  // namespace gdn::gpu
