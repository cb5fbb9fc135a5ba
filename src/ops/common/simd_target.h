// SPDX-License-Identifier: Apache-2.0
// The vector target that Highway dispatches to, and kernel ids that name it.
#pragma once

namespace gdn {

// "avx3", "avx2", "sse4", "neon", ...: chosen from the CPU, once.
const char* SimdTarget();

// "<stem>__<target>", for instance KernelId("rms_norm_bf16"). The string lives as long as the
// process; the same stem gives the same pointer. stem must be a literal. Takes a lock: keep the
// result in a function-local static.
const char* KernelId(const char* stem);

}  // namespace gdn
