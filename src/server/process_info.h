// SPDX-License-Identifier: Apache-2.0
// Facts of this process that show a leak.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gdn {

// 0 where the system does not say.
int64_t OpenFileDescriptors();
size_t ResidentMemoryBytes();

}  // namespace gdn
