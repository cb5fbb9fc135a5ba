// SPDX-License-Identifier: Apache-2.0
// f32 functions to the nearest f32 (through f64), for scalar references and for per-head scalars of
// kernels, whose bits then agree.
#pragma once

#include <cmath>

namespace gdn {

inline float ExpF32(float x) { return static_cast<float>(std::exp(static_cast<double>(x))); }
inline float SigmoidF32(float x) { return 1.0F / (1.0F + ExpF32(-x)); }
inline float SiluF32(float x) { return x / (1.0F + ExpF32(-x)); }

}  // namespace gdn
