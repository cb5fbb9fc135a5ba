// SPDX-License-Identifier: Apache-2.0
// What gdn run prints.
#pragma once

#include <vector>

#include "session/session.h"

namespace gdn {

// One JSON object, to stdout. Of several completions, each has an entry of its list.
void PrintJson(const Session& session, const std::vector<int32_t>& prompt_tokens,
               const std::vector<Completion>& completions, const char* device);
// To stdout, one after the other; one alone has been printed already, but for the end of its line.
void PrintTexts(const std::vector<Completion>& completions);
// Tokens a second and memory, to stderr.
void PrintTable(const Session& session, size_t num_prompt_tokens,
                const std::vector<Completion>& completions);
// The kernel that ran each operator, to stderr.
void PrintKernels(const Session& session);

}  // namespace gdn
