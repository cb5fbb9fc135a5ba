// SPDX-License-Identifier: Apache-2.0
// Whole small files.
#pragma once

#include <cstddef>
#include <string>

#include "base/status.h"

namespace gdn {

// Errors: kNotFound (no such file), kInvalidArgument (not a regular file, no permission, more
// than max_bytes), each naming the path.
Result<std::string> ReadFile(const std::string& path, size_t max_bytes);

}  // namespace gdn
