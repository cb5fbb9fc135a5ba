// SPDX-License-Identifier: Apache-2.0
// What gdn run prints when it is done.
#pragma once

#include "session/session.h"

namespace gdn {

// One JSON object, to stdout.
void PrintJson(const Session& session, const Completion& c, const char* device);
// Tokens a second and memory, to stderr.
void PrintTable(const Session& session, const Completion& c);
// The kernel that ran each operator, to stderr.
void PrintKernels(const Session& session);

}  // namespace gdn
