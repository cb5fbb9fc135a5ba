// SPDX-License-Identifier: Apache-2.0
// Members of a request that would change the answer, and that this server cannot honour.
#pragma once

#include "server/field_reader.h"

namespace gdn {

// Fails for the first member that is there with a value that asks for anything.
void RefuseUnsupported(FieldReader& fields);

}  // namespace gdn
