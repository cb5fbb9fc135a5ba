// SPDX-License-Identifier: Apache-2.0
// The matrix instructions of whatever compiles a kernel. They define what there is:
//   GDN_GPU_MMA_SYNC   MmaBf16, MmaF16: c (16 x 8) += a (16 x 16) b^T, registers as PTX has them
//   GDN_GPU_TF32       MmaTf32: the same with 8 deep, of f32 whose low 13 bits it drops
//   GDN_GPU_MFMA       MfmaBf16, MfmaF16: c (16 x 16) += a (16 x 16) b^T, warps of 64
//   GDN_GPU_WMMA       WmmaBf16, WmmaF16: the same with warps of 32
// Nobody else names them but ops/common/gpu_tile.h.
#pragma once

#if defined(__CUDACC__)
#include "backend/gpu/cuda/mma.h"
#elif defined(__HIPCC__)
#include "backend/gpu/hip/mma.h"
#else
#include "backend/gpu/emu/mma.h"
#endif
