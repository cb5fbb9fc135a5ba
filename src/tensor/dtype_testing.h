// SPDX-License-Identifier: Apache-2.0
// How GoogleTest prints a dtype.
#pragma once

#include <ostream>

#include "tensor/dtype.h"

namespace gdn {

inline void PrintTo(DType dtype, std::ostream* out) { *out << Name(dtype); }

}  // namespace gdn
