// SPDX-License-Identifier: Apache-2.0
// How much shared memory pieces take, for launches and kernels alike.
#pragma once

#include <cstdint>

namespace gdn::gpu {

// Of count elements, as SharedMemory::Take gives them.
template <class T>
constexpr uint32_t SharedBytes(uint32_t count) {
  return (count * static_cast<uint32_t>(sizeof(T)) + 15) / 16 * 16;
}

}  // namespace gdn::gpu
