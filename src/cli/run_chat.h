// SPDX-License-Identifier: Apache-2.0
// gdn run --chat: messages in, replies out.
#pragma once

#include "base/status.h"
#include "cli/run_options.h"
#include "session/session.h"

namespace gdn {

// Where the conversation waits for a reply, that one; else a reply to each line of stdin.
// exit_code changes where the user ended a single reply.
Status RunChat(const RunOptions& options, ChatRequest conversation, Session& session,
               int& exit_code);

}  // namespace gdn
