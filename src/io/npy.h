// SPDX-License-Identifier: Apache-2.0
// Arrays in NumPy's .npy files, from files that nobody vouches for.
// Format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "tensor/storage.h"

namespace gdn {

// Contiguous and row-major. '<f4', '<f2', '<i4' as they are; '<u2' as bf16, for which NumPy has no
// type; '<i8' and '|b1' as i32. Versions 1.0 to 3.0.
// Errors: kInvalidArgument, naming the file: not such an array, another element type or order, more
// than 5 dimensions, a size that is not the shape's, an int64 outside int32; kOutOfMemory.
Result<OwnedTensor> ParseNpy(std::string_view bytes, const std::string& file_name);

// The same of a file of at most 1 GiB. kNotFound where there is none.
Result<OwnedTensor> ReadNpy(const std::string& path);

}  // namespace gdn
