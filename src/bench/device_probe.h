// SPDX-License-Identifier: Apache-2.0
// How fast a device moves its memory.
#pragma once

#include "backend/backend.h"
#include "base/status.h"

namespace gdn {

// 1e9 bytes a second, read and written, of copies of 128 MiB within the device's memory: the best
// of three samples, what hands over the work included.
Result<double> MeasureCopyGbytes(Backend& backend);

}  // namespace gdn
