// SPDX-License-Identifier: Apache-2.0
// Facts of this machine and this process.
#pragma once

#include <cstddef>

namespace gdn {

// Cores that this process may run on, >= 1.
int NumCores();

// Memory that can be taken without swapping, in bytes; 0 where the system does not say.
size_t AvailableMemoryBytes();
size_t TotalMemoryBytes();

// The most memory that this process has held at once, in bytes; 0 where the system does not say.
size_t PeakMemoryBytes();

}  // namespace gdn
